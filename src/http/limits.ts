import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import { type Client, findFullShare, toClient } from '../lib/network.ts';
import { ProblemError } from './problem.ts';

/**
 * Limits how often something happens in a minute or an hour, by key. Where clients use more keys than fit, the oldest are
 * forgotten.
 */
export class RateLimit {
  readonly #policy: RatePolicy;
  /** The count of each key's minute or hour, which starts with its first event. */
  readonly #counted: LRUCache<string, { times: number }>;

  /** @param limit in a period; 0 is no limit */
  constructor(name: string, limit: number, period: RatePolicy['period'] = 'minute') {
    this.#policy = { name, limit, period };
    this.#counted = new LRUCache({
      ttl: secondsOf[period] * 1000,
      maxSize: 16 * 1024 * 1024,
      sizeCalculation: (_counted, key) => key.length * 2 + 300,
    });
  }

  /**
   * Counts one for the client of a request, as `count` does: for its group of addresses, then for its network, which has
   * a higher limit. A refused group does not count for its network; a network at its limit makes no more entries.
   * @throws {ProblemError} too-many-requests
   */
  countClient(ctx: Context, advice: string): void {
    const { group, network } = toClient(ctx.ip);
    if (network !== group) this.ensureLeft(network, advice, this.#policy.limit * maxGroupsPerNetwork);
    this.count(ctx, group, advice);
    if (network !== group) this.add(network);
  }

  /**
   * Counts one for `key` and sets response headers that say what is left.
   * @throws {ProblemError} too-many-requests
   */
  count(ctx: Context, key: string, advice: string): void {
    if (this.#policy.limit === 0) return;
    const left = this.#policy.limit - this.add(key);
    const seconds = this.#secondsLeft(key);
    ctx.set(createHeaders(this.#policy, left, seconds));
    if (left < 0) throw createLimitError(this.#policy, seconds, advice);
  }

  /** Counts one for `key`. Returns how many there were in its period. */
  add(key: string): number {
    const counted = this.#counted.get(key) ?? { times: 0 };
    if (counted.times === 0) this.#counted.set(key, counted);
    return ++counted.times;
  }

  /** Counts nothing. @throws {ProblemError} too-many-requests, if nothing is left for `key` */
  ensureLeft(key: string, advice: string, limit = this.#policy.limit): void {
    const { times = 0 } = this.#counted.get(key) ?? {};
    if (limit !== 0 && times >= limit)
      throw createLimitError({ ...this.#policy, limit }, this.#secondsLeft(key), advice);
  }

  #secondsLeft(key: string): number {
    return Math.max(1, Math.ceil(this.#counted.getRemainingTTL(key) / 1000));
  }
}

interface RatePolicy {
  readonly name: string;
  readonly limit: number;
  readonly period: 'minute' | 'hour';
}

const secondsOf = { minute: 60, hour: 3600 } as const;

function createHeaders({ name, limit, period }: RatePolicy, left: number, seconds: number) {
  return {
    'RateLimit-Policy': `"${name}";q=${limit};w=${secondsOf[period]}`,
    RateLimit: `"${name}";r=${Math.max(0, left)};t=${seconds}`,
  };
}

function createLimitError(policy: RatePolicy, seconds: number, advice: string): ProblemError {
  const headers = { ...createHeaders(policy, 0, seconds), 'Retry-After': String(seconds) };
  const period = policy.period === 'hour' ? 'an hour' : 'a minute';
  return new ProblemError('too-many-requests', `more than ${policy.limit} ${period}: ${advice}`, { headers });
}

/** How many groups of a network of IPv6 can reach the limit in the same period. */
const maxGroupsPerNetwork = 4;

interface Limits {
  /** The name of the responses, such as `exports`. */
  readonly what: string;
  readonly max: number;
  readonly maxPerClient: number;
  /** After a minute, a response that is read more slowly ends if another one needs its place. */
  readonly minBytesPerSecond?: number;
}

interface TakenPlace {
  readonly client: Client;
  readonly response: ServerResponse;
  readonly takenAt: number;
  /** The bytes that the connection had sent at that time. */
  readonly sentBefore: number;
}

/** Limits the responses that are sent for a long time, in all and for each client; a network has a quarter of them at most. */
export class ClientPlaces {
  readonly #limits: Limits;
  readonly #taken = new Set<TakenPlace>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Takes a place for the response to a request until it is closed. @throws {ProblemError} too-many-requests, busy */
  take({ ip, res: response }: Pick<Context, 'ip' | 'res'>): void {
    // A closed response emits no further close event.
    if (response.closed) return;
    const { what, max, maxPerClient } = this.#limits;
    const client = toClient(ip);
    const taken = [...this.#taken].map((place) => place.client);
    const full = findFullShare(client, taken, max, maxPerClient);
    if (full !== undefined) throw createFullError('too-many-requests', `${full} ${what} to your network`);
    if (this.#taken.size >= max && !this.#endSlowest()) throw createFullError('busy', `${max} ${what}`);
    const sentBefore = response.socket?.bytesWritten ?? 0;
    const place = { client, response, takenAt: Date.now(), sentBefore };
    this.#taken.add(place);
    response.once('close', () => this.#taken.delete(place));
  }

  /** Ends the response that is read most slowly. Returns whether there was one that is too slow. */
  #endSlowest(): boolean {
    const rates = [...this.#taken].map((place) => {
      const seconds = (Date.now() - place.takenAt) / 1000;
      const sent = (place.response.socket?.bytesWritten ?? 0) - place.sentBefore;
      return { place, rate: seconds < 60 ? Number.POSITIVE_INFINITY : sent / seconds };
    });
    const [slowest] = rates.toSorted((a, b) => a.rate - b.rate);
    if (slowest === undefined || slowest.rate >= (this.#limits.minBytesPerSecond ?? 0)) return false;
    this.#taken.delete(slowest.place);
    slowest.place.response.destroy();
    return true;
  }
}

function createFullError(kind: 'too-many-requests' | 'busy', what: string): ProblemError {
  const detail = `${what} are being sent, which is the most: try again in a minute`;
  return new ProblemError(kind, detail, { headers: { 'Retry-After': '60' } });
}
