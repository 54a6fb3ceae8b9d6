import { parseTree, toKind, type TreeEntry } from './objects/tree.ts';
import type { Repository } from './repository.ts';

/** A file or folder of a commit. */
export interface ListedEntry extends TreeEntry {
  /** Relative to the root of the listing. */
  readonly path: string;
}

/** Lists all files of a commit or a tree, in Git's order. @throws {GitError} */
export async function listFiles(repository: Repository, commit: string): Promise<ListedEntry[]> {
  const lines = (await repository.run(['ls-tree', '-r', '-z', commit])).split('\0').slice(0, -1);
  return lines.map((line) => {
    const tab = line.indexOf('\t');
    const [mode = '', , id = ''] = line.slice(0, tab).split(' ');
    return { mode, id, path: line.slice(tab + 1) };
  });
}

/**
 * Returns what a commit has at these paths. It goes down level by level, so that git opens each folder once.
 * @param commit null for the empty history
 * @throws {GitError}
 */
export async function findTreeEntries(
  { objects, hash }: Repository,
  commit: string | null,
  paths: readonly string[],
): Promise<Map<string, TreeEntry>> {
  let folders = new Map<string, { id: string; paths: readonly string[] }>(
    commit === null ? [] : [['', { id: `${commit}^{tree}`, paths }]],
  );
  const entries = new Map<string, TreeEntry>();
  while (folders.size > 0) {
    const read = await objects.readTrees([...folders.values()].map(({ id }) => id));
    const below = new Map<string, { id: string; paths: string[] }>();
    for (const [i, [folder, inside]] of [...folders].entries()) {
      const nameIn = (path: string): string => path.slice(folder.length).split('/', 1)[0] ?? '';
      const found = parseTree(read[i] ?? Buffer.alloc(0), hash, new Set(inside.paths.map(nameIn)));
      for (const path of inside.paths) {
        const slash = path.indexOf('/', folder.length);
        const entry = found.get(nameIn(path));
        if (entry === undefined) continue;
        if (slash === -1) entries.set(path, entry);
        else if (toKind(entry.mode) === 'folder') {
          const next = path.slice(0, slash + 1);
          below.set(next, below.get(next) ?? { id: entry.id, paths: [] });
          below.get(next)?.paths.push(path);
        }
      }
    }
    folders = below;
  }
  return entries;
}
