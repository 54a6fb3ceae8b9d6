/** The last time that a JavaScript date can have, in milliseconds since the epoch. Later times are neither written nor read. */
export const maxTime = 8_640_000_000_000_000;

export const msPerDay = 86_400_000;
export const msPerHour = 3_600_000;

/** The last time that RFC 3339 has, in milliseconds since the epoch. */
const maxIsoTime = Date.UTC(9999, 11, 31, 23, 59, 59);

/** Formats milliseconds since the epoch by RFC 3339. A time outside the years 1970 to 9999 becomes the nearest one inside. */
export function formatIsoTime(time: number): string {
  return new Date(Math.min(Math.max(time, 0), maxIsoTime)).toISOString();
}

/**
 * Returns the time of a commit in milliseconds since the epoch, at most `maxIsoTime`: Git accepts later ones.
 * @param seconds as Git prints it
 */
export function parseCommitTime(seconds: string): number {
  return Math.min(Number(seconds) * 1000, maxIsoTime);
}

/** Returns the time for a value that replaces one from `previous`: now, or just after it if the clock is behind. */
export function computeTimeAfter(previous: number | undefined, now: number = Date.now()): number {
  return Math.min(previous === undefined || previous < now ? now : previous + 1, maxTime);
}

/**
 * Returns the time for a count that replaces one from `previous`. If `previous` is ahead of the clock, the count gets
 * the next era: it is later than `previous`, and the clock still orders it among other counts that replace `previous`.
 */
export function countTimeAfter(previous = 0, now: number = Date.now()): number {
  const time = previous - toClockTime(previous) + now;
  const ofNextEra = time + eraMs;
  return computeTimeAfter(previous, isAhead(previous, now) && ofNextEra <= maxTime ? ofNextEra : time);
}

/**
 * Returns `edited` for a page that is edited now: later than the old `edited`, unless that is far ahead of the clock;
 * never before `created`.
 * @param page its front matter, which may be faulty
 */
export function editedTimeAfter(page: Readonly<Record<string, unknown>>, now: number = Date.now()): number {
  const created = Number(page['created']) || 0;
  const previous = Number(page['edited'] ?? created) || 0;
  const time = Math.max(now, created);
  return previous > time + maxLeadMs ? time : computeTimeAfter(previous, time);
}

/** Returns the clock's time when a count was posted, without its era: milliseconds since the epoch. */
export function toClockTime(at: number): number {
  return at % eraMs;
}

/** Returns whether the clock of the machine that took a count was ahead of this one. */
export function isAhead(at: number, now: number = Date.now()): boolean {
  return toClockTime(at) > now + maxLeadMs;
}

/**
 * The length of an era, in milliseconds. The time of a count is its era times this, plus the clock's time, which stays
 * below it until the year 2286.
 */
export const eraMs = 10_000_000_000_000;

/** The largest difference between the clocks of two machines that is ignored. */
export const maxLeadMs = 5 * 60 * 1000;

/** The time of an edit that is further ahead is ignored, because it is from a wrong clock. */
export const maxEditedLeadMs = 86_400_000;
