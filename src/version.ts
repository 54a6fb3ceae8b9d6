import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Which build of the program this is. */
export interface Version {
  /** The version of the package, such as `1.4.0`. */
  readonly version: string;
  /** The first 12 digits of the commit; null where the program is not in a clone of its repository. */
  readonly commit: string | null;
}

/** Reads the version of this program. Never fails for lack of a commit. */
export function readVersion(): Version {
  const file = fileURLToPath(import.meta.resolve('#package'));
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return { version, commit: readCommit(join(dirname(file), '.git')) };
}

/** Returns a text such as `botshelf 1.4.0 (0123456789ab)`. */
export function nameOfVersion({ version, commit }: Version): string {
  return `botshelf ${version}${commit === null ? '' : ` (${commit})`}`;
}

/**
 * Returns the commit that is checked out; null where there is none. Reads Git's files itself, as git refuses a clone of
 * another user: the code belongs to root and the service does not run as root.
 */
export function readCommit(gitDir: string): string | null {
  try {
    if (!statSync(gitDir).isDirectory()) return null;
    const read = (name: string): string => readFileSync(join(gitDir, name), 'utf8');
    const head = read('HEAD').trim();
    const ref = /^ref: (refs\/.+)$/.exec(head)?.[1];
    const id = ref === undefined ? head : (looseRef(read, ref) ?? packedRef(read, ref));
    return /^[\da-f]{40,64}$/.test(id) ? id.slice(0, 12) : null;
  } catch {
    return null;
  }
}

function looseRef(read: (name: string) => string, ref: string): string | undefined {
  try {
    return read(ref).trim();
  } catch {
    return undefined;
  }
}

function packedRef(read: (name: string) => string, ref: string): string {
  const line = read('packed-refs')
    .split('\n')
    .find((entry) => entry.endsWith(` ${ref}`));
  return line?.split(' ')[0] ?? '';
}
