import type { ReadonlyCounts } from '../../bot/counts.ts';
import { type BotId, compareBotIds } from '../../bot/id.ts';
import { findFirstPlace } from '../store/binary-search.ts';
import type { IndexedBot } from '../store/bot-index.ts';
import type { FilterValues } from './filters.ts';

/** Which bots a list has, in which order, and which page of it. */
export interface Selection extends FilterValues {
  /** Words to search for. */
  readonly q?: string;
  /** Whether a search finds bots, too, that have little of what the best one has of the words. */
  readonly weaker?: boolean | undefined;
  /** By id where left out; by how well the words fit, the best first, where there is a `q`. */
  readonly sort?: Sort;
  readonly limit?: number;
  /** Where the page before ended. */
  readonly after?: Cursor;
}

/** What lists can be sorted by, in ascending order. */
export const orders = {
  id: { valueOf: () => () => 0 },
  created: { valueOf: () => (bot) => bot.facts.created },
  edited: { valueOf: () => (bot) => bot.facts.edited },
  name: { valueOf: () => (bot) => bot.facts.nameKey },
  random: { valueOf: () => (bot) => bot.facts.random },
  count: { valueOf: (counts) => (bot) => counts.count(bot.id) ?? -1, isByCount: true },
  growth: { valueOf: (counts) => (bot) => counts.growth(bot.id) ?? -2, isByCount: true },
} as const satisfies Readonly<
  Record<string, { valueOf: (counts: ReadonlyCounts) => ValueOf; isByCount?: true }>
>;

export type SortKey = keyof typeof orders;

export const sortKeys = Object.keys(orders) as SortKey[];

export interface Sort {
  readonly key: SortKey;
  readonly descending: boolean;
}

/** The last bot of a page and what it was sorted by: the next page begins behind it, whatever changed since. */
export interface Cursor {
  readonly value: SortValue;
  readonly id: BotId;
}

export type SortValue = string | number;

export interface PageOfBots {
  readonly bots: readonly IndexedBot[];
  /** How many bots there are with all pages together. */
  readonly total: number;
  /** Where the next page begins; undefined when this is the last. */
  readonly next: Cursor | undefined;
  /** The words that were searched for, where no bot has those of the query. */
  readonly corrected?: string | undefined;
}

/** What bots are sorted by; bots of one value by id. */
export type ValueOf = (bot: IndexedBot) => SortValue;

/** Cuts a page from all bots of a list in their order, as `compareSorted` has it. */
export function cutPage(
  bots: readonly IndexedBot[],
  valueOf: ValueOf,
  descending: boolean,
  { after, limit = bots.length }: Selection,
): PageOfBots {
  const start = after === undefined ? 0 : findFirstBehind(bots, after, valueOf, descending);
  const page = bots.slice(start, start + limit);
  const last = page.at(-1);
  const next = last && start + limit < bots.length ? { value: valueOf(last), id: last.id } : undefined;
  return { bots: page, total: bots.length, next };
}

/** The first `count` of the bots that are added, in one order. */
export class FirstBots {
  /** In their order. */
  readonly sorted: SortedBot[] = [];
  readonly #valueOf: ValueOf;
  readonly #descending: boolean;
  readonly #count: number;

  constructor(valueOf: ValueOf, descending: boolean, count: number) {
    this.#valueOf = valueOf;
    this.#descending = descending;
    this.#count = count;
  }

  /** Adds a bot; of two with the same value, the one that is added first comes first. */
  add(bot: IndexedBot): void {
    const value = this.#valueOf(bot);
    const first = this.sorted;
    const worst = first.at(-1);
    if (worst && first.length === this.#count && !this.#isBefore(value, worst.value)) return;
    const place = first.findIndex((other) => this.#isBefore(value, other.value));
    first.splice(place === -1 ? first.length : place, 0, { bot, value });
    if (first.length > this.#count) first.pop();
  }

  #isBefore(value: SortValue, other: SortValue): boolean {
    return this.#descending ? value > other : value < other;
  }
}

/** Returns the bots of lists in the same order, each once, from the highest value down. */
export function mergeFirst(lists: readonly FirstBots[]): IndexedBot[] {
  const sorted = lists.flatMap((list) => list.sorted).toSorted((a, b) => compareSorted(b, a));
  return [...new Set(sorted.map(({ bot }) => bot))];
}

/** A bot and what it is sorted by. */
export interface SortedBot {
  readonly bot: IndexedBot;
  readonly value: SortValue;
}

/** Compares bots by what they are sorted by, then by id. */
export function compareSorted(a: SortedBot, b: SortedBot): number {
  return compareValues(a.value, a.bot.id, b.value, b.bot.id);
}

function compareValues(a: SortValue, aId: BotId, b: SortValue, bId: BotId): number {
  if (a === b) return compareBotIds(aId, bId);
  return a < b ? -1 : 1;
}

function findFirstBehind(
  sorted: readonly IndexedBot[],
  { value, id }: Cursor,
  valueOf: ValueOf,
  descending: boolean,
): number {
  return findFirstPlace(sorted, (bot) => {
    const order = compareValues(valueOf(bot), bot.id, value, id);
    return (descending ? -order : order) <= 0;
  });
}
