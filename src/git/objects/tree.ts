import type { HashName } from './object-id.ts';

/** An entry of a Git tree: a file or folder. */
export interface TreeEntry {
  /** Octal, as Git writes it: 100644, 100755, 120000 (symbolic link), 40000 or 040000 (folder), 160000 (submodule). */
  readonly mode: string;
  readonly id: string;
}

/** Returns the entries of a tree object that have one of these names, by name. */
export function findEntries(tree: Buffer, names: Iterable<string>, hash: HashName): Map<string, TreeEntry> {
  const wanted = new Set(names);
  const found = new Map<string, TreeEntry>();
  walk(tree, hash, (name, mode, idAt) => {
    if (wanted.has(name))
      found.set(name, { mode: mode(), id: tree.toString('hex', idAt, idAt + idLengthOf(hash)) });
    return found.size < wanted.size;
  });
  return found;
}

export const symbolicLink = '120000';

/** The mode of a submodule, which is an empty folder until it is fetched. */
export const submodule = '160000';

/** Returns what an entry with this mode is. */
export function toKind(mode: string): 'file' | 'folder' | 'symlink' | 'submodule' {
  if (/^0?40000$/.test(mode)) return 'folder';
  return mode === symbolicLink ? 'symlink' : mode === submodule ? 'submodule' : 'file';
}

/** Returns all entries of a tree object, by name. */
export function parseTree(tree: Buffer, hash: HashName): Map<string, TreeEntry> {
  const entries = new Map<string, TreeEntry>();
  walk(tree, hash, (name, mode, idAt) => {
    entries.set(name, { mode: mode(), id: tree.toString('hex', idAt, idAt + idLengthOf(hash)) });
    return true;
  });
  return entries;
}

/** Visits the entries as they are stored while `visit` returns true. A mode is decoded only when it is called for. */
function walk(
  tree: Buffer,
  hash: HashName,
  visit: (name: string, mode: () => string, idAt: number) => boolean,
): void {
  for (let offset = 0, isWanted = true; isWanted && offset < tree.length;) {
    const start = offset;
    const space = tree.indexOf(32, start);
    const zero = tree.indexOf(0, space);
    const name = tree.toString('utf8', space + 1, zero);
    isWanted = visit(name, () => tree.toString('latin1', start, space), zero + 1);
    offset = zero + 1 + idLengthOf(hash);
  }
}

function idLengthOf(hash: HashName): number {
  return hash === 'sha1' ? 20 : 32;
}
