import type { Problem as ProblemDocument } from '../bot/schema-types.ts';

/** One error of a request: where it is, and what to do about it. */
export interface ProblemDetail {
  /** A JSON pointer into the body as a URI fragment (`#/bot/count`), or a query parameter (`?limit`). */
  readonly pointer: string;
  readonly detail: string;
}

/** Every kind of problem, with its status and title. The names are part of the API. */
export const problemKinds = {
  'bad-query': [400, 'A query parameter is invalid'],
  'bad-json': [400, 'The body is not JSON'],
  'no-token': [401, 'A token is needed'],
  'bad-token': [401, 'The token is not valid'],
  'bad-signature': [401, 'The signature is not valid'],
  'other-token': [403, 'The token is for another bot'],
  'cross-site': [403, 'The request comes from another site'],
  'other-repository': [403, 'The event is of another repository'],
  'read-only': [403, 'Nothing can be sent here'],
  'not-found': [404, 'Not found'],
  'unknown-bot': [404, 'There is no such bot'],
  'removed-bot': [410, 'The bot was removed'],
  'unknown-cursor': [410, 'The cursor is not in the history'],
  'method-not-allowed': [405, 'The method is not allowed here'],
  'not-acceptable': [406, 'There is no such representation'],
  'edit-conflict': [409, 'A maintainer is editing the bot'],
  'precondition-failed': [412, 'The bot has changed'],
  'too-large': [413, 'The body is too large'],
  'unsupported-type': [415, 'The body is of the wrong type'],
  'invalid-update': [422, 'The update is invalid'],
  'too-many-requests': [429, 'Too many requests'],
  'bad-request': [400, 'The request is malformed'],
  unexpected: [500, 'Internal error'],
  'writes-unavailable': [503, 'Writes are not possible now'],
  busy: [503, 'The service is busy'],
  starting: [503, 'The service is starting'],
} as const satisfies Readonly<Record<string, readonly [number, string]>>;

export type ProblemKind = keyof typeof problemKinds;

/** An error with a problem document: thrown by any handler, turned into a response in one place. */
export class ProblemError extends Error {
  readonly kind: ProblemKind;
  readonly errors: readonly ProblemDetail[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    kind: ProblemKind,
    detail: string,
    more: { errors?: readonly ProblemDetail[]; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail);
    this.name = 'ProblemError';
    this.kind = kind;
    this.errors = more.errors ?? [];
    this.headers = more.headers ?? {};
  }

  /** Makes a problem from its errors. Names only the first, as the client decides how many there are. */
  static ofErrors(kind: ProblemKind, errors: readonly ProblemDetail[]): ProblemError {
    const named = errors.slice(0, maxErrors);
    const sentences = named.map(({ pointer, detail }) => `${pointer.replace(/^\?/, '') || '""'}: ${detail}`);
    return new ProblemError(kind, joinSentences(sentences, errors.length), { errors: named });
  }

  /** Makes a problem from several sentences. */
  static ofSentences(kind: ProblemKind, sentences: readonly string[]): ProblemError {
    return new ProblemError(kind, joinSentences(sentences.slice(0, maxErrors), sentences.length));
  }

  get status(): number {
    return problemKinds[this.kind][0];
  }

  /** Returns the RFC 9457 document. */
  toJSON(): ProblemDocument {
    const [status, title] = problemKinds[this.kind];
    return {
      type: `urn:botshelf:problem:${this.kind}`,
      title,
      status,
      detail: this.message,
      ...(this.errors.length > 0 && { errors: [...this.errors] }),
    };
  }
}

/** Errors that a document names. */
const maxErrors = 20;

function joinSentences(sentences: readonly string[], total: number): string {
  const more = total - sentences.length;
  return [...sentences, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}
