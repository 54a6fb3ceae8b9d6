import type { TreeEntry } from './objects/tree.ts';
import { runCommandLineGit } from './process/command-line-git.ts';
import type { Repository } from './repository.ts';

/** A file or folder of a commit. */
export interface ListedEntry extends TreeEntry {
  /** Bytes; 0 for what is no file, and in a listing without sizes. */
  readonly size: number;
  /** Relative to the root of the listing. */
  readonly path: string;
}

/**
 * Lists what is directly in `folders` of a commit, in Git's order.
 * @param folders relative to `root`; must not be user input
 * @throws as runCommandLineGit does
 */
export async function listTrees(
  root: string,
  commit: string,
  folders: readonly string[],
): Promise<ListedEntry[]> {
  if (folders.length === 0) return [];
  const paths = folders.map((folder) => `${folder}/`);
  const output = await runCommandLineGit(root, ['ls-tree', '-z', '--long', commit, '--', ...paths]);
  return parseListing(output);
}

/** Lists all files of a commit or a tree, in Git's order. @throws {GitError} */
export async function listFiles(repository: Repository, commit: string): Promise<ListedEntry[]> {
  return parseListing(await repository.run(['ls-tree', '-r', '-z', commit]));
}

/** Parses the output of `git ls-tree -z`, with sizes or without. */
function parseListing(output: string): ListedEntry[] {
  const lines = output.split('\0').slice(0, -1);
  return lines.map((line) => {
    const tab = line.indexOf('\t');
    const [mode = '', , id = '', size = ''] = line.slice(0, tab).split(/ +/);
    return { mode, id, size: Number(size) || 0, path: line.slice(tab + 1) };
  });
}
