import { setTimeout as sleep } from 'node:timers/promises';

export interface RetryOptions {
  /** How often the task runs at most, the first run included. */
  readonly maxAttempts: number;
  /** Returns whether another attempt may succeed after this error, once what stood in its way is removed. Always by default. */
  readonly isRetriable?: (error: unknown) => boolean | Promise<boolean>;
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
  { maxAttempts, isRetriable = () => true, delay, signal }: RetryOptions,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await task();
    } catch (error) {
      if (attempt >= maxAttempts || !(await isRetriable(error))) throw error;
    }
    if (delay) await sleep(delay(attempt), undefined, signal && { signal });
  }
}
