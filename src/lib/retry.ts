import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { messageOf } from './errors.ts';
import type { Log } from './log.ts';

interface RetryOptions {
  /** The maximum number of runs, including the first. */
  readonly maxAttempts: number;
  /** Returns whether another attempt may succeed after this error. Always by default. */
  readonly isRetriable?: (error: unknown) => boolean | Promise<boolean>;
  /** Removes the obstacle of a failed attempt. Returns whether there was one: then another attempt may succeed. */
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

/** Waits for work on the remote while a person waits. Returns why it did not succeed in time; undefined if it did. */
export async function tryRemote(work: Promise<void> | undefined): Promise<string | undefined> {
  if (work === undefined) return undefined;
  const ended = work.then(() => undefined, messageOf);
  return await Promise.race([
    ended,
    sleep(maxRemoteMs, `it takes more than ${maxRemoteMs / 1000} s`, { ref: false }),
  ]);
}

/** Returns the wait after `failures` in a row: twice as long each time, from `first` to `max`. */
export function computeBackoff(failures: number, first: number, max: number): number {
  return Math.min(max, first * 2 ** (failures - 1));
}

/** Milliseconds that a step of a proposal or the change of a token waits for a fetch, and again for a push. */
const maxRemoteMs = 5000;

/** Something that currently does not work. */
export interface Failure {
  /** The first failure since the last success. Milliseconds since the epoch. */
  readonly since: number;
  /** The cause of the last failure, and the fix. */
  readonly message: string;
}

export interface FailureLogOptions {
  readonly log: Log;
  /** Returns the line to log for a cause: what does not work, what stays safe, the next step. */
  readonly failed: (message: string) => string;
  /** The line to log when it works again. */
  readonly ended: string;
}

/** The current failure of one operation. Logged when the cause changes, and when the failure ends. */
export class FailureLog {
  readonly #options: FailureLogOptions;
  #current: Failure | null = null;
  #loggedKind: string | undefined;

  constructor(options: FailureLogOptions) {
    this.#options = options;
  }

  /** Null while the operation works. */
  get current(): Failure | null {
    return this.#current;
  }

  add(error: unknown, message: string): void {
    const { log, failed } = this.#options;
    const kind = toKind(message);
    if (this.#loggedKind !== kind) log.error({ err: error }, failed(message));
    this.#loggedKind = kind;
    this.#current = { since: this.#current?.since ?? Date.now(), message };
  }

  end(): void {
    if (this.#current === null) return;
    const { log, ended } = this.#options;
    log.info({ since: new Date(this.#current.since).toISOString() }, ended);
    this.#current = null;
    this.#loggedKind = undefined;
  }
}

/** Returns the words of a message that are the same at each retry: no paths, ids, long numbers and durations. */
function toKind(message: string): string {
  const words = message.split(' ');
  const isDuration = (i: number): boolean => /^(?:ms|s|seconds?)\b/.test(words[i + 1] ?? '');
  return words.filter((word, i) => !/[/_]|\d{4}|^[\da-f]{7,}/.test(word) && !isDuration(i)).join(' ');
}

/** Limits the log of refused requests to one line per reason, however many requests are refused for it. */
export class LogThrottle {
  /** A reason ends this many milliseconds after the last request refused for it. */
  readonly #reasons = new LRUCache<string, true>({ max: 100, ttl: 60_000, updateAgeOnGet: true });

  /** Returns whether to log: nothing was refused for this reason in the last minute. */
  shouldLog(reason: string): boolean {
    if (this.#reasons.get(reason)) return false;
    this.#reasons.set(reason, true);
    return true;
  }
}
