import type { TokenDigest } from '../../bot/token.ts';

/** What the service keeps of a bot for itself. A fact that is missing was never set. */
export interface Facts {
  readonly count?: Count;
  readonly token?: TokenMark;
}

/** How many servers the bot says it is in. */
export interface Count {
  readonly value: number;
  /** When it was said: milliseconds since the epoch, and later than any count it replaces. */
  readonly at: number;
}

/** The token a bot has to show. That it was revoked is a fact too, or a merge would bring it back. */
export interface TokenMark {
  /** Null: revoked. */
  readonly digest: TokenDigest | null;
  /** When it was issued or revoked, as `at` of a count. */
  readonly at: number;
  /** Raised by one by each issue and each revocation; 0 where it was kept before there were generations. */
  readonly generation: number;
}

/** The facts that are there, as one value; the same shapes each time, because there are very many. */
export function factsOf(count: Count | undefined, token: TokenMark | undefined): Facts {
  if (count === undefined) return token === undefined ? {} : { token };
  return token === undefined ? { count } : { count, token };
}

/** The last time that a date can have: none is written after it, and none read. */
export const latestTime = 8_640_000_000_000_000;

/** The time of a fact that replaces one of the time `previous`: now, but later than it, whatever the clock says. */
export function timeAfter(previous: number | undefined, now: number = Date.now()): number {
  return Math.min(previous === undefined || previous < now ? now : previous + 1, latestTime);
}
