import { codeOf, ExplainedError, messageOf } from '../lib/errors.ts';
import type { BotId } from './id.ts';

/** Why nothing can be written. Callers are told the message of the error for the first four, which never names a folder. */
export type UnavailableReason =
  | 'stated'
  | 'locked'
  | 'overloaded'
  | 'faulty-page'
  | 'unusable-page'
  | 'disk-full'
  | 'no-repository'
  | 'internal';

/**
 * Nothing can be written now, and nothing of the request is saved; reads go on. The message says why and what the
 * operator can do. The request can be retried later.
 */
export class WritesUnavailableError extends ExplainedError {
  readonly reason: UnavailableReason;

  constructor(message: string, reason: UnavailableReason = 'stated', cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.name = 'WritesUnavailableError';
    this.reason = reason;
  }
}

/** The message while the service stops: a request that waited too long for something is refused by what has closed. */
export const stopping = 'the service is stopping: send the request again in a moment';

/** The catalogue is in no Git repository that commits can be made in. */
export class NoRepositoryError extends WritesUnavailableError {
  /** @param fix what the operator can do, besides to serve another folder */
  constructor(problem: string, cause?: unknown, fix?: string) {
    const other = 'set BOTSHELF_CATALOGUE to a clone';
    super(`${problem}: ${fix === undefined ? other : `${fix}, or ${other}`}`, 'no-repository', cause);
  }
}

/** The repository belongs to another user than the one who runs this. */
export class WrongUserError extends WritesUnavailableError {
  constructor(problem: string, cause: unknown) {
    super(problem, 'no-repository', cause);
  }
}

/** There is no room on the disk. */
export class DiskFullError extends WritesUnavailableError {
  constructor(cause: unknown, place = repository) {
    super(`the disk is full: free space in ${place}, writes resume by themselves`, 'disk-full', cause);
  }
}

/**
 * Returns the error for a write that failed with a system error: why, a colon, and what the operator can do.
 * @param folder one in `var/`; left out for the repository
 */
export function toWriteError(error: unknown, folder?: string): WritesUnavailableError {
  const code = codeOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? new DiskFullError(error, folder)
    : new WritesUnavailableError(describeDiskError(error, folder), 'internal', error);
}

/** There is no such bot, or it was removed. */
export class UnknownBotError extends Error {
  readonly id: BotId;

  constructor(id: BotId) {
    super(`there is no bot ${id}`);
    this.name = 'UnknownBotError';
    this.id = id;
  }
}

/** The bot was changed since the caller read it. */
export class PreconditionFailedError extends Error {
  /** The digest of the bot's current version. */
  readonly digest: string;

  constructor(digest: string) {
    super(
      'the bot has changed since it was read: read it again, then send the update again if it still applies',
    );
    this.name = 'PreconditionFailedError';
    this.digest = digest;
  }
}

/** A person is editing the bot's file in the clone of the service. Their uncommitted edits are never touched. */
export class EditConflictError extends Error {
  /** @param path relative to the top of the repository @param state a clause such as "has uncommitted edits" */
  constructor(path: string, state: string) {
    super(
      `${path} ${state} in the service's clone: send the change again when a maintainer has committed them`,
    );
    this.name = 'EditConflictError';
  }
}

function describeDiskError(error: unknown, folder: string | undefined): string {
  const place = folder ?? repository;
  const elsewhere = folder === undefined ? '' : ', or set BOTSHELF_VAR to another folder';
  const said = messageOf(error);
  switch (codeOf(error)) {
    case 'EFBIG':
      return `files may not grow any more in ${place}: raise the file size limit (ulimit -f)`;
    case 'EROFS':
      return `${place} is on a read-only file system (${said}): mount it writable${elsewhere}`;
    case 'EACCES':
    case 'EPERM':
      return `${place} cannot be written to (${said}): give the service write permission${elsewhere}`;
    case 'ENOTDIR':
      return `${place} is not a folder: move away what is there`;
    case 'EMFILE':
    case 'ENFILE':
      return 'too many files are open: raise the limit (ulimit -n)';
    case 'EIO':
      return `the disk of ${place} reports errors: check it, and restore from a replica if it is broken`;
    default:
      return `${place} cannot be written to (${said}): check the disk`;
  }
}

const repository = 'the repository';
