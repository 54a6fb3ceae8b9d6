import { parseRawDiff, rawDiffOptions } from './raw-diff.ts';
import type { Repository } from './repository.ts';

/** A file in a tree or the index. */
export interface GitFile {
  /** Octal, as Git writes it: 100644, 100755, 120000 (symbolic link), 160000 (submodule). */
  readonly mode: string;
  /** The blob, or the commit of a submodule. */
  readonly id: string;
}

/** A file, and what it becomes; null where there is none. */
export interface FileChange {
  /** From the top of the repository. */
  readonly path: string;
  readonly before: GitFile | null;
  readonly after: GitFile | null;
}

/** Returns what differs between two commits or trees; a rename is a removal and a new file. @throws {GitError} */
export async function diffTrees(repository: Repository, from: string, to: string): Promise<FileChange[]> {
  const options = [...rawDiffOptions, '-r', '--no-renames'];
  const entries = parseRawDiff(await repository.run(['diff-tree', ...options, from, to]));
  return entries.map(({ path, before: [before = null], after }) => ({ path, before, after }));
}
