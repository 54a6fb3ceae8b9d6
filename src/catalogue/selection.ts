import { type BotId, compareBotIds } from '../bot/id.ts';
import type { Locale } from '../bot/locale.ts';
import type { Category } from '../bot/schema-types.ts';
import type { IndexedBot } from './bot-index.ts';

/** What a list is asked for. */
export interface Selection {
  /** Words that every bot must have in its names and descriptions. */
  readonly q?: string;
  readonly categories?: readonly Category[];
  readonly nsfw?: boolean;
  readonly verified?: boolean;
  readonly author?: string;
  /** A language the bot must have a page in. */
  readonly locale?: Locale;
  /** By id where left out; by how well the words fit where there is a `q`. */
  readonly sort?: Sort;
  readonly limit?: number;
  /** Where the page before ended. */
  readonly after?: Cursor;
}

export const sortKeys = ['id', 'created', 'edited', 'name', 'random', 'count'] as const;

export interface Sort {
  readonly key: (typeof sortKeys)[number];
  readonly descending: boolean;
}

/** The last bot of a page and what it was sorted by: the next page begins behind it, whatever changed since. */
export interface Cursor {
  readonly value: string | number;
  readonly id: BotId;
}

export interface Selected {
  readonly bots: readonly IndexedBot[];
  /** How many bots there are with all pages together. */
  readonly total: number;
  /** Where the next page begins; undefined when this is the last. */
  readonly next: Cursor | undefined;
}

/**
 * Picks and orders bots.
 * @param bots in numeric id order
 * @param scores how well each bot fits `q`; needed with `q` only
 * @param counts of servers; a bot without one counts as less than none
 */
export function select(
  bots: readonly IndexedBot[],
  selection: Selection,
  scores: ReadonlyMap<BotId, number> | undefined,
  counts: (id: BotId) => number | undefined,
): Selected {
  const matching = bots.filter(
    (bot) => matches(bot, selection) && (scores === undefined || scores.has(bot.id)),
  );
  const order = orderOf(selection, scores, counts);
  const sorted = order.isIdOrder ? matching : sortBy(matching, order);
  const { after, limit = sorted.length } = selection;
  const start = after === undefined ? 0 : firstBehind(sorted, after, order);
  const page = start === 0 && limit >= sorted.length ? sorted : sorted.slice(start, start + limit);
  const last = page.at(-1);
  const next =
    last && start + limit < sorted.length ? { value: order.valueOf(last), id: last.id } : undefined;
  return { bots: page, total: sorted.length, next };
}

interface Order {
  readonly isIdOrder: boolean;
  readonly descending: boolean;
  valueOf(bot: IndexedBot): string | number;
}

function matches({ facts }: IndexedBot, selection: Selection): boolean {
  const { categories, nsfw, verified, author, locale } = selection;
  return (
    (categories === undefined || categories.includes(facts.category)) &&
    (nsfw === undefined || facts.nsfw === nsfw) &&
    (verified === undefined || facts.verified === verified) &&
    (author === undefined || facts.authors.includes(author)) &&
    (locale === undefined || facts.locales.includes(locale))
  );
}

function orderOf(
  { sort }: Selection,
  scores: ReadonlyMap<BotId, number> | undefined,
  counts: (id: BotId) => number | undefined,
): Order {
  if (sort === undefined && scores !== undefined) {
    return { isIdOrder: false, descending: true, valueOf: ({ id }) => scores.get(id) ?? 0 };
  }
  const { key, descending } = sort ?? { key: 'id', descending: false };
  switch (key) {
    case 'id':
      return { isIdOrder: !descending, descending, valueOf: () => 0 };
    case 'name':
      return {
        isIdOrder: false,
        descending,
        valueOf: ({ facts }) => facts.name.normalize('NFKC').toLowerCase(),
      };
    case 'count':
      return { isIdOrder: false, descending, valueOf: ({ id }) => counts(id) ?? -1 };
    case 'created':
    case 'edited':
    case 'random':
      return { isIdOrder: false, descending, valueOf: ({ facts }) => facts[key] };
  }
}

/** Values are worked out once a bot, not once a comparison. */
function sortBy(bots: readonly IndexedBot[], order: Order): IndexedBot[] {
  const keyed = bots.map((bot) => ({ bot, value: order.valueOf(bot) }));
  keyed.sort((a, b) => compare(a.value, a.bot.id, b.value, b.bot.id, order));
  return keyed.map(({ bot }) => bot);
}

function firstBehind(sorted: readonly IndexedBot[], { value, id }: Cursor, order: Order): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const bot = sorted[middle];
    if (bot && compare(order.valueOf(bot), bot.id, value, id, order) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compare(
  a: string | number,
  aId: BotId,
  b: string | number,
  bId: BotId,
  { descending, isIdOrder }: Order,
): number {
  const ascending = isIdOrder || a === b ? compareBotIds(aId, bId) : a < b ? -1 : 1;
  return descending ? -ascending : ascending;
}
