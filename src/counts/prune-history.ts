import { writeHistory } from '../git/commit/fast-import.ts';
import { readRef, RefConflictError, stateRef, updateRefs } from '../git/refs.ts';
import type { Repository } from '../git/repository.ts';

/**
 * Prunes the history of the state ref: replaces it with a line of the tip and the commits since `since`, with their trees.
 * Returns the number of removed commits; undefined, without a change, where the ref moves at the same time. Content history
 * is never pruned.
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
 * Writes the pruned history of a state, on no ref. Its first commit is a new one, so it shares none with the history that was
 * pruned. Returns its last commit and the number of removed commits; undefined where pruning removes none.
 * @throws {GitError}
 */
export async function writePrunedHistory(
  repository: Repository,
  tip: string,
  since: number,
): Promise<{ readonly commit: string; readonly removed: number } | undefined> {
  const format = '--format=%T%x09%ct%x09%cn <%ce>%x09%s';
  const lines = (await repository.run(['log', '--first-parent', format, tip])).split('\n').slice(0, -1);
  const history = lines.map((line) => {
    const [tree = '', time = '', identity = '', ...subject] = line.split('\t');
    const committer = `${identity} ${time} +0000`;
    return { tree, time: Number(time), committer, message: `${subject.join('\t')}\n`, files: new Map() };
  });
  const end = history.findIndex(({ time }, i) => i > 0 && time < since);
  if (end === -1) return undefined;
  const commit = await writeHistory(repository, history.slice(0, end).toReversed());
  return { commit, removed: history.length - end };
}
