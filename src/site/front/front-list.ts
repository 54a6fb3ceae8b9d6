import { setTimeout as wait } from 'node:timers/promises';
import type { Category } from '../../../schemas/types.ts';
import type { Locale } from '../../bot/locale.ts';
import type { CatalogueSizes, PageOfBots } from '../../catalogue/lists/lists.ts';
import type { ListQuery } from '../../catalogue/lists/parameters.ts';
import { type IndexedBot, parseListElement } from '../../catalogue/store/bot-index.ts';
import { isIn } from '../language/locales.ts';
import { listNamedAuthors } from '../page/elements.tsx';
import type { SiteParts } from '../page/site-parts.ts';
import type { ListedBot } from './card.tsx';
import type { LinkedCollection } from './collections.ts';
import { formatFrontPath, type FrontQuery, isNarrowed, noQuery, sortOf, sorts } from './front-query.ts';

/** One page of a list of bots. */
export interface FrontList extends Omit<PageOfBots, 'next' | 'localesOf'> {
  /** The languages in which each bot matches a search; empty without a search, and if only its page matches. */
  readonly matched: readonly (readonly Locale[])[];
  readonly pages: number;
  /** How many bots of each category there are, whatever the query. */
  readonly allCategories: ReadonlyMap<Category, number>;
  /** The languages that bots have a page in, those of most bots first. */
  readonly languages: readonly Locale[];
  /** How many bots there are without its filters, where they leave none. */
  readonly withoutFilters: number;
}

/** A bot as a reader sees it. */
export interface ShownEntry extends Pick<ListedBot, 'locale' | 'namesLanguage'> {
  readonly bot: IndexedBot;
}

/** What the front page shows. */
export interface Front {
  /** Bots that are not for adults. */
  readonly sizes: CatalogueSizes;
  /** With more bots than they show: `chooseShelves` chooses those for a reader. */
  readonly shelves: readonly Shelf[];
}

/** Searches that find bots. */
export interface Examples {
  readonly queries: readonly string[];
}

type FrontParts = Pick<SiteParts, 'cache' | 'lists' | 'authors' | 'counts'>;

export type ShelfName = 'popular' | 'growing' | 'newest' | 'edited';

/** Some bots of a list. */
export interface Shelf {
  /** The list: all bots in this order. */
  readonly sort: ShelfName;
  readonly bots: readonly IndexedBot[];
}

/** The front page and lists of bots by query, in all languages, kept for some seconds. */
export class FrontLists {
  readonly #parts: FrontParts;
  /** By their candidates, which a language of the interface has: those that a page shows while others are chosen. */
  readonly #lastExamples = new Map<string, Examples>();

  constructor(parts: FrontParts) {
    this.#parts = parts;
  }

  /**
   * Returns the bots that a page shows.
   * @param client whom they are for, such as a group of addresses
   * @throws {BotshelfError} queue-full
   */
  async get(query: FrontQuery, client: string): Promise<FrontList> {
    const key = formatFrontPath({ ...query, sort: sortOf(query), locale: undefined });
    return await this.#parts.cache.get(`bots ${key}`, async () => await this.#list(query, client));
  }

  /** Returns what the front page shows some of: a few shelves, or all bots where there are few. */
  async front(): Promise<Front> {
    return await this.#parts.cache.get('front', async () => {
      const sizes = await this.#parts.lists.sizes(false);
      const names = sizes.total < fewBots ? (['popular'] as const) : shelfSorts;
      // In every language as many as fill all shelves.
      const lists = await this.#parts.lists.top(
        names.map((sort) => sorts[sort].key),
        names === shelfSorts ? maxOnShelf * names.length : fewBots,
      );
      const shelves = names.map((sort, i): Shelf => {
        const grows = ({ id }: IndexedBot): boolean => (this.#parts.counts.growth(id) ?? 0) > 0;
        return { sort, bots: (lists[i] ?? []).filter((bot) => sort !== 'growing' || grows(bot)) };
      });
      return { sizes, shelves: shelves.filter(({ bots }) => bots.length > 0) };
    });
  }

  /**
   * Returns the first few of some searches that find bots as they are spelled. Choosing them waits for the search index; a
   * page hardly waits for that, and is rendered with the last ones, or without.
   */
  async examples(candidates: readonly string[]): Promise<Examples> {
    const key = candidates.join('\n');
    const last = this.#lastExamples.get(key) ?? { queries: [] };
    const chosen = this.#parts.cache.get(`examples ${key}`, async () => {
      const examples = await this.#choose(candidates);
      this.#lastExamples.set(key, examples);
      return examples;
    });
    return await Promise.race([chosen.catch(() => last), wait(maxWaitMs, last, { ref: false })]);
  }

  /** Returns bots with what their cards show. */
  toListed(shown: readonly ShownEntry[]): ListedBot[] {
    return shown.map(({ bot, ...others }) => ({
      ...others,
      bot: parseListElement(bot),
      count: this.#parts.counts.count(bot.id),
      growth: this.#parts.counts.growth(bot.id),
      reportedAt: this.#parts.counts.reportedAt(bot.id),
      authors: listNamedAuthors(this.#parts.authors, bot.facts.authors),
    }));
  }

  async #choose(candidates: readonly string[]): Promise<Examples> {
    const queries: string[] = [];
    const { total: all } = await this.#parts.lists.sizes(false);
    for (const q of all === 0 ? [] : candidates) {
      const { total, corrected } = await this.#parts.lists.page({ q, nsfw: false, limit: 1 });
      if (total > 0 && corrected === undefined) queries.push(q);
      if (queries.length === maxExamples) break;
    }
    return { queries };
  }

  async #list(query: FrontQuery, client: string): Promise<FrontList> {
    const { q, page, filters } = query;
    const { categories, locales } = await this.#parts.lists.sizes(filters.adult === true);
    const place = { after: (page - 1) * pageSize, limit: pageSize };
    const found = await this.#parts.lists.page({ ...toListQuery(query), ...place }, client);
    const { next: _, localesOf, ...rest } = found;
    const isEmptied = found.total === 0 && isNarrowed(query);
    const unfiltered = { ...toListQuery({ ...noQuery, q }), after: 0, limit: 1 };
    return {
      ...rest,
      matched: found.bots.map(localesOf),
      pages: Math.ceil(found.total / pageSize),
      allCategories: categories,
      languages: [...locales].toSorted(([, a], [, b]) => b - a).map(([locale]) => locale),
      withoutFilters: isEmptied ? (await this.#parts.lists.page(unfiltered, client)).total : 0,
    };
  }
}

/** How many bots a shelf shows. */
const maxOnShelf = 6;
const minOnShelf = 3;
const maxCollections = 2;

const maxExamples = 5;
/** How long a page waits for its examples. */
const maxWaitMs = 20;

function toListQuery(query: FrontQuery): ListQuery {
  const { adult, ...filters } = query.filters;
  const sort = sorts[sortOf(query)];
  return {
    ...filters,
    ...(query.q !== '' && { q: query.q }),
    ...(sort && { sort }),
    ...(query.category && { category: [query.category] }),
    ...(adult !== true && { nsfw: false }),
  };
}

/** How many bots a page of a list has. */
const pageSize = 24;

/** With fewer bots than this, the front page lists all of them. */
const fewBots = 24;

const shelfSorts = ['growing', 'newest', 'edited'] as const satisfies readonly ShelfName[];

/** Chooses the first collections in a language of the reader that fill a shelf, and their bots, none of them twice. */
export function chooseCollections(
  linked: readonly LinkedCollection[],
  languages: readonly Locale[],
): LinkedCollection[] {
  const chosen: LinkedCollection[] = [];
  for (const { collection, listed } of linked) {
    const free = listed.filter((bot) => !chosen.some((other) => other.listed.includes(bot)));
    const isKnown = isIn(languages, [...collection.contents.keys()]);
    if (chosen.length < maxCollections && isKnown && free.length >= minOnShelf)
      chosen.push({ collection, listed: free.slice(0, maxOnShelf) });
  }
  return chosen;
}

/**
 * Chooses the bots on each shelf, none of them twice: those with a page in a language of the reader, then one other. A shelf
 * with fewer than three is left out; where that leaves none, others fill the shelves. The shelf of all bots has all.
 * @param taken the bots on shelves of collections
 */
export function chooseShelves(
  shelves: readonly Shelf[],
  languages: readonly Locale[],
  taken: ReadonlySet<IndexedBot> = new Set(),
): Shelf[] {
  const chosen = fillShelves(shelves, languages, taken, 1);
  return chosen.length > 0 ? chosen : fillShelves(shelves, languages, taken, maxOnShelf);
}

function fillShelves(
  shelves: readonly Shelf[],
  languages: readonly Locale[],
  taken: ReadonlySet<IndexedBot>,
  maxOthers: number,
): Shelf[] {
  const isOwn = ({ facts }: IndexedBot): boolean => isIn(languages, facts.locales);
  const shown = new Set(taken);
  return shelves.flatMap(({ sort, bots }): Shelf[] => {
    const free = sort === 'popular' ? bots : bots.filter((bot) => !shown.has(bot));
    const own = free.filter(isOwn);
    const others = free.filter((bot) => !isOwn(bot));
    if (sort === 'popular') return [{ sort, bots: [...own, ...others] }];
    const chosen = [...own, ...others.slice(0, maxOthers)].slice(0, maxOnShelf);
    if (chosen.length < minOnShelf) return [];
    for (const bot of chosen) shown.add(bot);
    return [{ sort, bots: chosen }];
  });
}
