import type { Repository } from '../git/repository.ts';
import type { CountReader } from './count-reader.ts';
import { type HourIndexes, hourSpansOf, type Span, spansOf } from './spans.ts';
import {
  believable,
  hourlyDays,
  type PastState,
  readHistory,
  secondsADay,
  secondsAnHour,
} from './timeline.ts';

/** The first hour that is kept: that with which the day 30 days ago began. */
export function firstHour(now: number): number {
  return (Math.floor(now / secondsADay) - hourlyDays) * 24;
}

/** Which trees the days and hours that are over are read from. */
export async function planOf(
  repository: Repository,
  reader: CountReader,
  tip: string | null,
  now: number,
): Promise<{ readonly days: Span[]; readonly hours: Span[] }> {
  const history = tip === null ? [] : believable(await readHistory(repository, tip), now);
  const first = firstHour(now);
  const recent = history.filter(({ time }) => time >= (first - 2 * hourlyDays * 24) * secondsAnHour);
  const indexes = await reader.readHourIndexes(recent.map(({ tree }) => tree));
  const today = Math.floor(now / secondsADay) * secondsADay;
  const days = spansOf(before(history, today), secondsADay, indexes);
  const thisHour = Math.floor(now / secondsAnHour) * secondsAnHour;
  return { days, hours: hoursFrom(first, before(history, thisHour), indexes) };
}

function before(history: readonly PastState[], time: number): PastState[] {
  return history.filter((commit) => commit.time < time);
}

/** The hours from the first on, and the last tree before it as that of the hour before. */
function hoursFrom(first: number, history: readonly PastState[], indexes: HourIndexes): Span[] {
  const base = spansOf(before(history, first * secondsAnHour), secondsADay, indexes).at(-1);
  const spans = hourSpansOf(history, indexes).filter(({ moments }) => (moments[0]?.period ?? 0) >= first);
  if (base === undefined) return spans;
  return [{ ...base, moments: base.moments.map(({ tree }) => ({ period: first - 1, tree })) }, ...spans];
}
