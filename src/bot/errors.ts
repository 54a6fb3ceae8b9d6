import { BotshelfError, codeOf, errorCodes, messageOf } from '../lib/errors.ts';
import type { BotId } from './id.ts';

/**
 * Whether an error means that nothing can be written now, while reads go on. Nothing of the request is saved, except
 * the keys of an update with count-not-saved, and it can be sent again later. The message has the reason and the
 * operator's fix. Comments call every code of this kind *unavailable*.
 */
export function isUnavailable(error: unknown): error is BotshelfError {
  return error instanceof BotshelfError && errorCodes[error.code].problem === 'writes-unavailable';
}

/** The message while the service stops: a request that waited too long for something is refused by what has closed. */
export const stopping = 'the service is stopping: send the request again in a moment';

/** @param owner what has a folder on the disk */
export function createDiskFullError(cause: unknown, owner = repository): BotshelfError {
  const message = `the disk is full: free space on the disk of ${owner}, writes resume by themselves`;
  return new BotshelfError('disk-full', message, { cause });
}

/**
 * Returns the error for a write that failed with a system error: the reason, a colon, and the operator's fix.
 * @param folder one in `var/`; left out for the repository
 */
export function toWriteError(error: unknown, folder?: string): BotshelfError {
  const code = codeOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? createDiskFullError(error, folder && 'BOTSHELF_VAR')
    : new BotshelfError('write-failed', describeDiskError(error, folder), { cause: error });
}

/** Returns the error for a bot that does not exist, or was removed. */
export function createUnknownBotError(id: BotId): BotshelfError {
  return new BotshelfError('unknown-bot', `there is no bot ${id}`, { id });
}

function describeDiskError(error: unknown, folder: string | undefined): string {
  const place = folder ?? repository;
  const elsewhere = folder === undefined ? '' : ', or set BOTSHELF_VAR to another folder';
  // Without the call and its path, because each try may have another file.
  const said = messageOf(error).replace(/, \w+ '.*/s, '');
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
