import { runCommandLineGit } from './process/command-line-git.ts';
import type { Repository } from './repository.ts';

/** What lies in a folder of a commit. */
export interface ListedEntry {
  /** As Git writes it: `100644` a file, `040000` a folder, `120000` a symbolic link, `160000` a submodule. */
  readonly mode: string;
  readonly id: string;
  /** Bytes; 0 for what is no file, and where no sizes were asked for. */
  readonly size: number;
  /** Relative to the folder asked about. */
  readonly path: string;
}

/** What lies in `folders` of a commit, in Git's order; each is relative to `root` and none of a stranger's choice. */
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

/** All files of a commit or a tree, in Git's order. @throws {GitError} */
export async function listFiles(repository: Repository, commit: string): Promise<ListedEntry[]> {
  return parseListing(await repository.run(['ls-tree', '-r', '-z', commit]));
}

/** Parses what `git ls-tree -z` prints, with sizes or without. */
function parseListing(output: string): ListedEntry[] {
  const lines = output.split('\0').slice(0, -1);
  return lines.map((line) => {
    const tab = line.indexOf('\t');
    const [mode = '', , id = '', size = ''] = line.slice(0, tab).split(/ +/);
    return { mode, id, size: Number(size) || 0, path: line.slice(tab + 1) };
  });
}
