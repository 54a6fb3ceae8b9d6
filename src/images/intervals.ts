/** How often things happen. Milliseconds. */
export interface Intervals {
  /** The wait after a picture's first failure; it doubles with every other one, up to the last. */
  readonly firstRetry: number;
  readonly lastRetry: number;
  /** How often the failed ones are looked at. */
  readonly tick: number;
  /** The rest of a host that is unwell; it doubles too. */
  readonly hostRest: number;
  readonly longestHostRest: number;
  /** The rest of a worker that met a full disk. */
  readonly ownRest: number;
  /** How long a picture and then its file outlive the last bot that named them. */
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

/** Milliseconds until a picture that failed `count` times is tried again: a quarter more or less than its turn. */
export function retryDelay(count: number, { firstRetry, lastRetry }: Intervals): number {
  return Math.min(lastRetry, firstRetry * 2 ** (count - 1)) * (0.75 + Math.random() / 2);
}
