import { diskFullForOwners, WritesUnavailableError } from '../../bot/errors.ts';
import { codeOf, messageOf } from '../../system-error.ts';

/** The refusal of a write that failed as `folder` could not be written to. */
export function diskRefusal(error: unknown, folder: string): WritesUnavailableError {
  const isFull = ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '');
  return new WritesUnavailableError(diskFault(error, folder), {
    cause: error,
    ...(isFull && { forOwners: diskFullForOwners }),
  });
}

/** Why `folder` could not be written to, a colon, and what the operator can do. */
function diskFault(error: unknown, folder: string): string {
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
      return `${folder} may not be written to: give this user the right to, or set BOTSHELF_VAR to another folder`;
    case 'ENOTDIR':
      return `${folder} is no folder: move away what stands there`;
    case 'EMFILE':
    case 'ENFILE':
      return `too many files are open: raise the limit (ulimit -n)`;
    case 'EIO':
      return `the disk of ${folder} reports errors: look at it, and restore from a replica if it is broken`;
    default:
      return `${folder} cannot be written to (${messageOf(error)}): see to the disk`;
  }
}
