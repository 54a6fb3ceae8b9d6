/** The times of the image cache. Milliseconds. */
export interface Intervals {
  /** The wait after an image's first failure. It doubles with each failure, up to `lastRetry`. */
  readonly firstRetry: number;
  readonly lastRetry: number;
  /** How often failed images are checked for a retry. */
  readonly tick: number;
  /** The pause after a host fails; it doubles too. */
  readonly hostRest: number;
  readonly longestHostRest: number;
  /** The pause after an error of this machine, such as a full disk. */
  readonly ownRest: number;
  /** The grace period of an entry, and then of its file, after the last bot that referred to it. */
  readonly grace: number;
  readonly round: number;
  readonly save: number;
  readonly progress: number;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

export const defaultIntervals: Intervals = {
  firstRetry: minute,
  lastRetry: day,
  tick: 15 * second,
  hostRest: second,
  longestHostRest: 5 * minute,
  ownRest: minute,
  grace: day,
  round: hour,
  save: second,
  progress: 10 * second,
};

/** Returns the milliseconds until an image that failed `count` times is retried, varied by a quarter. */
export function retryDelay(count: number, { firstRetry, lastRetry }: Intervals): number {
  return Math.min(lastRetry, firstRetry * 2 ** (count - 1)) * (0.75 + Math.random() / 2);
}
