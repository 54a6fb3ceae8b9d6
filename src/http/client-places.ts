import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { toAddressGroup } from '../lib/network-address.ts';
import { ProblemError } from './problem.ts';

interface Limits {
  /** The name of the responses, such as `exports`. */
  readonly what: string;
  readonly max: number;
  readonly maxPerClient: number;
  /** A response that is read more slowly, after a minute, ends where another one needs its place. */
  readonly minBytesPerSecond?: number;
}

interface TakenPlace {
  readonly client: string;
  readonly response: ServerResponse;
  readonly takenAt: number;
  /** The bytes that its connection had sent then. */
  readonly sentBefore: number;
}

/** The places for responses that are sent for long: a client has some of them. */
export class ClientPlaces {
  readonly #limits: Limits;
  readonly #taken = new Set<TakenPlace>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Takes a place for the response to a request until it is closed. @throws {ProblemError} busy */
  take({ ip, res: response }: Pick<Context, 'ip' | 'res'>): void {
    const { what, max, maxPerClient } = this.#limits;
    const client = toAddressGroup(ip);
    const own = [...this.#taken].filter((place) => place.client === client);
    if (own.length >= maxPerClient) throw createBusyError(`${maxPerClient} ${what} to you`);
    if (this.#taken.size >= max && !this.#endSlowest()) throw createBusyError(`${max} ${what}`);
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

function createBusyError(what: string): ProblemError {
  const detail = `${what} are being sent, which is the most: try again in a minute`;
  return new ProblemError('busy', detail, { headers: { 'Retry-After': '60' } });
}
