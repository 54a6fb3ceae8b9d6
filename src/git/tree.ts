/** An entry of a Git tree: what a name in a folder stands for. */
export interface TreeEntry {
  /** Octal, as Git writes it: 100644, 100755, 120000 (symbolic link), 40000 (folder), 160000 (submodule). */
  readonly mode: string;
  readonly id: string;
}

/** The entries of a tree object by name. */
export function parseTree(content: Buffer, hash: 'sha1' | 'sha256'): Map<string, TreeEntry> {
  const width = hash === 'sha1' ? 20 : 32;
  const entries = new Map<string, TreeEntry>();
  for (let offset = 0; offset < content.length;) {
    const space = content.indexOf(32, offset);
    const zero = content.indexOf(0, space);
    const mode = content.toString('latin1', offset, space);
    const name = content.toString('utf8', space + 1, zero);
    offset = zero + 1 + width;
    entries.set(name, { mode, id: content.toString('hex', zero + 1, offset) });
  }
  return entries;
}
