import type { HashName } from './object-id.ts';

/** An entry of a Git tree: a file or folder. */
export interface TreeEntry {
  /** Octal, as Git writes it: 100644, 100755, 120000 (symbolic link), 40000 or 040000 (folder), 160000 (submodule). */
  readonly mode: string;
  readonly id: string;
}

export const symbolicLink = '120000';

/** The mode of a submodule, which is an empty folder until it is fetched. */
export const submodule = '160000';

/** Returns what an entry with this mode is. */
export function toKind(mode: string): 'file' | 'folder' | 'symlink' | 'submodule' {
  if (/^0?40000$/.test(mode)) return 'folder';
  return mode === symbolicLink ? 'symlink' : mode === submodule ? 'submodule' : 'file';
}

/**
 * Returns the entries of a tree object, by name.
 * @param wanted the names of those that are returned; all by default
 */
export function parseTree(
  tree: Buffer,
  hash: HashName,
  wanted?: ReadonlySet<string>,
): Map<string, TreeEntry> {
  const idLength = hash === 'sha1' ? 20 : 32;
  const entries = new Map<string, TreeEntry>();
  for (let start = 0; start < tree.length && entries.size !== wanted?.size;) {
    const space = tree.indexOf(32, start);
    const end = tree.indexOf(0, space) + 1;
    const name = tree.toString('utf8', space + 1, end - 1);
    if (!wanted || wanted.has(name)) {
      const mode = tree.toString('latin1', start, space);
      entries.set(name, { mode, id: tree.toString('hex', end, end + idLength) });
    }
    start = end + idLength;
  }
  return entries;
}
