import { setImmediate } from 'node:timers/promises';

/**
 * The origin of a piece of work. Clients cause any number of pieces: each waits for its slice, and one slice of all
 * waiting pieces runs per round of the event loop. The service causes few: they begin immediately, and let the event
 * loop run once after each slice.
 */
type SliceOwner = 'client' | 'service';

/**
 * Divides long work on the event loop, so that it delays no request for longer than a slice. Check `isOver` before or
 * after each step, and wait for `next` when it is true.
 */
export class TimeSlice {
  readonly #owner: SliceOwner;
  #end: number;
  #lastLook = 0;
  /** The number of steps that are not timed, and the number that is left. */
  #untimed = 0;
  #left = 0;

  constructor(owner: SliceOwner = 'client') {
    this.#owner = owner;
    // The first step of a client waits too: a thousand short pieces of work are as long as one that is not.
    this.#end = owner === 'client' ? 0 : performance.now() + milliseconds[owner];
  }

  get isOver(): boolean {
    if (this.#left > 0) {
      this.#left--;
      return false;
    }
    const now = performance.now();
    const step = (now - this.#lastLook) / (this.#untimed + 1);
    this.#left = this.#untimed = step < minTimedStepMs ? maxUntimedSteps : 0;
    this.#lastLook = now;
    return now >= this.#end;
  }

  /** Resolves when the next slice of this work begins. */
  async next(): Promise<void> {
    if (this.#owner === 'service') await setImmediate();
    else await (lastClient = lastClient.then(async () => await setImmediate()));
    this.#lastLook = performance.now();
    this.#end = this.#lastLook + milliseconds[this.#owner];
  }
}

/**
 * Of shorter steps only some are timed: a processor that reads its clock waits for all that it reads from
 * memory, so a pass over all bots would take three times as long.
 */
const minTimedStepMs = 0.01;
const maxUntimedSteps = 15;

/** The length of a slice. A response may wait for several slices of the service's work. */
const milliseconds: Readonly<Record<SliceOwner, number>> = { client: 1, service: 2 };

let lastClient: Promise<void> = Promise.resolve();

/**
 * Does `work` on every item, one slice of time after the other, until `signal` aborts. Changes of a map or set between
 * two slices are seen as its iterator promises.
 */
export async function forEachInSlices<T>(
  items: Iterable<T>,
  work: (item: T) => void,
  owner: SliceOwner = 'client',
  signal?: AbortSignal,
): Promise<void> {
  const slice = new TimeSlice(owner);
  for (const item of items) {
    if (slice.isOver) await slice.next();
    if (signal?.aborted) return;
    work(item);
  }
}

/** Returns the items in ascending order, sorted one slice of time after the other. Nearly sorted items take linear time. */
export async function sortInSlices<T extends object>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
): Promise<T[]> {
  const slice = new TimeSlice();
  let runs: T[][] = [];
  for (let start = 0; start < items.length; start += runLength) {
    if (slice.isOver) await slice.next();
    runs.push(items.slice(start, start + runLength).toSorted(compare));
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let i = 0; i < runs.length; i += 2)
      merged.push(await mergeRuns(runs[i] ?? [], runs[i + 1] ?? [], compare, slice));
    runs = merged;
  }
  return runs[0] ?? [];
}

/** Sorting this many items takes about a millisecond. */
const runLength = 1024;

async function mergeRuns<T extends object>(
  a: readonly T[],
  b: readonly T[],
  compare: (a: T, b: T) => number,
  slice: TimeSlice,
): Promise<T[]> {
  if (slice.isOver) await slice.next();
  const [end, start] = [a.at(-1), b[0]];
  if (end === undefined || start === undefined || compare(end, start) <= 0) return [...a, ...b];
  const merged: T[] = [];
  let next = 0;
  for (const item of a) {
    for (let other = b[next]; other && compare(item, other) > 0; other = b[++next]) {
      if (slice.isOver) await slice.next();
      merged.push(other);
    }
    if (slice.isOver) await slice.next();
    merged.push(item);
  }
  return [...merged, ...b.slice(next)];
}
