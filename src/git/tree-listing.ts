import { runCommandLineGit } from './command-line-git.ts';

/** What lies in a folder of a commit. */
export interface ListedEntry {
  /** As Git writes it: `100644` a file, `040000` a folder, `120000` a symbolic link, `160000` a submodule. */
  readonly mode: string;
  readonly id: string;
  /** Bytes; 0 for what is no file. */
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
  return output
    .split('\0')
    .slice(0, -1)
    .map((line) => {
      const tab = line.indexOf('\t');
      const [mode = '', , id = '', size = ''] = line.slice(0, tab).split(/ +/);
      return { mode, id, size: Number(size) || 0, path: line.slice(tab + 1) };
    });
}
