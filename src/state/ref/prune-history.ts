import type { Repository } from '../../git/repository.ts';
import { fastImport } from '../../git/commit/fast-import.ts';
import { readRef, RefConflictError, stateRef, updateRefs } from '../../git/refs.ts';

/** A commit of the state's history. */
interface PrunedCommit {
  readonly tree: string;
  /** Seconds since the epoch. */
  readonly time: number;
  readonly identity: string;
  readonly subject: string;
}

/**
 * Returns the commits of a history, newest first, that pruning keeps: all since `since`, in seconds since the epoch, and
 * the last one of each day (UTC) before that.
 */
export function commitsToKeep<T extends { readonly time: number }>(
  history: readonly T[],
  since: number,
): T[] {
  let day = Number.POSITIVE_INFINITY;
  return history.filter(({ time }, i) => {
    const dayOfCommit = Math.floor(time / secondsADay);
    const isKept = i === 0 || time >= since || dayOfCommit < day;
    if (time < since) day = Math.min(day, dayOfCommit);
    return isKept;
  });
}

/**
 * Prunes the history of the state ref: replaces it with a line of the kept commits, with their trees. Returns the number
 * of removed commits; 0, without a change, where the ref moves at the same time. Content history is never pruned.
 * @param since in seconds since the epoch
 * @throws {GitError}
 */
export async function pruneHistory(repository: Repository, since: number): Promise<number> {
  const tip = await readRef(repository, stateRef);
  if (tip === null) return 0;
  const pruned = await writePrunedHistory(repository, tip, since);
  if (pruned === undefined) return 0;
  try {
    await updateRefs(repository, new Map([[stateRef, { from: tip, to: pruned.commit }]]));
  } catch (error) {
    if (error instanceof RefConflictError) return 0;
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
  const kept = commitsToKeep(history, since);
  if (kept.length === history.length) return undefined;
  const input = historyStream(kept.toReversed());
  const commit = (await repository.run(fastImport, { input })).trim();
  return { commit, removed: history.length - kept.length };
}

const secondsADay = 24 * 60 * 60;

async function readHistory(repository: Repository, tip: string): Promise<PrunedCommit[]> {
  const format = '--format=%T%x09%ct%x09%cn <%ce>%x09%s';
  const lines = (await repository.run(['log', '--first-parent', format, tip])).split('\n').slice(0, -1);
  return lines.map((line) => {
    const [tree = '', time = '', identity = '', ...subject] = line.split('\t');
    return { tree, time: Number(time), identity, subject: subject.join('\t') };
  });
}

/** Returns the fast-import stream of commits, oldest first. Its ref is reset at the end, so that only objects are written. */
function historyStream(commits: readonly PrunedCommit[]): string {
  const ref = 'refs/botshelf/pruned';
  const parts = commits.map(({ tree, time, identity, subject }, i) => {
    const message = `${subject}\n`;
    return [
      `commit ${ref}\nmark :${i + 1}\ncommitter ${identity} ${time} +0000\n`,
      `data ${Buffer.byteLength(message)}\n${message}\n`,
      i === 0 ? '' : `from :${i}\n`,
      `M 040000 ${tree} \n\n`,
    ].join('');
  });
  return `${parts.join('')}get-mark :${commits.length}\nreset ${ref}\n\ndone\n`;
}
