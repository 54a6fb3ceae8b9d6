import type { Category } from '../../../schemas/types.ts';
import type { ReadonlyCounts } from '../../bot/counts.ts';
import { compareBotIds } from '../../bot/id.ts';
import { sortInSlices, type TimeSlice } from '../../lib/time-slice.ts';
import type { Found } from '../search/run-search.ts';
import { allKinds, type Kind } from '../search/segment.ts';
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
  const isListed = ({ nsfw: isAdult }: Kind): boolean => nsfw === undefined || nsfw === isAdult;
  const isWanted = (kind: Kind): boolean => category === undefined || category.includes(kind.category);
  const onPages = Uint8Array.from(allKinds, (kind) => Number(isListed(kind) && isWanted(kind)));
  /** The numbers of strong and weak matches of each kind. */
  const [strong, weak] = [new Uint32Array(allKinds.length), new Uint32Array(allKinds.length)];
  /** 0 if a bot does not match. */
  const ranks = new Uint16Array(size);
  const sizes = new Uint32Array(maxRank + 1);
  let best = 0;
  // Loops, because a function for each of a hundred thousand matches would take as long as the search.
  for (let i = 0; i < size; i++) {
    if (i % matchesPerCheck === 0 && slice.isOver) await slice.next();
    const bot = check && found.bot(i);
    if (check && (bot === undefined || !check(bot))) continue;
    const kind = allKinds[kinds[i] ?? 0] as Kind;
    ranks[i] = Math.min(maxSteps, Math.ceil((scores[i] ?? 0) * stepsOfOne)) * 2 + Number(kind.verified);
    if (isListed(kind)) best = Math.max(best, coverage[i] ?? 0);
  }
  const least = weaker === true ? 0 : best * minCoverage;
  for (let i = 0; i < size; i++) {
    if (i % matchesPerCheck === 0 && slice.isOver) await slice.next();
    const [rank, kind] = [ranks[i] ?? 0, kinds[i] ?? 0];
    if (rank === 0) continue;
    const isWeak = (coverage[i] ?? 0) < least;
    const matches = isWeak ? weak : strong;
    matches[kind] = (matches[kind] ?? 0) + 1;
    if (isWeak || onPages[kind] === 0) {
      ranks[i] = 0;
      continue;
    }
    numbers.mentions += mentions[i] ?? 0;
    sizes[rank] = (sizes[rank] ?? 0) + 1;
  }
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
  for (let i = 0; i < size; i++) {
    if (i % matchesPerCheck === 0 && slice.isOver) await slice.next();
    const rank = ranks[i] ?? 0;
    if (rank < lowest || rank > highest) continue;
    const bot = found.bot(i);
    if (bot === undefined) continue;
    if (mentions[i] === 1) mentioning.add(bot);
    const value = sortValue(bot, rank, counts);
    const distance = after && (Number(after.value) - value || compareBotIds(after.id, bot.id));
    if (distance === undefined || distance > 0) candidates.push({ bot, value });
  }
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

/** Matches between two checks of the clock. */
const matchesPerCheck = 256;

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
