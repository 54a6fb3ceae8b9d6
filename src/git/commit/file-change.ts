import type { Repository } from '../repository.ts';

/** A file as a tree or the index has it. */
export interface GitFile {
  /** Octal, as Git writes it: 100644, 100755, 120000 (symbolic link), 160000 (submodule). */
  readonly mode: string;
  /** The blob, or the commit of a submodule. */
  readonly id: string;
}

/** A file and what it becomes; null where there is none. */
export interface FileChange {
  /** From the top of the repository. */
  readonly path: string;
  readonly before: GitFile | null;
  readonly after: GitFile | null;
}

/** What differs between two commits or trees, a rename as a removal and a new file. @throws {GitError} */
export async function diffTrees(repository: Repository, from: string, to: string): Promise<FileChange[]> {
  const options = ['-r', '-z', '--raw', '--no-renames', '--no-abbrev'];
  const fields = (await repository.run(['diff-tree', ...options, from, to])).split('\0');
  return Array.from({ length: Math.floor(fields.length / 2) }, (_, i) => {
    const [oldMode = '', mode = '', oldId = '', id = ''] = (fields[2 * i] ?? '').slice(1).split(' ');
    return { path: fields[2 * i + 1] ?? '', before: fileOf(oldMode, oldId), after: fileOf(mode, id) };
  });
}

function fileOf(mode: string, id: string): GitFile | null {
  return mode === '000000' ? null : { mode, id };
}
