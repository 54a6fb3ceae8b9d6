/** The last time that a JavaScript date can have, in milliseconds since the epoch. Later times are neither written nor read. */
export const maxTime = 8_640_000_000_000_000;

export const msPerDay = 86_400_000;
export const msPerHour = 3_600_000;

/** The last time that RFC 3339 has, in milliseconds since the epoch. */
const maxIsoTime = Date.UTC(9999, 11, 31, 23, 59, 59);

/** Formats milliseconds since the epoch, which may be any from a file, as the nearest time of the years 1970 to 9999. */
export function formatIsoTime(time: number): string {
  return new Date(Math.min(Math.max(time, 0), maxIsoTime)).toISOString();
}

/**
 * Returns the time of a commit, in milliseconds since the epoch. Git takes times far past `maxIsoTime`.
 * @param seconds as Git prints it
 */
export function parseCommitTime(seconds: string): number {
  return Math.min(Number(seconds) * 1000, maxIsoTime);
}

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
export const maxEditedLeadMs = 86_400_000;
