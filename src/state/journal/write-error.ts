import { diskFullForOwners, WritesUnavailableError } from '../../bot/errors.ts';
import { codeOf, messageOf } from '../../system-error.ts';

/** Returns the error for a write to `folder` that failed with a system error. */
export function writeError(error: unknown, folder: string): WritesUnavailableError {
  const isFull = ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '');
  return new WritesUnavailableError(writeMessage(error, folder), {
    cause: error,
    ...(isFull && { forOwners: diskFullForOwners }),
  });
}

/** Returns why `folder` could not be written to, a colon, and what the operator can do. */
function writeMessage(error: unknown, folder: string): string {
  switch (codeOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return `the disk is full: free space in ${folder}`;
    case 'EFBIG':
      return `files may not grow any more in ${folder}: raise the file size limit (ulimit -f)`;
    case 'EROFS':
      return `${folder} is on a read-only disk: mount it writable, or set BOTSHELF_VAR to a folder elsewhere`;
    case 'EACCES':
    case 'EPERM':
      return `the service may not write to ${folder}: allow its user to, or set BOTSHELF_VAR to another folder`;
    case 'ENOTDIR':
      return `${folder} is not a folder: move away what is there`;
    case 'EMFILE':
    case 'ENFILE':
      return 'too many files are open: raise the limit (ulimit -n)';
    case 'EIO':
      return `the disk of ${folder} reports errors: check it, and restore from a replica if it is broken`;
    default:
      return `${folder} cannot be written to (${messageOf(error)}): check the disk`;
  }
}
