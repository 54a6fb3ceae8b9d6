import type { ReadonlyCounts } from '../../bot/counts.ts';
import { compareBotIds } from '../../bot/id.ts';
import type { Category } from '../../bot/schema-types.ts';
import { sortInSlices } from '../../concurrency/in-slices.ts';
import type { TimeSlice } from '../../concurrency/time-slice.ts';
import type { IndexedBot } from '../index/bot-index.ts';
import type { Found } from '../search/run-search.ts';
import type { Kind } from '../search/segment.ts';
import {
  activeSince,
  compareSorted,
  type Cursor,
  matches,
  type PageOfBots,
  type Selection,
  type SortedBot,
} from './selection.ts';

/** A page of what a search found. */
export interface BestBots extends PageOfBots {
  /** How many more were found that are for adults and were not asked for. */
  readonly hidden: number;
  /** How many were found of each category, whichever are asked for. */
  readonly categories: ReadonlyMap<Category, number>;
}

/**
 * Picks a page of what a search found, the best first: by score, then verified ones, then by the size of the count, then
 * what was edited last. Only bots that may be on the page are looked at one by one, unless there are filters.
 */
export async function selectBest(
  { bots, scores, kinds: kindNumbers, allKinds: kinds }: Found,
  selection: Selection,
  counts: ReadonlyCounts,
  slice: TimeSlice,
): Promise<BestBots> {
  const { after, limit = bots.length, nsfw, categories, ...others } = selection;
  const since = activeSince(others);
  const isFiltered = since > 0 || filterKeys.some((key) => others[key] !== undefined);
  const highest = after === undefined ? mostSteps : stepOf(Number(after.value));
  const isWanted = (bot: IndexedBot): boolean =>
    matches(bot, others) && (since === 0 || (counts.reportedAt(bot.id) ?? 0) >= since);
  const matching = new Uint32Array(bots.length);
  let total = 0;
  let hidden = 0;
  const perKind = kinds.map(() => 0);
  const sizes = new Uint32Array(mostSteps + 1);
  await forEachIndex(bots.length, slice, (i) => {
    if (isFiltered && !isWanted(bots[i] as IndexedBot)) return;
    const number = kindNumbers[i] ?? 0;
    const kind = kinds[number] as Kind;
    const inCategory = categories === undefined || categories.includes(kind.category);
    if (nsfw !== undefined && nsfw !== kind.nsfw) return void (hidden += Number(inCategory));
    perKind[number] = (perKind[number] ?? 0) + 1;
    if (!inCategory) return;
    matching[total++] = i;
    const step = scoreStep(scores[i] ?? 0);
    sizes[step] = (sizes[step] ?? 0) + 1;
  });
  // One more than the limit, and those of the cursor's own score that may be on pages before.
  const lowest = stepWith(sizes, highest, limit + 1 + (after === undefined ? 0 : (sizes[highest] ?? 0)));
  const candidates: SortedBot[] = [];
  await forEachIndex(total, slice, (place) => {
    const i = matching[place] ?? 0;
    const step = scoreStep(scores[i] ?? 0);
    if (step < lowest || step > highest) return;
    const bot = bots[i] as IndexedBot;
    const value = sortValue(bot, step, counts);
    if (after === undefined || isBehind(bot, value, after)) candidates.push({ bot, value });
  });
  const highestOnes = highestOf(candidates, limit + 1);
  const first =
    highestOnes.length <= fewToSort
      ? highestOnes.toSorted(descending)
      : await sortInSlices(highestOnes, descending);
  const page = first.slice(0, limit);
  const last = page.at(-1);
  const next = last && first.length > limit ? { value: last.value, id: last.bot.id } : undefined;
  return {
    bots: page.map(({ bot }) => bot),
    total,
    next,
    hidden: nsfw === false ? hidden : 0,
    categories: sumOfCategories(kinds, perKind),
  };
}

function sumOfCategories(kinds: readonly Kind[], perKind: readonly number[]): Map<Category, number> {
  const sums = new Map<Category, number>();
  for (const [i, { category }] of kinds.entries())
    if (perKind[i] !== 0) sums.set(category, (sums.get(category) ?? 0) + (perKind[i] ?? 0));
  return new Map([...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function descending(a: SortedBot, b: SortedBot): number {
  return compareSorted(b, a);
}

/** Sorting so many takes about a millisecond. */
const fewToSort = 1000;

const filterKeys = ['verified', 'openSource', 'author', 'locale'] as const;

/** Calls back with each number from 0, one slice of time after the other; the clock is looked at now and then. */
async function forEachIndex(count: number, slice: TimeSlice, onIndex: (i: number) => void): Promise<void> {
  for (let i = 0; i < count; i++) {
    if (i % 256 === 0 && slice.isOver) await slice.next();
    onIndex(i);
  }
}

function isBehind({ id }: IndexedBot, value: number, after: Cursor): boolean {
  return value < Number(after.value) || (value === after.value && compareBotIds(id, after.id) < 0);
}

/** So many with the highest values, and all others that are equal to the last of them; in no order. */
function highestOf(all: readonly SortedBot[], count: number): readonly SortedBot[] {
  if (all.length <= count) return all;
  const least = Float64Array.from(all, ({ value }) => Number(value)).toSorted()[all.length - count] ?? 0;
  return all.filter(({ value }) => Number(value) >= least);
}

/** The step, from the highest down, that so many bots are at or above. */
function stepWith(sizes: Uint32Array, highest: number, count: number): number {
  let above = 0;
  for (let step = highest; step > 0; step--) if ((above += sizes[step] ?? 0) >= count) return step;
  return 0;
}

function scoreStep(score: number): number {
  return Math.min(mostSteps, Math.ceil(score * stepsOfOne));
}

/** Scores that differ by less than a step are the same. */
const stepsOfOne = 64;
const mostSteps = 2 ** 13 - 1;

/** One number to sort by, made of whole numbers: 13 bits of score, 1 of verified, 6 of the count, 26 of minutes. */
function sortValue({ id, facts }: IndexedBot, step: number, counts: ReadonlyCounts): number {
  const size = Math.round(Math.log2(1 + (counts.count(id) ?? 0)));
  const minutes = Math.min(2 ** 26 - 1, Math.max(0, Math.floor(facts.edited / 60_000)));
  return ((step * 2 + Number(facts.verified)) * 64 + size) * 2 ** 26 + minutes;
}

function stepOf(value: number): number {
  return Math.min(mostSteps, Math.max(0, Math.floor(value / (2 * 64 * 2 ** 26))));
}
