import type { Category } from '../../../schemas/types.ts';
import type { ReadonlyCounts } from '../../bot/counts.ts';
import { compareBotIds } from '../../bot/id.ts';
import { sortInSlices, type TimeSlice } from '../../lib/time-slice.ts';
import type { Found } from '../search/run-search.ts';
import { allKinds, type Kind } from '../search/segment.ts';
import type { IndexedBot } from '../store/bot-index.ts';
import { compareSorted, type CutPage, type SortedBot } from './orders.ts';
import { createCheck, type Cursor, type ListQuery } from './parameters.ts';

/** A page of search results. */
export interface BestBots extends CutPage {
  /** The number of results that were left out because they are for adults. */
  readonly hidden: number;
  /** The number of results that were left out because they match less than half as much of the query as the best match. */
  readonly weaker: number;
  /** The number of results that have the words in their pages and commands only. */
  readonly mentions: number;
  /** The bots among `mentions` that are on the page, and maybe others. */
  readonly mentioning: ReadonlySet<IndexedBot>;
  /** The number of results in each category, selected or not; empty for a list that begins after a cursor. */
  readonly categories: ReadonlyMap<Category, number>;
}

/**
 * Picks a page of search results, best first: by score, then verified bots, then by the size of the count, then by the
 * last edit. Only bots that may be on the page are read one by one, unless there are filters.
 */
export async function selectBest(
  found: Found,
  query: ListQuery,
  counts: ReadonlyCounts,
  slice: TimeSlice,
): Promise<BestBots> {
  const { size, scores, coverage, kinds, mentions } = found;
  const { after: before = 0, limit = size, nsfw, category, weaker, ...others } = query;
  const start = typeof before === 'number' ? before : 0;
  const after = typeof before === 'number' ? undefined : before;
  const end = start + limit;
  const check = createCheck(others, counts);
  const highest = after === undefined ? maxRank : toRank(Number(after.value));
  const numbers = { total: 0, hidden: 0, weaker: 0, mentions: 0 };
  const categories = new Map<Category, number>();
  /** 0 if a bot does not match. */
  const ranks = new Uint16Array(size);
  const sizes = new Uint32Array(maxRank + 1);
  let best = 0;
  await forEachIndex(size, slice, (i) => {
    const bot = check && found.bot(i);
    if (check && (bot === undefined || !check(bot))) return;
    const kind = allKinds[kinds[i] ?? 0] as Kind;
    ranks[i] = Math.min(maxSteps, Math.ceil((scores[i] ?? 0) * stepsOfOne)) * 2 + Number(kind.verified);
    if (nsfw === undefined || nsfw === kind.nsfw) best = Math.max(best, coverage[i] ?? 0);
  });
  const least = weaker === true ? 0 : best * minCoverage;
  await forEachIndex(size, slice, (i) => {
    const rank = ranks[i] ?? 0;
    if (rank === 0) return;
    ranks[i] = 0;
    const kind = allKinds[kinds[i] ?? 0] as Kind;
    const inCategory = category === undefined || category.includes(kind.category);
    const isWeak = (coverage[i] ?? 0) < least;
    if (nsfw !== undefined && nsfw !== kind.nsfw)
      return void (numbers.hidden += Number(kind.nsfw && inCategory && !isWeak));
    if (isWeak) return void (numbers.weaker += Number(inCategory));
    categories.set(kind.category, (categories.get(kind.category) ?? 0) + 1);
    if (!inCategory) return;
    numbers.total++;
    numbers.mentions += mentions[i] ?? 0;
    ranks[i] = rank;
    sizes[rank] = (sizes[rank] ?? 0) + 1;
  });
  // One more than the limit, and the bots of the cursor's own rank, which may be on previous pages.
  const lowest = rankWith(sizes, highest, end + 1 + (after === undefined ? 0 : (sizes[highest] ?? 0)));
  const candidates: SortedBot[] = [];
  const mentioning = new Set<IndexedBot>();
  await forEachIndex(size, slice, (i) => {
    const rank = ranks[i] ?? 0;
    if (rank < lowest || rank > highest) return;
    const bot = found.bot(i);
    if (bot === undefined) return;
    if (mentions[i] === 1) mentioning.add(bot);
    const value = sortValue(bot, rank, counts);
    if (after === undefined || isBehind(bot, value, after)) candidates.push({ bot, value });
  });
  const first = await sortInSlices([...selectHighest(candidates, end + 1)], (a, b) => compareSorted(b, a));
  const page = first.slice(start, end);
  const last = page.at(-1);
  const next = last && first.length > end ? { value: last.value, id: last.bot.id } : undefined;
  return {
    ...numbers,
    bots: page.map(({ bot }) => bot),
    next,
    mentioning,
    categories: new Map([...categories].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Calls back with each number from 0, in slices of time; checks the clock every 256 numbers. */
async function forEachIndex(count: number, slice: TimeSlice, onIndex: (i: number) => void): Promise<void> {
  for (let i = 0; i < count; i++) {
    if (i % 256 === 0 && slice.isOver) await slice.next();
    onIndex(i);
  }
}

function isBehind({ id }: IndexedBot, value: number, after: Cursor): boolean {
  return value < Number(after.value) || (value === after.value && compareBotIds(id, after.id) < 0);
}

/** Returns the `count` bots with the highest values, and all others that equal the lowest of them, unsorted. */
function selectHighest(all: readonly SortedBot[], count: number): readonly SortedBot[] {
  if (all.length <= count) return all;
  const least = Float64Array.from(all, ({ value }) => Number(value)).toSorted()[all.length - count] ?? 0;
  return all.filter(({ value }) => Number(value) >= least);
}

/** Returns the highest rank such that at least `count` bots have it or a higher one. */
function rankWith(sizes: Uint32Array, highest: number, count: number): number {
  let above = 0;
  for (let rank = highest; rank > 0; rank--) if ((above += sizes[rank] ?? 0) >= count) return rank;
  return 1;
}

/** Below this share of the best match's coverage, a match is weak. */
const minCoverage = 0.5;

/** Scores are rounded to this many steps per 1. */
const stepsOfOne = 100;
const maxSteps = 2 ** 10 - 1;
/** A rank is a score and, in its last bit, whether the bot is verified. */
const maxRank = maxSteps * 2 + 1;

/** Packs the sort order into one number: 11 bits of rank, 6 of the count, 26 of minutes. */
function sortValue({ id, facts }: IndexedBot, rank: number, counts: ReadonlyCounts): number {
  const size = Math.round(Math.log2(1 + (counts.count(id) ?? 0)));
  const minutes = Math.min(2 ** 26 - 1, Math.max(0, Math.floor(facts.edited / 60_000)));
  return (rank * 64 + size) * 2 ** 26 + minutes;
}

function toRank(value: number): number {
  return Math.min(maxRank, Math.max(0, Math.floor(value / (64 * 2 ** 26))));
}
