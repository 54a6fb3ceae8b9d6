import { type BotId, compareBotIds } from '../bot/id.ts';
import { forEachInSlices, sortInSlices } from '../lib/time-slice.ts';
import { toClockTime } from './state.ts';

/** The count that a bot had at the end of a day. */
export type CountOfDay = readonly [id: BotId, count: number];

/** The folder of the state ref that has a file for each day. */
export const daysFolder = 'days';

const msPerDay = 86_400_000;

/** Returns the day (UTC), since the epoch, of a count's time. */
export function toDay(at: number): number {
  return Math.floor(toClockTime(at) / msPerDay);
}

/** Returns the path of a day's file in the state ref: `days/2026/11-22`. */
export function toDayPath(day: number): string {
  const date = new Date(day * msPerDay).toISOString().slice(0, 10);
  return `${daysFolder}/${date.replace('-', '/')}`;
}

/** Returns whether a path in the state ref is that of a day's file. */
export function isOfDay(path: string): boolean {
  return path.startsWith(`${daysFolder}/`);
}

/** Returns the day of a path below `daysFolder`, as `2026/11-22`; undefined where it is of no day. */
export function parseDayPath(path: string): number | undefined {
  const time = /^\d{4}\/\d\d-\d\d$/.test(path) ? Date.parse(path.replace('/', '-')) : Number.NaN;
  return Number.isNaN(time) ? undefined : time / msPerDay;
}

/** Returns the text of a day's file: a line for each bot, in the order of the ids. */
export async function writeDay(counts: readonly CountOfDay[]): Promise<string> {
  const sorted = await sortInSlices(counts, ([a], [b]) => compareBotIds(a, b));
  return sorted.map(([id, count]) => `${id} ${count}\n`).join('');
}

/** Yields the counts of a day's file. A line that is none is left out. */
export function* parseDay(text: string): Generator<CountOfDay> {
  for (const [, id = '', count] of text.matchAll(/^(\d{1,20}) (\d{1,11})$/gm))
    yield [id as BotId, Number(count)];
}

/**
 * Merges the files that two machines wrote of one day: each bot has the larger of its counts, so the order of merges makes
 * no difference. Returns the first text where the second adds nothing to it.
 */
export async function mergeDays(known: string, other: string): Promise<string> {
  const counts = new Map<BotId, number>();
  let isChanged = false;
  await forEachInSlices(parseDay(known), ([id, count]) => void counts.set(id, count), 'service');
  const add = ([id, count]: CountOfDay): void => {
    if (count <= (counts.get(id) ?? -1)) return;
    counts.set(id, count);
    isChanged = true;
  };
  await forEachInSlices(parseDay(other), add, 'service');
  return isChanged ? await writeDay([...counts]) : known;
}
