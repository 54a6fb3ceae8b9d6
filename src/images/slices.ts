import { setImmediate } from 'node:timers/promises';

/**
 * Does `work` on every item, until `signal` says to stop; after a few milliseconds the event loop gets its
 * turn. Items that are added to or taken from a map or a set meanwhile are met as its iterator promises.
 */
export async function inSlices<T>(
  items: Iterable<T>,
  work: (item: T) => void,
  signal: AbortSignal,
): Promise<void> {
  let end = performance.now() + slice;
  for (const item of items) {
    work(item);
    if (performance.now() < end) continue;
    await setImmediate();
    if (signal.aborted) return;
    end = performance.now() + slice;
  }
}

const slice = 3;
