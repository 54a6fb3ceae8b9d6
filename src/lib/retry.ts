import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from './errors.ts';

export interface RetryOptions {
  /** How often the task runs at most, the first run included. */
  readonly maxAttempts: number;
  /** Returns whether another attempt may succeed after this error. Always by default. */
  readonly isRetriable?: (error: unknown) => boolean | Promise<boolean>;
  /** Removes what stood in the way of an attempt that failed. Returns whether there was something: then another may succeed. */
  readonly repair?: (error: unknown) => Promise<boolean>;
  /** Returns the milliseconds to wait after an attempt that failed; the first is 1. No wait by default. */
  readonly delay?: (attempt: number) => number;
  /** Ends the wait: the promise rejects with an AbortError. */
  readonly signal?: AbortSignal;
}

/**
 * Runs `task` until it succeeds, and returns its result.
 * @throws the error of the last attempt, or the first one that is not retriable
 */
export async function retry<T>(
  task: () => Promise<T>,
  { maxAttempts, isRetriable = () => true, repair, delay, signal }: RetryOptions,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await task();
    } catch (error) {
      if (attempt >= maxAttempts || !((await repair?.(error)) || (await isRetriable(error)))) throw error;
    }
    if (delay) await sleep(delay(attempt), undefined, signal && { signal });
  }
}

/** Waits for work on the remote while a person waits for us. Returns why it did not succeed in time; undefined when it did. */
export async function tryRemote(work: Promise<void> | undefined): Promise<string | undefined> {
  if (work === undefined) return undefined;
  const ended = work.then(() => undefined, messageOf);
  return await Promise.race([
    ended,
    sleep(maxRemoteMs, `it takes more than ${maxRemoteMs / 1000} s`, { ref: false }),
  ]);
}

/** Returns how long to wait after the last of `failures` in a row: twice as long each time, from `first` to `max`. */
export function computeBackoff(failures: number, first: number, max: number): number {
  return Math.min(max, first * 2 ** (failures - 1));
}

/** Milliseconds that a step of a proposal or the change of a token waits for a fetch, and again for a push. */
const maxRemoteMs = 5000;
