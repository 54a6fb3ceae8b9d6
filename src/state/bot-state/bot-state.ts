import type { TokenDigest } from '../../bot/token.ts';

/** The count and the token of one bot. A missing one was never set. */
export interface BotState {
  readonly count?: Count;
  readonly token?: TokenState;
}

/** The number of servers a bot is in, as its owner posted it. */
export interface Count {
  readonly value: number;
  /** When it was posted: milliseconds since the epoch, later than any count it replaces. */
  readonly at: number;
}

/** The current token of a bot. A revocation is kept too: without it, a merge would restore the token. */
export interface TokenState {
  /** Null where the token is revoked. */
  readonly digest: TokenDigest | null;
  /** When it was issued or revoked: milliseconds since the epoch. */
  readonly at: number;
  /** Raised by one by each issue and each revocation; 0 in files from before there were generations. */
  readonly generation: number;
}

/** Returns a BotState with the defined parts only. Always the same few object shapes, because there are many of them. */
export function botStateOf(count: Count | undefined, token: TokenState | undefined): BotState {
  if (count === undefined) return token === undefined ? {} : { token };
  return token === undefined ? { count } : { count, token };
}

/** The last time that a JavaScript date can have, in milliseconds since the epoch. Later times are neither written nor read. */
export const latestTime = 8_640_000_000_000_000;

/** Returns the time for a value that replaces one from `previous`: now, or just after `previous` where the clock is behind it. */
export function timeAfter(previous: number | undefined, now: number = Date.now()): number {
  return Math.min(previous === undefined || previous < now ? now : previous + 1, latestTime);
}
