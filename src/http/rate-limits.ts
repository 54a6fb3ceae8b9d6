import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import { ProblemError } from './problem.ts';

/** Limits how often something happens per minute, by key. Where clients use more keys than fit, the oldest are forgotten. */
export class RateLimit {
  readonly #name: string;
  readonly #limit: number;
  /** The count of each key's minute, which starts with its first event. */
  readonly #counted = new LRUCache<string, { times: number }>({
    ttl: msPerMinute,
    maxSize: 16 * 1024 * 1024,
    sizeCalculation: (_counted, key) => key.length * 2 + 300,
  });

  /** @param limit a minute; 0 is no limit */
  constructor(name: string, limit: number) {
    this.#name = name;
    this.#limit = limit;
  }

  /**
   * Counts one for `key` and sets response headers that say what is left.
   * @throws {ProblemError} too-many-requests
   */
  count(ctx: Context, key: string, advice: string): void {
    if (this.#limit === 0) return;
    const counted = this.#counted.get(key) ?? { times: 0 };
    if (counted.times === 0) this.#counted.set(key, counted);
    counted.times++;
    const seconds = Math.max(1, Math.ceil(this.#counted.getRemainingTTL(key) / 1000));
    const headers = {
      'RateLimit-Policy': `"${this.#name}";q=${this.#limit};w=60`,
      RateLimit: `"${this.#name}";r=${Math.max(0, this.#limit - counted.times)};t=${seconds}`,
    };
    ctx.set(headers);
    if (counted.times <= this.#limit) return;
    throw new ProblemError('too-many-requests', `more than ${this.#limit} a minute: ${advice}`, {
      headers: { ...headers, 'Retry-After': String(seconds) },
    });
  }
}

const msPerMinute = 60_000;
