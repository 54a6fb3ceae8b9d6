import type { Repository } from '../git/repository.ts';

/** A commit of the state's history. */
export interface PastState {
  readonly tree: string;
  /** Seconds since the epoch. */
  readonly time: number;
  readonly identity: string;
  readonly subject: string;
}

export const secondsPerHour = 60 * 60;
export const secondsPerDay = 24 * secondsPerHour;

/** The days before today for which hourly counts are kept. */
export const hourlyDays = 30;

/** The commits of a state's own line of history, newest first. @throws {GitError} */
export async function readHistory(repository: Repository, tip: string): Promise<PastState[]> {
  const format = '--format=%T%x09%ct%x09%cn <%ce>%x09%s';
  const lines = (await repository.run(['log', '--first-parent', format, tip])).split('\n').slice(0, -1);
  return lines.map((line) => {
    const [tree = '', time = '', identity = '', ...subject] = line.split('\t');
    return { tree, time: Number(time), identity, subject: subject.join('\t') };
  });
}

/**
 * Returns the last commit of each period that has one, by the number of the period since the epoch, in ascending
 * order. The last is the one of the latest time, so a clock that jumps spoils no period but those it jumped to.
 * @param history newest first
 * @param seconds the length of a period
 */
export function findLastOfPeriods<T extends { readonly time: number }>(
  history: readonly T[],
  seconds: number,
): Map<number, T> {
  const last = new Map<number, T>();
  for (const commit of history) {
    const period = Math.floor(commit.time / seconds);
    const known = last.get(period);
    if (known === undefined || commit.time > known.time) last.set(period, commit);
  }
  return new Map([...last].toSorted(([a], [b]) => a - b));
}

/**
 * Leaves out commits that were dated by a clock that was wrong: in the future, or before Botshelf existed.
 * @param now seconds since the epoch
 */
export function withPlausibleTimes<T extends { readonly time: number }>(
  history: readonly T[],
  now: number,
): T[] {
  return history.filter(({ time }) => time >= minTime && time <= now);
}

const minTime = Date.UTC(2020, 0) / 1000;
