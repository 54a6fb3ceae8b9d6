import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Which build of the program this is. */
export interface Version {
  /** The version of the package, such as `1.4.0`. */
  readonly version: string;
  /** The first 12 digits of the commit; null if neither the package nor a clone around it has one. */
  readonly commit: string | null;
}

/** Reads the version of this program. Never fails without a commit. */
export function readVersion(): Version {
  const file = fileURLToPath(import.meta.resolve('#package'));
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return { version, commit: readCommit(dirname(file))?.slice(0, 12) ?? null };
}

/** Returns a text such as `botshelf 1.4.0 (0123456789ab)`. */
export function formatVersion({ version, commit }: Version): string {
  return `botshelf ${version}${commit === null ? '' : ` (${commit})`}`;
}

/**
 * Returns the commit of the package in a folder: in a clone the checked-out one, else the one that it was packed from;
 * null for neither. Reads Git's files itself, because git refuses a clone of another user: the code belongs to root,
 * and the service does not run as root.
 */
export function readCommit(folder: string): string | null {
  const read = (name: string): string => {
    try {
      return readFileSync(join(folder, name), 'utf8').trim();
    } catch {
      return '';
    }
  };
  const head = read('.git/HEAD') || read('dist/commit');
  const ref = /^ref: (refs\/.+)$/.exec(head)?.[1];
  const id = ref === undefined ? head : read(`.git/${ref}`) || findPackedId(read('.git/packed-refs'), ref);
  return /^[\da-f]{40,64}$/.test(id) ? id : null;
}

function findPackedId(packedRefs: string, ref: string): string {
  const line = packedRefs.split('\n').find((entry) => entry.endsWith(` ${ref}`));
  return line?.split(' ')[0] ?? '';
}
