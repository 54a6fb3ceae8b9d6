import type { Context } from 'koa';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { Problem } from './problem.ts';

/** How often something may happen a minute, by key. */
export class RateLimit {
  readonly #limiter: RateLimiterMemory | undefined;
  readonly #limit: number;
  readonly #name: string;

  /** @param limit a minute; 0 is no limit */
  constructor(name: string, limit: number) {
    this.#name = name;
    this.#limit = limit;
    this.#limiter = limit === 0 ? undefined : new RateLimiterMemory({ points: limit, duration: 60 });
  }

  /**
   * Counts one for `key` and tells in the response's headers what is left.
   * @throws {Problem} too-many-requests
   */
  async count(ctx: Context, key: string, advice: string): Promise<void> {
    if (this.#limiter === undefined) return;
    const { left, seconds, over } = await this.#consume(this.#limiter, key);
    const headers = {
      'RateLimit-Policy': `"${this.#name}";q=${this.#limit};w=60`,
      RateLimit: `"${this.#name}";r=${left};t=${seconds}`,
    };
    ctx.set(headers);
    if (!over) return;
    throw new Problem('too-many-requests', `more than ${this.#limit} a minute: ${advice}`, {
      headers: { ...headers, 'Retry-After': String(seconds) },
    });
  }

  async #consume(
    limiter: RateLimiterMemory,
    key: string,
  ): Promise<{ left: number; seconds: number; over: boolean }> {
    try {
      return { ...stateOf(await limiter.consume(key)), over: false };
    } catch (refused) {
      if (refused instanceof Error) throw refused;
      return { ...stateOf(refused as RateLimiterRes), over: true };
    }
  }
}

function stateOf({ remainingPoints, msBeforeNext }: RateLimiterRes): { left: number; seconds: number } {
  return { left: Math.max(0, remainingPoints), seconds: Math.max(1, Math.ceil(msBeforeNext / 1000)) };
}
