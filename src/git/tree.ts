import type { HashName } from './object-id.ts';

/** An entry of a Git tree: what a name in a folder stands for. */
export interface TreeEntry {
  /** Octal, as Git writes it: 100644, 100755, 120000 (symbolic link), 40000 (folder), 160000 (submodule). */
  readonly mode: string;
  readonly id: string;
}

/** The entry of a tree object by its name; looked for in the stored form, as few of its names are asked for. */
export function entryOf(tree: Buffer, name: string, hash: HashName): TreeEntry | undefined {
  const found = find(tree, name, hash);
  return found && { mode: found.mode, id: tree.toString('hex', found.idAt, found.idAt + widthOf(hash)) };
}

/** The mode of a symbolic link. */
export const symbolicLink = '120000';

/** All entries of a tree object, by name. */
export function parseTree(tree: Buffer, hash: HashName): Map<string, TreeEntry> {
  const entries = new Map<string, TreeEntry>();
  for (let offset = 0; offset < tree.length;) {
    const space = tree.indexOf(32, offset);
    const zero = tree.indexOf(0, space);
    const mode = tree.toString('latin1', offset, space);
    offset = zero + 1 + widthOf(hash);
    entries.set(tree.toString('utf8', space + 1, zero), { mode, id: tree.toString('hex', zero + 1, offset) });
  }
  return entries;
}

/** The tree object with other ids at these names; a name that it does not have is left out. */
export function withIds(tree: Buffer, ids: ReadonlyMap<string, string>, hash: HashName): Buffer {
  const changed = Buffer.from(tree);
  for (const [name, id] of ids) {
    const found = find(changed, name, hash);
    if (found) changed.write(id, found.idAt, 'hex');
  }
  return changed;
}

function find(
  tree: Buffer,
  name: string,
  hash: HashName,
): { readonly mode: string; readonly idAt: number } | undefined {
  const wanted = Buffer.from(name);
  for (let offset = 0; offset < tree.length;) {
    const space = tree.indexOf(32, offset);
    const zero = tree.indexOf(0, space);
    const isWanted = zero - space - 1 === wanted.length && startsWith(tree, wanted, space + 1);
    if (isWanted) return { mode: tree.toString('latin1', offset, space), idAt: zero + 1 };
    offset = zero + 1 + widthOf(hash);
  }
  return undefined;
}

/** Byte by byte: most names differ in the first, before a comparison of buffers would have begun. */
function startsWith(tree: Buffer, name: Buffer, at: number): boolean {
  for (let i = 0; i < name.length; i++) if (tree[at + i] !== name[i]) return false;
  return true;
}

function widthOf(hash: HashName): number {
  return hash === 'sha1' ? 20 : 32;
}
