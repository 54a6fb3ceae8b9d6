import type { Repository } from '../../git/repository.ts';
import { fastImport } from '../../git/commit/fast-import.ts';
import { readRef, stateRef } from '../../git/refs.ts';
import { GitError } from '../../git/process/git-error.ts';

/** A commit of the state's history. */
export interface StateCommit {
  readonly tree: string;
  /** Seconds since the epoch. */
  readonly time: number;
  readonly identity: string;
  readonly subject: string;
}

/**
 * Which commits of a history, newest first, stay when it is thinned: all since `since` (seconds since the
 * epoch), and before that the last one of each day (UTC).
 */
export function commitsThatStay<T extends { readonly time: number }>(
  history: readonly T[],
  since: number,
): T[] {
  let day = Number.POSITIVE_INFINITY;
  return history.filter(({ time }, i) => {
    const its = Math.floor(time / secondsADay);
    const stays = i === 0 || time >= since || its < day;
    if (time < since) day = Math.min(day, its);
    return stays;
  });
}

/**
 * Thins the history of the state ref, which is made anew as one line of commits with the same trees; the tip's
 * tree is the same. Gives how many commits went. Nothing happens where the ref moves meanwhile. Content
 * history is never thinned.
 * @throws {GitError}
 */
export async function pruneHistory(repository: Repository, since: number): Promise<number> {
  const tip = await readRef(repository, stateRef);
  if (tip === null) return 0;
  const thinned = await makeThinned(repository, tip, since);
  if (thinned === undefined) return 0;
  try {
    await repository.run(['update-ref', stateRef, thinned.commit, tip]);
  } catch (error) {
    if (error instanceof GitError && (await readRef(repository, stateRef)) !== tip) return 0;
    throw error;
  }
  return thinned.gone;
}

/**
 * Makes the thinned history of a state, on no ref: its last commit, and how many have gone. Undefined where none
 * has to go.
 * @throws {GitError}
 */
export async function makeThinned(
  repository: Repository,
  tip: string,
  since: number,
): Promise<{ readonly commit: string; readonly gone: number } | undefined> {
  const history = await readHistory(repository, tip);
  const stay = commitsThatStay(history, since);
  if (stay.length === history.length) return undefined;
  const input = historyStream(stay.toReversed());
  const commit = (await repository.run(['-c', 'fastimport.unpackLimit=1', ...fastImport], { input })).trim();
  return { commit, gone: history.length - stay.length };
}

const secondsADay = 24 * 60 * 60;

async function readHistory(repository: Repository, tip: string): Promise<StateCommit[]> {
  const format = '--format=%T%x09%ct%x09%cn <%ce>%x09%s';
  const lines = (await repository.run(['log', '--first-parent', format, tip])).split('\n').slice(0, -1);
  return lines.map((line) => {
    const [tree = '', time = '', identity = '', ...subject] = line.split('\t');
    return { tree, time: Number(time), identity, subject: subject.join('\t') };
  });
}

/** The commits, oldest first, below a ref that is forgotten at the end: only their objects are written. */
function historyStream(commits: readonly StateCommit[]): string {
  const ref = 'refs/botshelf/thinned';
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
