import type { TokenDigest } from '../bot/token.ts';

/** What the state has of one bot. What is missing was never set. */
export interface BotState {
  readonly count?: Count;
  readonly token?: TokenState;
  /** When a commit last changed a file of the bot; milliseconds since the epoch. See edited-times.ts. */
  readonly edited?: number;
}

/** The number of servers a bot is in, as its owner posted it. */
export interface Count {
  readonly value: number;
  /** When it was posted, as `countTimeAfter` returns it: later than any count it replaces. `toClockTime` is that of a clock. */
  readonly at: number;
}

/** The current token of a bot. A revocation is kept too: without it, a merge would restore the token. */
export interface TokenState {
  /** Null where the token is revoked. */
  readonly digest: TokenDigest | null;
  /** When it was issued or revoked: milliseconds since the epoch. */
  readonly at: number;
  /** 1 for the first token of a bot; raised by one by each issue and each revocation. */
  readonly generation: number;
}

/** Returns a BotState with the defined parts only. Always the same few object shapes, because there are many of them. */
export function createBotState(count?: Count, token?: TokenState, edited?: number): BotState {
  if (edited !== undefined) return { ...createBotState(count, token), edited };
  if (count === undefined) return token === undefined ? {} : { token };
  return token === undefined ? { count } : { count, token };
}

/** The last time that a JavaScript date can have, in milliseconds since the epoch. Later times are neither written nor read. */
export const maxTime = 8_640_000_000_000_000;

/** Returns the time for a value that replaces one from `previous`: now, or just after `previous` where the clock is behind it. */
export function computeTimeAfter(previous: number | undefined, now: number = Date.now()): number {
  return Math.min(previous === undefined || previous < now ? now : previous + 1, maxTime);
}

/**
 * Returns the time for a count that replaces one from `previous`. Where that is ahead of the clock, the count is of the
 * next era: it is later all the same, and the clock decides again between it and other counts that replace `previous`.
 */
export function countTimeAfter(previous = 0, now: number = Date.now()): number {
  const time = previous - toClockTime(previous) + now;
  const ofNextEra = time + eraMs;
  return computeTimeAfter(previous, isAhead(previous, now) && ofNextEra <= maxTime ? ofNextEra : time);
}

/**
 * Returns `edited` for a page that is edited now: later than it was, or the clock's time if it was ahead of the
 * clock; never before `created`.
 * @param page its front matter, which may be faulty
 */
export function editedTimeAfter(page: Readonly<Record<string, unknown>>, now: number = Date.now()): number {
  const created = Number(page['created']) || 0;
  const previous = Number(page['edited'] ?? created) || 0;
  const time = Math.max(now, created);
  return previous > time + maxLeadMs ? time : computeTimeAfter(previous, time);
}

/** Returns what the clock said when a count was posted: milliseconds since the epoch. */
export function toClockTime(at: number): number {
  return at % eraMs;
}

/** Returns whether the clock of the machine that took a count was ahead of this one. */
export function isAhead(at: number, now: number = Date.now()): boolean {
  return toClockTime(at) > now + maxLeadMs;
}

/** A time in a state is this, once for each era, and the clock's. No clock reaches it: it is in the year 2286. */
export const eraMs = 10_000_000_000_000;

/** The difference between the clocks of two machines that is taken for none. */
export const maxLeadMs = 5 * 60 * 1000;

/** A time of an edit that is further ahead is of a wrong clock, and not used. */
export const maxEditedLeadMs = 24 * 60 * 60 * 1000;

/**
 * Merges two states of a bot: the later count, the token of the higher generation and the later edit. Merging is commutative,
 * associative and idempotent, so replicas converge in whatever order they merge.
 */
export function mergeBotStates(a: BotState, b: BotState): BotState {
  const edited = chooseLater(a.edited, b.edited);
  return createBotState(chooseLaterCount(a.count, b.count), mergeTokens(a.token, b.token), edited);
}

/** Returns the later of two times. */
export function chooseLater(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

/** Returns the later of two counts; of two with the same time, the larger. */
export function chooseLaterCount(a: Count | undefined, b: Count | undefined): Count | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return (b.at - a.at || b.value - a.value) > 0 ? b : a;
}

/**
 * Returns the token of the higher generation, whatever the clocks say. Two different tokens of the same generation end
 * both: two replicas issued them without knowing of each other, and a replaced token must not become valid again.
 */
export function mergeTokens(a: TokenState | undefined, b: TokenState | undefined): TokenState | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (a.generation !== b.generation) return b.generation > a.generation ? b : a;
  const later = b.at > a.at ? b : a;
  return a.digest === b.digest || later.digest === null ? later : { ...later, digest: null };
}
