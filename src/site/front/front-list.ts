import { setTimeout as wait } from 'node:timers/promises';
import type { Category } from '../../../schemas/types.ts';
import { msPerDay } from '../../bot/clock.ts';
import { findRankedGrowth } from '../../bot/counts.ts';
import type { BotId } from '../../bot/id.ts';
import { type Locale, isIn } from '../../bot/locale.ts';
import type { CatalogueSizes, PageOfBots } from '../../catalogue/lists/lists.ts';
import type { ListQuery } from '../../catalogue/lists/parameters.ts';
import { isStopWord, splitTypedWords } from '../../catalogue/search/words.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { type IndexedBot, parseListElement, parseRecord } from '../../catalogue/store/bot-index.ts';
import type { ReaderLanguages } from '../language/languages.ts';
import {
  formatFrontPath,
  type FrontQuery,
  noQuery,
  sortOf,
  sorts,
  type PageFilters,
  withoutFilters,
} from './front-query.ts';
import type { PageParts } from '../page/page-context.tsx';

/** One page of a list of bots. */
export interface FrontList extends Omit<PageOfBots, 'next' | 'localesOf'> {
  /** The languages in which each bot matches a search. Empty without a search, and for a bot that only matches in its page. */
  readonly matched: readonly (readonly Locale[])[];
  readonly pages: number;
  /** The languages of the bots' pages, most frequent first. */
  readonly languages: readonly Locale[];
  /** The number of bots that the filters leave out. */
  readonly filtered: number;
  /** If the filters leave the list empty, the same list with fewer filters, the one with most bots first. */
  readonly wider: readonly Wider[];
  /** For an empty list, other bots to show: the first of the widest list, or those nearest to its words, or those on most servers. */
  readonly nearest: readonly IndexedBot[];
  /** Whether `nearest` match a part of the query. */
  readonly isNear: boolean;
}

/** A list with fewer filters than another one. */
export interface Wider {
  /** The filter that was dropped; undefined if all were. */
  readonly dropped: 'category' | Exclude<keyof PageFilters, KeptFilter> | undefined;
  readonly query: FrontQuery;
  readonly total: number;
}

/** The filters that stay: `author` names the list, the others add bots. */
type KeptFilter = 'author' | 'adult' | 'weaker';

/** The content of the front page. */
export interface Front {
  /** Without bots for adults. */
  readonly sizes: CatalogueSizes;
  /** The bot that maintainers chose; undefined if there is no such bot to show. */
  readonly featured: IndexedBot | undefined;
  /** The bot on most servers of each category, of those with an image and without Administrator; not the featured one. */
  readonly ledge: readonly IndexedBot[];
  /** With more bots than are shown; `chooseShelves` chooses those for a reader. */
  readonly shelves: readonly Shelf[];
}

/** Searches that find bots. */
export interface Examples {
  readonly queries: readonly string[];
}

/** The parts of the service that lists depend on. */
type ListParts = Pick<PageParts, 'bots' | 'lists' | 'cache' | 'counts'>;

export type ShelfName = 'popular' | 'growing' | 'newest' | 'edited';

/** Some bots of a list. */
export interface Shelf {
  /** The order of the list, which has all bots. */
  readonly sort: ShelfName;
  readonly bots: readonly IndexedBot[];
}

/** The front page and lists of bots by query, in all languages, cached for some seconds. */
export class FrontLists {
  readonly #parts: ListParts;
  /** By their candidates, the words of one language: the examples to show while others are chosen. */
  readonly #lastExamples = new Map<string, Examples>();

  constructor(parts: ListParts) {
    this.#parts = parts;
  }

  /** Returns the bots of a page. @param client the address that requests them @throws {BotshelfError} queue-full */
  async get(query: FrontQuery, client: string): Promise<FrontList> {
    const key = formatFrontPath({ ...query, sort: sortOf(query), view: undefined });
    return await this.#parts.cache.get(`bots ${key}`, async () => await this.#list(query, client));
  }

  /** Returns the candidates for the front page: a few shelves, or all bots if they are few. */
  async front(chosen: CatalogueSettings['featured']): Promise<Front> {
    return await this.#parts.cache.get(`front ${JSON.stringify(chosen)}`, async () => {
      const sizes = await this.#parts.lists.sizes(false);
      const names = sizes.total < fewBots ? (['popular'] as const) : shelfSorts;
      // In every language, as many as fill all shelves.
      const lists = await this.#parts.lists.top(
        names.map((sort) => sorts[sort].key),
        names === shelfSorts ? maxOnShelf * names.length : fewBots,
      );
      const shelves = names.map((sort, i): Shelf => {
        const grows = ({ id }: IndexedBot): boolean => (findRankedGrowth(this.#parts.counts, id) ?? 0) > 0;
        return { sort, bots: (lists[i] ?? []).filter((bot) => sort !== 'growing' || grows(bot)) };
      });
      const featured = chosen === null ? undefined : this.#findFeatured(chosen);
      const ledge = await this.#findLedge(featured);
      return { sizes, featured, ledge, shelves: shelves.filter(({ bots }) => bots.length > 0) };
    });
  }

  async #findLedge(featured: IndexedBot | undefined): Promise<IndexedBot[]> {
    const [candidates = []] = await this.#parts.lists.top(
      ['count'],
      ledgeCandidates,
      ({ nsfw, category, administrator }) => (nsfw || administrator ? [] : [category]),
    );
    const ledge = new Map<Category, IndexedBot>();
    for (const bot of candidates)
      if (bot !== featured && !ledge.has(bot.facts.category) && parseListElement(bot).cachedImages.avatar)
        ledge.set(bot.facts.category, bot);
    return [...ledge.values()];
  }

  /**
   * Returns the first few of these searches that find bots as typed. Finding them needs the search index, so a page
   * shows the last examples meanwhile; the first page waits only for a moment.
   */
  async examples(candidates: readonly string[]): Promise<Examples> {
    const key = candidates.join('\n');
    const last = this.#lastExamples.get(key);
    const chosen = this.#parts.cache.get(`examples ${key}`, async () => {
      const examples = await this.#choose(candidates);
      this.#lastExamples.set(key, examples);
      return examples;
    });
    const none = { queries: [] };
    const first = chosen.catch(() => none);
    return last ?? (await Promise.race([first, wait(maxWaitMs, none, { ref: false })]));
  }

  /** Returns the featured bot if it can be shown to everyone and was chosen less than `featuredMs` ago. */
  #findFeatured({ id, since }: NonNullable<CatalogueSettings['featured']>): IndexedBot | undefined {
    const age = Date.now() - Date.parse(since);
    const bot = this.#parts.bots.get(id as BotId);
    if (bot === undefined || age < 0 || age > featuredMs) return undefined;
    const { cachedImages, contents } = parseRecord(bot);
    const hasPage = Object.values(contents).some(({ page }) => page !== '');
    const isShown = cachedImages.cover !== null && cachedImages.avatar !== null && hasPage;
    return isShown && !bot.facts.nsfw && !bot.facts.administrator ? bot : undefined;
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
    const { page, filters } = query;
    const { locales } = await this.#parts.lists.sizes(filters.adult === true);
    const place = { after: (page - 1) * pageSize, limit: pageSize };
    const found = await this.#parts.lists.page({ ...toListQuery(query), ...place }, client);
    const { next: _, localesOf, ...rest } = found;
    const all = withoutFilters(query);
    const isFiltered = found.total > 0 && Object.keys(all.filters).length < Object.keys(filters).length;
    const more = isFiltered ? (await this.#first(all, client)).total - found.total : 0;
    return {
      ...rest,
      matched: found.bots.map(localesOf),
      pages: Math.ceil(found.total / pageSize),
      languages: [...locales].toSorted(([, a], [, b]) => b - a).map(([locale]) => locale),
      filtered: more,
      ...(found.total === 0 ? await this.#widen(query, client) : { wider: [], nearest: [], isNear: false }),
    };
  }

  /**
   * Widens an empty list: drops one filter, else all of them, else searches for a part of its words. If nothing is
   * found, returns the bots on most servers.
   */
  async #widen(query: FrontQuery, client: string): Promise<Pick<FrontList, 'wider' | 'nearest' | 'isNear'>> {
    const queries = listWiderQueries(query);
    const pages = await this.#parts.lists.firstPages(
      queries.map((each) => toFirst(each.query)),
      client,
    );
    const found = queries.flatMap((each, i): (Wider & Pick<PageOfBots, 'bots'>)[] => {
      const { total = 0, bots = [] } = pages[i] ?? {};
      return total > 0 ? [{ ...each, total, bots }] : [];
    });
    found.sort((a, b) => b.total - a.total);
    const one = found.filter(({ dropped }) => dropped !== undefined);
    const wider = one.length > 0 ? one : found;
    const near = wider[0]?.bots ?? (await this.#findNear(query.q, client));
    const nearest = near ?? (await this.#first(noQuery, client)).bots;
    return { wider, nearest, isNear: near !== undefined };
  }

  /** Searches for each of some words alone, then for their beginnings. Short beginnings are searched only as typed. */
  async #findNear(q: string, client: string): Promise<readonly IndexedBot[] | undefined> {
    const words = splitTypedWords(q)
      .filter(({ text, unspaced }) => !unspaced && !isStopWord(text))
      .map(({ text }) => text)
      .toSorted((a, b) => b.length - a.length)
      .slice(0, maxNearWords);
    const toBeginnings = (share: number): string =>
      words.map((word) => word.slice(0, Math.max(minBeginning, Math.ceil(word.length * share)))).join(' ');
    for (const text of new Set([...words, toBeginnings(0.75), toBeginnings(0.5)])) {
      if (text === '' || text === q) continue;
      const { bots, corrected } = await this.#first({ ...noQuery, q: text }, client);
      const isCertain = corrected === undefined || words.includes(text) || text.length >= minCorrected;
      if (bots.length > 0 && isCertain) return bots;
    }
    return undefined;
  }

  async #first(query: FrontQuery, client: string): Promise<PageOfBots> {
    return await this.#parts.lists.page(toFirst(query), client);
  }
}

/** The number of bots on a shelf. */
const maxOnShelf = 6;
const minOnShelf = 3;
const shelfSizes = { growing: maxOnShelf, newest: minOnShelf, edited: minOnShelf };

/** The number of bots of a category of which the first one with an image is on the ledge. */
const ledgeCandidates = 6;

/** The number of words of a failed search that are searched alone. */
const maxNearWords = 3;
/** Minimum length of a word's beginning, and of one that may be misspelled. */
const minBeginning = 6;
const minCorrected = 8;

/** Time for which a chosen bot is shown. */
const featuredMs = 14 * msPerDay;

const maxExamples = 5;
/** Maximum time that a page waits for its first examples. */
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

function toFirst(query: FrontQuery): ListQuery {
  return { ...toListQuery(query), after: 0, limit: minOnShelf };
}

/** Returns a query without each of its filters, and then without all of them. */
function listWiderQueries(query: FrontQuery): Omit<Wider, 'total'>[] {
  const { category, filters } = query;
  const names = Object.keys(filters) as (keyof PageFilters)[];
  const wider: Omit<Wider, 'total'>[] = names.filter(isDropped).map((dropped) => {
    return { dropped, query: { ...query, filters: { ...filters, [dropped]: undefined } } };
  });
  if (category !== undefined) wider.push({ dropped: 'category', query: { ...query, category: undefined } });
  if (wider.length > 1)
    wider.push({ dropped: undefined, query: { ...withoutFilters(query), category: undefined } });
  return wider;
}

function isDropped(name: keyof PageFilters): name is Exclude<keyof PageFilters, KeptFilter> {
  return !['author', 'adult', 'weaker'].includes(name);
}

/** The number of bots on a page of a list. */
const pageSize = 24;

/** With fewer bots, the front page lists all of them. */
const fewBots = 24;

const shelfSorts = ['growing', 'newest', 'edited'] as const satisfies readonly ShelfName[];

/**
 * Chooses the bots of each shelf, in its order. `popular` keeps all its bots; the others repeat none and leave out the
 * featured one. They prefer bots with a page in a `known` language and the first other bot, then those in a `wanted`
 * language, then any. They have six bots or three, or are left out.
 */
export function chooseShelves(
  { shelves, featured }: Pick<Front, 'shelves' | 'featured'>,
  { known, wanted }: ReaderLanguages,
): Shelf[] {
  const shown = new Set([featured]);
  return shelves.flatMap(({ sort, bots }): Shelf[] => {
    if (sort === 'popular') return [{ sort, bots }];
    const left = bots.filter((bot) => !shown.has(bot));
    const size = left.length < shelfSizes[sort] ? minOnShelf : shelfSizes[sort];
    if (left.length < size) return [];
    let others = 0;
    const preferred = left.filter(({ facts }) => isIn(known, facts.locales) || ++others === 1);
    const next = left.filter(({ facts }) => isIn(wanted, facts.locales));
    const first = new Set([...new Set([...preferred, ...next, ...left])].slice(0, size));
    for (const bot of first) shown.add(bot);
    return [{ sort, bots: left.filter((bot) => first.has(bot)) }];
  });
}
