/** Returns the code of a system error, such as ENOENT; undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
  const isSystemError = error instanceof Error && !(error instanceof BotshelfError);
  return isSystemError && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Returns the result of `work`; undefined if a file or folder does not exist. @throws any other error */
export async function ignoreMissing<T>(work: Promise<T>): Promise<T | undefined> {
  return await work.catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
}

/** Returns the message of an error; of any other value, its JSON. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : JSON.stringify(error);
}

/** A failure that has a code. Decide by the code, never by the message, which is a sentence for a person. */
export class BotshelfError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, { cause, ...details }: ErrorDetails & ErrorOptions = {}) {
    super(message, cause === undefined ? {} : { cause });
    this.name = 'BotshelfError';
    this.code = code;
    this.details = details;
  }

  /** Whether the message says all: then neither the log nor a command shows a stack trace. */
  get isExplained(): boolean {
    return errorCodes[this.code].fixer !== 'developer';
  }
}

/** The data of an error, in addition to its cause. */
export interface ErrorDetails {
  /** Of unknown-bot: the unknown ID. */
  readonly id?: string;
  /** Of precondition-failed: the digest of the current version, if there is one. */
  readonly digest?: string | undefined;
}

/** Whether an error has one of these codes. */
export function isError(error: unknown, ...codes: readonly ErrorCode[]): error is BotshelfError {
  return error instanceof BotshelfError && codes.includes(error.code);
}

/**
 * An error that the person at the command line can fix: wrong use, or a problem of the environment. The message is one
 * sentence with the fix; the command ends with exit code 2 and no stack trace.
 */
export class UserError extends BotshelfError {
  constructor(message: string, options?: ErrorOptions, code: 'usage' | 'already-running' = 'usage') {
    super(code, message, options);
    this.name = 'UserError';
  }
}

interface ErrorRule {
  /** The kind of problem that API callers receive, with its status; a plain 500 by default. */
  readonly problem?:
    | 'busy'
    | 'edit-conflict'
    | 'not-found'
    | 'precondition-failed'
    | 'starting'
    | 'too-many-requests'
    | 'unknown-bot'
    | 'unknown-cursor'
    | 'writes-unavailable';
  /** Seconds after which the same request may succeed. */
  readonly retryAfter?: number;
  /** Returns the text for API callers; left out for the message. `base` is the path of the public address. */
  readonly detail?: (message: string, base: string) => string;
  /** The one who can prevent the error: the operator, with Git, disk and network; the caller; else a developer. */
  readonly fixer: 'operator' | 'caller' | 'developer';
}

const unavailable = { problem: 'writes-unavailable', retryAfter: 30, fixer: 'operator' } as const;
const noRepository = {
  ...unavailable,
  detail: () =>
    'changes cannot be saved: the catalogue is in no Git repository that the service can write to',
};

const failedWrite = {
  ...unavailable,
  detail: () => 'changes cannot be saved now: try again later. The reason is in the log of the service',
} as const;

const rules = {
  /** Nothing can be written now, and nothing of the request is saved; reads go on. The message never names a folder. */
  unavailable,
  /** The keys of an update are saved, its count is not. */
  'count-not-saved': unavailable,
  /** As unavailable, because another process holds Git's index.lock. */
  locked: { ...unavailable, retryAfter: 5 },
  overloaded: { ...unavailable, retryAfter: 10 },
  'faulty-page': { ...unavailable, retryAfter: 3600 },
  'unusable-page': {
    ...unavailable,
    detail: () =>
      "the bot's page cannot be changed now: a maintainer has to fix it, the log of the service says why",
  },
  'disk-full': {
    ...unavailable,
    detail: () => 'the disk is full: try again later, changes can be saved once there is room',
  },
  /** The catalogue is in no Git repository that commits can be made in. */
  'no-repository': noRepository,
  'no-git': noRepository,
  /** The repository belongs to another user than the one that runs this process. */
  'wrong-user': noRepository,
  'write-failed': failedWrite,
  /** The counts and tokens in Git are larger than the limits. */
  'state-refused': failedWrite,
  /** A person is editing the file in the clone of the service. Their uncommitted edits are never touched. */
  'edit-conflict': { problem: 'edit-conflict', retryAfter: 60, fixer: 'operator' },
  /** The bot was changed since the caller read it. */
  'precondition-failed': { problem: 'precondition-failed', fixer: 'caller' },
  /** Too much work of the same kind is waiting: for all clients together, or for this one. */
  'queue-full': { problem: 'busy', retryAfter: 2, fixer: 'caller' },
  'share-full': { problem: 'too-many-requests', retryAfter: 2, fixer: 'caller' },
  /** The bot does not exist, or was removed. */
  'unknown-bot': {
    problem: 'unknown-bot',
    detail: (message, base) => `${message}: GET ${base}/api/v2/bots lists all bots`,
    fixer: 'caller',
  },
  /** A text that should be the ID of a bot is not one. */
  'malformed-id': {
    problem: 'unknown-bot',
    detail: (message, base) => `${message}, or search with ${base}/api/v2/bots?q=WORDS`,
    fixer: 'caller',
  },
  /** No account of that ID has a profile or a listed bot. */
  'unknown-author': { problem: 'not-found', fixer: 'caller' },
  /** The history is still being read. */
  'unread-history': { problem: 'starting', retryAfter: 60, fixer: 'caller' },
  /** The history of the branch does not have the commit of a cursor: it was rewritten, or never had it. */
  'unknown-cursor': {
    problem: 'unknown-cursor',
    detail: (message, base) =>
      `${message}: read ${base}/api/v2/export.ndjson again, and go on from its X-Cursor`,
    fixer: 'caller',
  },
  /** An image could not be fetched. */
  'image-failed': {
    problem: 'busy',
    retryAfter: 60,
    detail: (message) => `the image ${message}: try again later`,
    fixer: 'caller',
  },
  'invalid-value': { fixer: 'caller' },
  /** A proposal was not sent, withdrawn or decided. Nothing has changed. */
  'proposal-refused': { fixer: 'caller' },
  usage: { fixer: 'operator' },
  /** Another service runs on this clone. */
  'already-running': { fixer: 'operator' },
  /** A git command failed or was killed. */
  'git-failed': { fixer: 'operator' },
  /** Another service, such as the Git host, refused a request, or the request was ended. */
  'request-failed': { fixer: 'operator' },
  /** A ref is at another commit than the caller planned on. */
  'ref-conflict': { fixer: 'developer' },
  /** Git failed, and the ref cannot be read: the change may or may not be saved. */
  'unknown-outcome': { fixer: 'developer' },
  /** The object of a known ID is missing. */
  'missing-object': { fixer: 'developer' },
  /** A folder above a path is a symbolic link. */
  'linked-folder': { fixer: 'developer' },
  'diff-too-large': { fixer: 'developer' },
  'list-too-long': { fixer: 'developer' },
  'html-too-large': { fixer: 'developer' },
} satisfies Readonly<Record<string, ErrorRule>>;

export type ErrorCode = keyof typeof rules;

/** Every code. Adding one is all that a new kind of failure needs. */
export const errorCodes: Readonly<Record<ErrorCode, ErrorRule>> = rules;
