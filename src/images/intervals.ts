/** The times of the image cache. Milliseconds. */
export interface Intervals {
  /** The wait after an image's first failure. It doubles with each failure, up to `lastRetry`. */
  readonly firstRetry: number;
  readonly lastRetry: number;
  /** How often failed images are checked for a retry. */
  readonly tick: number;
  /** The pause after a host fails; it doubles too. */
  readonly hostRest: number;
  readonly maxHostRest: number;
  /** The pause after an error of this machine, such as a full disk. */
  readonly ownRest: number;
  /** The grace period of an entry, and then of its file, after the last bot that referred to it. */
  readonly grace: number;
  readonly round: number;
  readonly save: number;
  readonly progress: number;
}

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export const defaultIntervals: Intervals = {
  firstRetry: minuteMs,
  lastRetry: dayMs,
  tick: 15 * secondMs,
  hostRest: secondMs,
  maxHostRest: 5 * minuteMs,
  ownRest: minuteMs,
  grace: dayMs,
  round: hourMs,
  save: secondMs,
  progress: 10 * secondMs,
};

/** Returns the milliseconds until an image that failed `count` times is retried, varied by a quarter. */
export function retryDelay(count: number, { firstRetry, lastRetry }: Intervals): number {
  return Math.min(lastRetry, firstRetry * 2 ** (count - 1)) * (0.75 + Math.random() / 2);
}
