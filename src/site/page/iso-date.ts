/** Formats a time as RFC 3339 has it, which ends with the year 9999. @param time milliseconds since the epoch */
export function formatIsoDate(time: number): string {
  return new Date(Math.min(time, latest)).toISOString();
}

const latest = Date.UTC(9999, 11, 31, 23, 59, 59);
