import { writeHistory } from '../git/commit/fast-import.ts';
import { readRef, RefConflictError, stateRef, updateRefs } from '../git/refs.ts';
import type { Repository } from '../git/repository.ts';
import { findLastOfDays, readHistory } from './state-history.ts';

/**
 * Returns the commits of a history, newest first, that pruning keeps: the tip, all since `since`, in seconds since the
 * epoch, and the last one of each day (UTC) before that.
 */
export function selectCommits<T extends { readonly time: number }>(
  history: readonly T[],
  since: number,
): T[] {
  const last = new Set(findLastOfDays(history.filter(({ time }) => time < since)).values());
  return history.filter((commit, i) => i === 0 || commit.time >= since || last.has(commit));
}

/**
 * Prunes the history of the state ref: replaces it with a line of the kept commits, with their trees. Returns the number
 * of removed commits; undefined, without a change, where the ref moves at the same time. Content history is never pruned.
 * @param since in seconds since the epoch
 * @throws {GitError}
 */
export async function pruneHistory(repository: Repository, since: number): Promise<number | undefined> {
  const tip = await readRef(repository, stateRef);
  if (tip === null) return 0;
  const pruned = await writePrunedHistory(repository, tip, since);
  if (pruned === undefined) return 0;
  try {
    await updateRefs(repository, new Map([[stateRef, { from: tip, to: pruned.commit }]]));
  } catch (error) {
    if (error instanceof RefConflictError) return undefined;
    throw error;
  }
  return pruned.removed;
}

/**
 * Writes the pruned history of a state, on no ref. Returns its last commit and the number of removed commits; undefined
 * where pruning removes none.
 * @throws {GitError}
 */
export async function writePrunedHistory(
  repository: Repository,
  tip: string,
  since: number,
): Promise<{ readonly commit: string; readonly removed: number } | undefined> {
  const history = await readHistory(repository, tip);
  const kept = selectCommits(history, since);
  if (kept.length === history.length) return undefined;
  const commits = kept.toReversed().map(({ tree, time, identity, subject }) => ({
    committer: `${identity} ${time} +0000`,
    message: `${subject}\n`,
    tree,
    files: new Map(),
  }));
  return { commit: await writeHistory(repository, commits), removed: history.length - kept.length };
}
