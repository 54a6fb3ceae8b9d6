import { LRUCache } from 'lru-cache';

/** Tells when a reason to refuse something begins: what goes on for an hour is one line of the log, not one a request. */
export class LogThrottle {
  /** As long as nothing was refused for it, in ms, a reason is over. */
  readonly #reasons = new LRUCache<string, true>({ max: 100, ttl: 60_000, updateAgeOnGet: true });

  /** Whether nothing was refused for this reason in the last minute. */
  begins(reason: string): boolean {
    if (this.#reasons.get(reason)) return false;
    this.#reasons.set(reason, true);
    return true;
  }
}
