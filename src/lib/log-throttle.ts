import { LRUCache } from 'lru-cache';

/** Limits the log of refused requests to one line per reason, however many requests are refused for it. */
export class LogThrottle {
  /** A reason ends one minute, in ms, after the last request refused for it. */
  readonly #reasons = new LRUCache<string, true>({ max: 100, ttl: 60_000, updateAgeOnGet: true });

  /** Returns whether to log: nothing was refused for this reason in the last minute. */
  shouldLog(reason: string): boolean {
    if (this.#reasons.get(reason)) return false;
    this.#reasons.set(reason, true);
    return true;
  }
}
