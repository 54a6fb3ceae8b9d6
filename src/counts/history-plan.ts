import type { Repository } from '../git/repository.ts';
import type { CountReader } from './count-reader.ts';
import { type HourIndexes, listHourSpans, type Span, listSpans } from './spans.ts';
import {
  withPlausibleTimes,
  hourlyDays,
  type PastState,
  readHistory,
  secondsPerDay,
  secondsPerHour,
} from './timeline.ts';

/** The first hour that is kept: that with which the day 30 days ago began. */
export function computeFirstHour(now: number): number {
  return (Math.floor(now / secondsPerDay) - hourlyDays) * 24;
}

/** Which trees the days and hours that are over are read from. */
export async function planReading(
  repository: Repository,
  reader: CountReader,
  tip: string | null,
  now: number,
): Promise<{ readonly days: Span[]; readonly hours: Span[] }> {
  const history = tip === null ? [] : withPlausibleTimes(await readHistory(repository, tip), now);
  const first = computeFirstHour(now);
  const recent = history.filter(({ time }) => time >= (first - 2 * hourlyDays * 24) * secondsPerHour);
  const indexes = await reader.readHourIndexes(recent.map(({ tree }) => tree));
  const today = Math.floor(now / secondsPerDay) * secondsPerDay;
  const days = listSpans(selectBefore(history, today), secondsPerDay, indexes);
  const thisHour = Math.floor(now / secondsPerHour) * secondsPerHour;
  return { days, hours: selectHours(first, selectBefore(history, thisHour), indexes) };
}

function selectBefore(history: readonly PastState[], time: number): PastState[] {
  return history.filter((commit) => commit.time < time);
}

/** The hours from the first on, and the last tree before it as that of the hour before. */
function selectHours(first: number, history: readonly PastState[], indexes: HourIndexes): Span[] {
  const base = listSpans(selectBefore(history, first * secondsPerHour), secondsPerDay, indexes).at(-1);
  const spans = listHourSpans(history, indexes).filter(({ moments }) => (moments[0]?.period ?? 0) >= first);
  if (base === undefined) return spans;
  return [{ ...base, moments: base.moments.map(({ tree }) => ({ period: first - 1, tree })) }, ...spans];
}
