import { type BotId, compareBotIds } from '../../bot/id.ts';
import type { Locale } from '../../bot/locale.ts';
import type { Category } from '../../bot/schema-types.ts';
import { forEachInSlices } from '../../lib/in-slices.ts';
import { findFirstPlace } from '../store/binary-search.ts';
import type { IndexedBot } from '../store/bot-index.ts';

/** Which bots a list has, in which order, and which page of it. */
export interface Selection {
  /** Words that every bot must have in its names and descriptions. */
  readonly q?: string;
  readonly categories?: readonly Category[];
  readonly nsfw?: boolean;
  readonly verified?: boolean;
  readonly openSource?: boolean;
  readonly author?: string;
  /** A language the bot must have a page in. */
  readonly locale?: Locale;
  /** In how many days, up to now, a count must have been posted. */
  readonly activeDays?: number;
  /** By id where left out; by how well the words fit, the best first, where there is a `q`. */
  readonly sort?: Sort;
  readonly limit?: number;
  /** Where the page before ended. */
  readonly after?: Cursor;
}

export const sortKeys = ['id', 'created', 'edited', 'name', 'random', 'count', 'growth'] as const;

export interface Sort {
  readonly key: (typeof sortKeys)[number];
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
}

/** Returns since when a bot must have posted a count, in milliseconds since the epoch; 0 where it need not. */
export function computeActiveSince({ activeDays }: Pick<Selection, 'activeDays'>): number {
  return activeDays === undefined ? 0 : Date.now() - activeDays * 24 * 60 * 60 * 1000;
}

/** What bots are sorted by; bots of one value by id. */
export type ValueOf = (bot: IndexedBot) => SortValue;

/**
 * Picks a page of bots.
 * @param sorted every bot in the order of the list, as `compareSorted` has it
 * @param valueOf what they are sorted by
 * @param found the bots that fit `q`; needed with `q` only
 */
export async function select(
  sorted: readonly IndexedBot[],
  valueOf: ValueOf,
  descending: boolean,
  selection: Selection,
  found?: ReadonlySet<IndexedBot>,
): Promise<PageOfBots> {
  const matching = await filter(sorted, selection, found);
  const { after, limit = matching.length } = selection;
  const start = after === undefined ? 0 : findFirstBehind(matching, after, valueOf, descending);
  const bots = matching.slice(start, start + limit);
  const last = bots.at(-1);
  const next = last && start + limit < matching.length ? { value: valueOf(last), id: last.id } : undefined;
  return { bots, total: matching.length, next };
}

/** Returns the bots that match: the list itself where there is no filter. */
async function filter(
  bots: readonly IndexedBot[],
  selection: Selection,
  found: ReadonlySet<IndexedBot> | undefined,
): Promise<readonly IndexedBot[]> {
  if (found === undefined && filterKeys.every((key) => selection[key] === undefined)) return bots;
  const matching: IndexedBot[] = [];
  await forEachInSlices(bots, (bot) => {
    if (matches(bot, selection) && (found === undefined || found.has(bot))) matching.push(bot);
  });
  return matching;
}

/** What `matches` looks at. */
const filterKeys = ['categories', 'nsfw', 'verified', 'openSource', 'author', 'locale'] as const;

/**
 * Returns the first `count` bots that `select` returns, without sorting all: for the beginning of a list whose order
 * changes all the time.
 * @param bots every bot by id
 */
export async function selectFirst(
  bots: readonly IndexedBot[],
  valueOf: ValueOf,
  descending: boolean,
  selection: Selection,
  count: number,
): Promise<IndexedBot[]> {
  const first = new FirstBots(valueOf, descending, count);
  // Later ids were made later: in this direction few bots push others out.
  await forEachInSlices(descending ? bots.toReversed() : bots, (bot) => {
    if (matches(bot, selection)) first.add(bot);
  });
  return first.bots;
}

/** The first `count` of the bots that are added, in one order. */
export class FirstBots {
  readonly #valueOf: ValueOf;
  readonly #descending: boolean;
  readonly #count: number;
  readonly #first: SortedBot[] = [];

  constructor(valueOf: ValueOf, descending: boolean, count: number) {
    this.#valueOf = valueOf;
    this.#descending = descending;
    this.#count = count;
  }

  get bots(): IndexedBot[] {
    return this.sorted.map(({ bot }) => bot);
  }

  get sorted(): readonly SortedBot[] {
    return this.#first;
  }

  /** Adds a bot; of two with the same value, the one that is added first comes first. */
  add(bot: IndexedBot): void {
    const value = this.#valueOf(bot);
    const first = this.#first;
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

/** Whether a bot passes all filters but the words. */
export function matches({ facts }: IndexedBot, selection: Selection): boolean {
  const { categories, nsfw, verified, openSource, author, locale } = selection;
  return (
    (categories === undefined || categories.includes(facts.category)) &&
    (nsfw === undefined || facts.nsfw === nsfw) &&
    (verified === undefined || facts.verified === verified) &&
    (openSource === undefined || facts.openSource === openSource) &&
    (author === undefined || facts.authors.includes(author)) &&
    (locale === undefined || facts.locales.includes(locale))
  );
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
