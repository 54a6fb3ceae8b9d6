import type { Category } from '../../../schemas/types.ts';
import type { ReadonlyCounts } from '../../bot/counts.ts';
import { compareBotIds } from '../../bot/id.ts';
import { sortInSlices, type TimeSlice } from '../../lib/time-slice.ts';
import type { Found } from '../search/run-search.ts';
import { allKinds, type Kind, type SegmentSearch } from '../search/segment.ts';
import type { IndexedBot } from '../store/bot-index.ts';
import { compareSorted, type CutPage, type SortedBot } from './orders.ts';
import { createCheck, type ListQuery } from './parameters.ts';

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
  { parts }: Found,
  query: ListQuery,
  counts: ReadonlyCounts,
  slice: TimeSlice,
): Promise<BestBots> {
  const { after: before = 0, limit = Infinity, nsfw, category, weaker, ...others } = query;
  const start = typeof before === 'number' ? before : 0;
  const after = typeof before === 'number' ? undefined : before;
  const end = start + limit;
  const check = createCheck(others, counts);
  const highest = after === undefined ? maxRank : toRank(Number(after.value));
  const numbers = { total: 0, hidden: 0, weaker: 0, mentions: 0 };
  const categories = new Map<Category, number>();
  const isListed = ({ nsfw: isAdult }: Kind): boolean => nsfw === undefined || nsfw === isAdult;
  const isWanted = (kind: Kind): boolean => category === undefined || category.includes(kind.category);
  const listed = Uint8Array.from(allKinds, (kind) => Number(isListed(kind)));
  const verified = Uint8Array.from(allKinds, (kind) => Number(kind.verified));
  const onPages = Uint8Array.from(allKinds, (kind) => Number(isListed(kind) && isWanted(kind)));
  /** The numbers of strong and weak matches of each kind. */
  const [strong, weak] = [new Uint32Array(allKinds.length), new Uint32Array(allKinds.length)];
  const sizes = new Uint32Array(maxRank + 1);
  let best = 0;
  await forEachRange(parts, slice, (part, from, to) => {
    let most = best;
    for (let i = from; i < to; i++) {
      const number = part.found.bots[i] ?? 0;
      const kind = part.segment.kind(number);
      const bot = part.segment.bot(number);
      const isFound = bot !== undefined && check?.(bot) !== false;
      const steps = Math.min(maxSteps, Math.ceil(part.score(number) * stepsOfOne));
      part.ranks[i] = isFound ? steps * 2 + (verified[kind] ?? 0) : 0;
      if (isFound && listed[kind] === 1) most = Math.max(most, part.coverage(number));
    }
    best = most;
  });
  const least = weaker === true ? 0 : best * minCoverage;
  await forEachRange(parts, slice, (part, from, to) => {
    for (let i = from; i < to; i++) {
      const rank = part.ranks[i] ?? 0;
      if (rank === 0) continue;
      const number = part.found.bots[i] ?? 0;
      const kind = part.segment.kind(number);
      const isWeak = part.coverage(number) < least;
      const matches = isWeak ? weak : strong;
      matches[kind] = (matches[kind] ?? 0) + 1;
      if (isWeak || onPages[kind] === 0) {
        part.ranks[i] = 0;
        continue;
      }
      if (part.isMention(number)) numbers.mentions++;
      sizes[rank] = (sizes[rank] ?? 0) + 1;
    }
  });
  for (const [number, matches] of strong.entries()) {
    const kind = allKinds[number] as Kind;
    if (isListed(kind) && matches > 0)
      categories.set(kind.category, (categories.get(kind.category) ?? 0) + matches);
    if (onPages[number] === 1) {
      numbers.weaker += weak[number] ?? 0;
      numbers.total += matches;
    } else if (kind.nsfw && isWanted(kind) && !isListed(kind)) numbers.hidden += matches;
  }
  // One more than the limit, and the bots of the cursor's own rank, which may be on previous pages.
  const lowest = rankWith(sizes, highest, end + 1 + (after === undefined ? 0 : (sizes[highest] ?? 0)));
  const candidates: SortedBot[] = [];
  const mentioning = new Set<IndexedBot>();
  await forEachRange(parts, slice, (part, from, to) => {
    for (let i = from; i < to; i++) {
      const rank = part.ranks[i] ?? 0;
      if (rank < lowest || rank > highest) continue;
      const number = part.found.bots[i] ?? 0;
      const bot = part.segment.bot(number);
      if (bot === undefined) continue;
      if (part.isMention(number)) mentioning.add(bot);
      const value = sortValue(bot, rank, counts);
      const distance = after && (Number(after.value) - value || compareBotIds(after.id, bot.id));
      if (distance === undefined || distance > 0) candidates.push({ bot, value });
    }
  });
  const wanted = selectHighest(candidates, end + 1);
  const first =
    wanted.length > maxSortedAtOnce ? await sortInSlices(wanted, compareBest) : wanted.toSorted(compareBest);
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

/** Calls back with ranges of `found.bots`, because a call for each of 100,000 would take as long as the search. */
async function forEachRange(
  parts: readonly SegmentSearch[],
  slice: TimeSlice,
  work: (part: SegmentSearch, from: number, to: number) => void,
): Promise<void> {
  for (const part of parts)
    for (let from = 0; from < part.found.size; from += matchesPerCheck) {
      if (slice.isOver) await slice.next();
      work(part, from, Math.min(from + matchesPerCheck, part.found.size));
    }
}

/** Matches between two checks of the clock. */
const matchesPerCheck = 512;

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

/** The best first. */
function compareBest(a: SortedBot, b: SortedBot): number {
  return compareSorted(b, a);
}

/** Sorting this many takes half a millisecond. */
const maxSortedAtOnce = 512;

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
