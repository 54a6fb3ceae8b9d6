import { findRankedGrowth, type ReadonlyCounts } from '../../bot/counts.ts';
import { type BotId, compareBotIds } from '../../bot/id.ts';
import { findFirstPlace } from '../../lib/binary-search.ts';
import { forEachInSlices, sortInSlices } from '../../lib/time-slice.ts';
import type { BotIndex, IndexedBot } from '../store/bot-index.ts';

/** The sort keys of lists, with their values in ascending order. A bot without a count comes before bots with one. */
const orders = {
  id: () => 0,
  created: ({ facts }) => facts.created,
  edited: ({ facts }) => facts.edited,
  name: ({ facts }) => facts.sortName,
  random: ({ facts }) => facts.random,
  count: ({ id }, counts) => counts.count(id) ?? -1,
  growth: ({ id }, counts) => findRankedGrowth(counts, id) ?? -2,
} satisfies Readonly<Record<string, (bot: IndexedBot, counts: ReadonlyCounts) => SortValue>>;

export type SortKey = keyof typeof orders;

export const sortKeys = Object.keys(orders) as SortKey[];

/**
 * The last bot of a page and its sort value: the next page begins after it, even if that bot was removed. A bot whose
 * value has changed since may be on both pages or on neither.
 */
export interface Cursor {
  readonly value: SortValue;
  readonly id: BotId;
}

export type SortValue = string | number;

/** Returns the sort value of a bot; bots of the same value are sorted by id. */
export type ValueOf = (bot: IndexedBot) => SortValue;

/**
 * The index in every order that lists have. Orders are kept, and updated when next needed: sorting an almost sorted
 * list takes linear time.
 */
export class SortedIndexes {
  readonly #bots: BotIndex;
  readonly #counts: ReadonlyCounts;
  readonly #kept = new Map<SortKey, { readonly version: string; readonly bots: readonly IndexedBot[] }>();

  constructor(bots: BotIndex, counts: ReadonlyCounts) {
    this.#bots = bots;
    this.#counts = counts;
  }

  /** Returns all bots in ascending order; the same array while the version of the order is the same. */
  async by(key: SortKey): Promise<readonly IndexedBot[]> {
    const version = this.version(key);
    const kept = this.#kept.get(key);
    if (kept?.version === version) return kept.bots;
    const byId = await this.#bots.sorted();
    const bots = key === 'id' ? byId : await this.sort(key, this.#update(kept?.bots ?? [], byId));
    this.#kept.set(key, { version, bots });
    return bots;
  }

  /** Sorts bots in ascending order. */
  async sort(key: SortKey, bots: Iterable<IndexedBot>): Promise<IndexedBot[]> {
    const valueOf = this.valueOf(key);
    const sorted: SortedBot[] = [];
    // Reads the value once, because it may change while the sort pauses.
    await forEachInSlices(bots, (bot) => void sorted.push({ bot, value: valueOf(bot) }));
    return (await sortInSlices(sorted, compareSorted)).map(({ bot }) => bot);
  }

  /** Returns the current version of an order. Counts change all the time: their order is sorted at most once a second. */
  version(key: SortKey): string {
    const isByCount = key === 'count' || key === 'growth';
    const second = isByCount && this.#counts.version > 0 ? Math.floor(Date.now() / 1000) : 0;
    return `${this.#bots.version} ${second}`;
  }

  /** Returns the function that reads the sort value of a bot. */
  valueOf(key: SortKey): ValueOf {
    const order = orders[key];
    return (bot) => order(bot, this.#counts);
  }

  /** Yields all bots: first the known ones in their previous order, then the new ones. */
  *#update(before: readonly IndexedBot[], all: readonly IndexedBot[]): Generator<IndexedBot> {
    const others = new Set(all);
    for (const { id } of before) {
      const bot = this.#bots.get(id);
      if (bot && others.delete(bot)) yield bot;
    }
    yield* others;
  }
}

/** A page of a list. */
export interface CutPage {
  readonly bots: readonly IndexedBot[];
  /** The number of bots on all pages together. */
  readonly total: number;
  /** Where the next page begins; undefined on the last page. */
  readonly next: Cursor | undefined;
}

/** Cuts a page from the bots of a list, sorted as by `compareSorted`. */
export function cutPage(
  bots: readonly IndexedBot[],
  valueOf: ValueOf,
  descending: boolean,
  { after = 0, limit = bots.length }: { readonly after?: Cursor | number; readonly limit?: number },
): CutPage {
  const isBefore = (bot: IndexedBot, { value, id }: Cursor): boolean => {
    const order = compareValues(valueOf(bot), bot.id, value, id);
    return descending ? order >= 0 : order <= 0;
  };
  const start = typeof after === 'number' ? after : findFirstPlace(bots, (bot) => isBefore(bot, after));
  const page = bots.slice(start, start + limit);
  const last = page.at(-1);
  const next = last && start + limit < bots.length ? { value: valueOf(last), id: last.id } : undefined;
  return { bots: page, total: bots.length, next };
}

/** A bot and its sort value. */
export interface SortedBot {
  readonly bot: IndexedBot;
  readonly value: SortValue;
}

/** Compares bots by their sort values, then by id. */
export function compareSorted(a: SortedBot, b: SortedBot): number {
  return compareValues(a.value, a.bot.id, b.value, b.bot.id);
}

function compareValues(a: SortValue, aId: BotId, b: SortValue, bId: BotId): number {
  if (a === b) return compareBotIds(aId, bId);
  return a < b ? -1 : 1;
}
