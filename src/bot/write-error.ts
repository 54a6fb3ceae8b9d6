import { diskFullForOwners, WritesUnavailableError } from './errors.ts';
import { codeOf, messageOf } from '../lib/errors.ts';

/**
 * Returns the error for a write that failed with a system error: why, a colon, and what the operator can do.
 * @param place what could not be written to: a folder, or words such as "the repository"
 * @param setting the setting that moves it to another folder, if there is one
 */
export function writeError(error: unknown, place: string, setting?: string): WritesUnavailableError {
  const elsewhere = setting === undefined ? '' : `, or set ${setting} to another folder`;
  switch (codeOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return createDiskFullError(error, place);
    case 'EFBIG':
      return unavailable(`files may not grow any more in ${place}: raise the file size limit (ulimit -f)`);
    case 'EROFS':
      return unavailable(
        `${place} is on a read-only file system (${messageOf(error)}): mount it writable${elsewhere}`,
      );
    case 'EACCES':
    case 'EPERM':
      return unavailable(
        `${place} cannot be written to (${messageOf(error)}): give the service write permission${elsewhere}`,
      );
    case 'ENOTDIR':
      return unavailable(`${place} is not a folder: move away what is there`);
    case 'EMFILE':
    case 'ENFILE':
      return unavailable('too many files are open: raise the limit (ulimit -n)');
    case 'EIO':
      return unavailable(
        `the disk of ${place} reports errors: check it, and restore from a replica if it is broken`,
      );
    default:
      return unavailable(`${place} cannot be written to (${messageOf(error)}): check the disk`);
  }

  function unavailable(message: string): WritesUnavailableError {
    return new WritesUnavailableError(message, { cause: error });
  }
}

/** Returns the error for a write that failed as there is no room. */
export function createDiskFullError(cause: unknown, place: string): WritesUnavailableError {
  const message = `the disk is full: free space in ${place}, writes resume by themselves`;
  return new WritesUnavailableError(message, { cause, forOwners: diskFullForOwners });
}
