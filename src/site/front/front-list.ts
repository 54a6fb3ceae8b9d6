import { setTimeout as wait } from 'node:timers/promises';
import type { Locale } from '../../bot/locale.ts';
import type { Category } from '../../bot/schema-types.ts';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import type { CatalogueSizes, SearchResult } from '../../catalogue/lists/bot-lists.ts';
import type { QueryReading } from '../../catalogue/search/run-search.ts';
import type { Selection } from '../../catalogue/lists/selection.ts';
import { listNamedAuthors } from '../page/author-names.tsx';
import type { NameLinkProps } from '../page/links.tsx';
import type { SiteParts } from '../page/site-parts.ts';
import { formatFrontPath, type FrontQuery, isNarrowed, sortOf, sorts } from './front-query.ts';

/** One page of a list of bots. */
export interface FrontList extends QueryReading {
  readonly entries: readonly FrontEntry[];
  /** How many bots there are on all pages. */
  readonly total: number;
  readonly pages: number;
  /** How many bots of each category match the rest of the query. */
  readonly categories: ReadonlyMap<Category, number>;
  /** How many bots of each category there are, whatever the query. */
  readonly allCategories: ReadonlyMap<Category, number>;
  /** The languages that bots have a page in, those of most bots first. */
  readonly languages: readonly Locale[];
  /** How many more match that are for adults, where those are left out. */
  readonly hidden: number;
  /** How many more match weakly, where those are left out. */
  readonly weaker: number;
  /** How many bots there are without its filters, where they leave none. */
  readonly withoutFilters: number;
}

export interface FrontEntry {
  readonly bot: IndexedBot;
  readonly count: number | undefined;
  /** By how much of itself the count has grown in 30 days. */
  readonly growth: number | undefined;
  readonly reportedAt: number | undefined;
  /** Its authors who have a name. */
  readonly authors: readonly NameLinkProps[];
  /** The languages in which the bot matches a search; none where there is no search, or where only its page matches. */
  readonly matched: readonly Locale[];
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
  readonly entries: readonly FrontEntry[];
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
   * @throws {QueueFullError}
   */
  async get(query: FrontQuery, client: string): Promise<FrontList> {
    const key = formatFrontPath({ ...query, sort: sortOf(query), locale: undefined });
    return await this.#parts.cache.get(`bots ${key}`, async () => await this.#list(query, client));
  }

  /** Returns what the front page shows some of: a few shelves, or all bots where there are few. */
  async front(): Promise<Front> {
    return await this.#parts.cache.get('front', async () => {
      const sizes = await this.#parts.lists.sizes(false);
      return { sizes, shelves: sizes.total < fewBots ? await this.#allBots() : await this.#shelves() };
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
  toEntries(bots: readonly IndexedBot[]): FrontEntry[] {
    return bots.map((bot) => this.#entry(bot));
  }

  async #choose(candidates: readonly string[]): Promise<Examples> {
    const queries: string[] = [];
    const { total: all } = await this.#parts.lists.sizes(false);
    for (const q of all === 0 ? [] : candidates) {
      const { total, corrected } = await this.#parts.lists.search({ q, nsfw: false, limit: 1 });
      if (total > 0 && corrected === undefined) queries.push(q);
      if (queries.length === maxExamples) break;
    }
    return { queries };
  }

  async #list(query: FrontQuery, client: string): Promise<FrontList> {
    const { q, page, filters } = query;
    const { categories, locales } = await this.#parts.lists.sizes(filters.adult === true);
    const found = await (q === '' ? this.#select(query, client) : this.#search(query, client));
    const { total, hidden, weaker, corrected, unmatched } = found;
    const shown = found.bots.slice((page - 1) * pageSize, page * pageSize);
    return {
      entries: shown.map((bot) => this.#entry(bot, found.localesOf(bot))),
      total,
      pages: Math.ceil(total / pageSize),
      categories: found.categories,
      allCategories: categories,
      languages: [...locales].toSorted(([, a], [, b]) => b - a).map(([locale]) => locale),
      hidden,
      weaker,
      withoutFilters: total === 0 && isNarrowed(query) ? await this.#countWithoutFilters(q, client) : 0,
      corrected,
      unmatched,
    };
  }

  async #countWithoutFilters(q: string, client: string): Promise<number> {
    const { total } = await (q === ''
      ? this.#parts.lists.sizes(false)
      : this.#parts.lists.search({ q, nsfw: false, limit: 1 }, client));
    return total;
  }

  /** Selects the bots up to the end of a page, or all. */
  async #select(query: FrontQuery, client: string): Promise<Omit<SearchResult, 'next'>> {
    const { category, filters, page } = query;
    const selection = toSelection(query);
    const isUnfiltered = !isNarrowed({
      ...query,
      category: undefined,
      filters: { ...filters, adult: undefined },
    });
    if (isUnfiltered && page <= fewPages) {
      const { total, categories } = await this.#parts.lists.sizes(filters.adult === true);
      const ofCategory = category === undefined ? total : (categories.get(category) ?? 0);
      const bots = await this.#parts.lists.first(selection, page * pageSize);
      return { ...noSearch, bots, total: ofCategory, categories };
    }
    const { category: _, ...ofAllCategories } = selection;
    const { bots: all } = await this.#parts.lists.select(ofAllCategories, client);
    const categories = new Map<Category, number>();
    for (const { facts } of all) categories.set(facts.category, (categories.get(facts.category) ?? 0) + 1);
    const bots = category === undefined ? all : all.filter(({ facts }) => facts.category === category);
    return { ...noSearch, bots, total: bots.length, categories };
  }

  /** Searches for the bots up to the end of a page. */
  async #search(query: FrontQuery, client: string): Promise<Omit<SearchResult, 'next'>> {
    const { q, page } = query;
    return await this.#parts.lists.search({ ...toSelection(query), q, limit: page * pageSize }, client);
  }

  /** Selects all bots as one shelf. */
  async #allBots(): Promise<Shelf[]> {
    const [bots = []] = await this.#parts.lists.highest(['count'], fewBots);
    return bots.length === 0 ? [] : [{ sort: 'popular', entries: this.toEntries(bots) }];
  }

  /** Selects bots for each shelf: in every language as many as fill all shelves. */
  async #shelves(): Promise<Shelf[]> {
    const keys = shelfSorts.map((sort) => sorts[sort].key);
    const lists = await this.#parts.lists.highest(keys, maxOnShelf * keys.length);
    return shelfSorts.map((sort, i) => {
      const entries = this.toEntries(lists[i] ?? []);
      return { sort, entries: entries.filter(({ growth = 0 }) => sort !== 'growing' || growth > 0) };
    });
  }

  #entry(bot: IndexedBot, matched: readonly Locale[] = []): FrontEntry {
    const { id } = bot;
    const authors = listNamedAuthors(this.#parts.authors, bot.facts.authors);
    const [count, growth] = [this.#parts.counts.count(id), this.#parts.counts.growth(id)];
    return { bot, count, growth, reportedAt: this.#parts.counts.reportedAt(id), authors, matched };
  }
}

/** How many bots a shelf shows. */
export const maxOnShelf = 6;

const maxExamples = 5;
/** How long a page waits for its examples. */
const maxWaitMs = 20;

function toSelection(query: FrontQuery): Selection {
  const { adult, ...filters } = query.filters;
  const sort = sorts[sortOf(query)];
  return {
    ...filters,
    ...(sort && { sort }),
    ...(query.category && { category: [query.category] }),
    ...(adult !== true && { nsfw: false }),
  };
}

/** What a search says of a list without one. */
const noSearch = { hidden: 0, weaker: 0, corrected: undefined, unmatched: [], localesOf: () => [] };

/** How many bots a page of a list has. */
export const pageSize = 24;

/** Up to this page, picking the bots is cheaper than sorting them all. */
const fewPages = 40;

/** With fewer bots than this, the front page lists all of them. */
const fewBots = 24;

const shelfSorts = ['growing', 'newest', 'edited'] as const satisfies readonly ShelfName[];
