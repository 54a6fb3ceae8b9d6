import { type SliceOwner, TimeSlice } from './time-slice.ts';

/**
 * Does `work` on every item, one slice of time after the other, until `signal` aborts. What is added to or removed from a
 * map or set between two slices is seen as its iterator promises.
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
  let [i, j] = [0, 0];
  for (;;) {
    const [x, y] = [a[i], b[j]];
    if (x === undefined || y === undefined) return [...merged, ...a.slice(i), ...b.slice(j)];
    if (slice.isOver) await slice.next();
    if (compare(x, y) <= 0) {
      merged.push(x);
      i++;
    } else {
      merged.push(y);
      j++;
    }
  }
}
