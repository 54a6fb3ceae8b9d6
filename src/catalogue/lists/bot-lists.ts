import { type Locale, toLanguage } from '../../bot/locale.ts';
import type { BotListElement, Category } from '../../bot/schema-types.ts';
import { type BotIndex, parseListElement, type IndexedBot } from '../store/bot-index.ts';
import { folderOf } from '../page/layout.ts';
import { findMatchingLocales } from '../search/matching-locales.ts';
import type { BotSearch } from '../search/bot-search.ts';
import type { Found, QueryReading } from '../search/run-search.ts';
import { createElementForm, fileForm, type List, buildList } from './json-list.ts';
import { selectBest, type BestBots } from './relevance.ts';
import type { SortedIndexes } from './sorted-indexes.ts';
import {
  compareSorted,
  cutPage,
  FirstBots,
  mergeFirst,
  type PageOfBots,
  type Selection,
  type Sort,
  type SortKey,
  type ValueOf,
} from './selection.ts';
import { createCheck, isFilteredByCount } from './filters.ts';
import { forEachInSlices, sortInSlices } from '../../lib/in-slices.ts';
import { FairQueue } from '../../lib/serial-queue.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import type { Current, CurrentCache, Input } from '../../lib/current-cache.ts';

/** What a list selects, and which keys of each element it includes. */
export interface ListQuery extends Selection {
  /** All where left out. */
  readonly fields?: readonly (keyof BotListElement)[];
}

export interface SearchQuery extends Selection {
  readonly q: string;
}

export interface SearchResult extends Omit<BestBots, 'corrected'>, QueryReading {
  /** Returns the languages in which a bot matches best; none where neither name nor description does. */
  readonly localesOf: (bot: IndexedBot) => readonly Locale[];
}

/** How many bots the catalogue has: altogether, in each category, and with a page in each language. */
export interface CatalogueSizes {
  readonly total: number;
  readonly categories: ReadonlyMap<Category, number>;
  readonly locales: ReadonlyMap<Locale, number>;
}

/**
 * The lists of v1 and v2, each made once for a version of the index and a query. What takes a look at every bot is done
 * one at a time, with a bounded queue before it, in which clients take turns: QueueFullError when too much waits. A client is
 * a group of addresses; the service itself where it is left out.
 */
export class BotLists {
  readonly #bots: BotIndex;
  readonly #search: BotSearch;
  readonly #sortedIndexes: SortedIndexes;
  readonly #cache: CurrentCache;
  readonly #queue = new FairQueue(64);
  #sizes: { version: number } & Record<'all' | 'general', MutableSizes> = {
    version: -1,
    all: createSizes(),
    general: createSizes(),
  };

  constructor(bots: BotIndex, search: BotSearch, sortedIndexes: SortedIndexes, cache: CurrentCache) {
    this.#bots = bots;
    this.#search = search;
    this.#sortedIndexes = sortedIndexes;
    this.#cache = cache;
  }

  /**
   * Returns the elements of a list.
   * @throws {QueueFullError}
   */
  async elements(query: ListQuery, client = ''): Promise<List & Current> {
    const { key } = query.sort ?? (query.q === undefined ? byId : byCount);
    const inputs = [
      () => this.#sortedIndexes.version(key),
      () => query.q === undefined || this.#search.version,
      () => query.q === undefined || this.#search.needs,
      () => !isFilteredByCount(query) || this.#sortedIndexes.version('count'),
    ];
    return await this.#list(JSON.stringify(['v2', query]), inputs, client, query.q, async () => {
      const slice = new TimeSlice();
      return await buildList(await this.#select(query, slice), createElementForm(query.fields), slice);
    });
  }

  /**
   * Returns a page of the bots that a query selects: in its order, else the best fit first, else by id.
   * @throws {QueueFullError}
   */
  async select(query: Selection, client = ''): Promise<PageOfBots> {
    return await this.#run(client, query.q, async () => await this.#select(query));
  }

  /**
   * Returns a page of the bots that a search finds, in the query's order or the best first, and what there is to say about them.
   * @throws {QueueFullError}
   */
  async search(query: SearchQuery, client = ''): Promise<SearchResult> {
    return await this.#run(client, query.q, async () => {
      const slice = new TimeSlice();
      const found = await this.#search.search(query.q, slice);
      const { reading } = found;
      const selected = await this.#pick(found, query, slice);
      const localesOf = (bot: IndexedBot): readonly Locale[] =>
        findMatchingLocales(parseListElement(bot).contents, reading.corrected ?? query.q);
      return { ...selected, ...reading, localesOf };
    });
  }

  /** Returns the first `count` bots that a query without words selects, without sorting all of them. */
  async first(query: Omit<Selection, 'q' | 'after' | 'limit'>, count: number): Promise<IndexedBot[]> {
    const { key, descending } = query.sort ?? byId;
    const check = createCheck(query, this.#sortedIndexes.counts);
    const first = new FirstBots(this.#sortedIndexes.valueOf(key), descending, count);
    const bots = await this.#bots.sorted();
    // Later ids were made later: in this direction few bots push others out.
    await forEachInSlices(descending ? bots.toReversed() : bots, (bot) => {
      if (check === undefined || check(bot)) first.add(bot);
    });
    return first.sorted.map(({ bot }) => bot);
  }

  /**
   * Returns the bots that are not for adults and among the first `count` with a page in some language, by each of these
   * keys from the highest value down.
   */
  async highest(keys: readonly SortKey[], count: number): Promise<(readonly IndexedBot[])[]> {
    const valuesOf = keys.map((key) => this.#sortedIndexes.valueOf(key));
    const byLanguage = new Map<string, FirstBots[]>();
    await forEachInSlices((await this.#bots.sorted()).toReversed(), (bot) => {
      if (bot.facts.nsfw) return;
      for (const language of new Set(bot.facts.locales.map(toLanguage))) {
        const lists =
          byLanguage.get(language) ?? valuesOf.map((valueOf) => new FirstBots(valueOf, true, count));
        byLanguage.set(language, lists);
        for (const list of lists) list.add(bot);
      }
    });
    return keys.map((_key, i) => mergeFirst([...byLanguage.values()].flatMap((lists) => lists[i] ?? [])));
  }

  /** Returns how many bots there are of each kind, with those for adults or without. */
  async sizes(withAdult: boolean): Promise<CatalogueSizes> {
    const { version } = this.#bots;
    if (this.#sizes.version !== version)
      this.#sizes = { version, ...(await countBots(await this.#bots.sorted())) };
    return withAdult ? this.#sizes.all : this.#sizes.general;
  }

  /**
   * Returns every markdown file, in path order.
   * @throws {QueueFullError}
   */
  async files(client = ''): Promise<List & Current> {
    return await this.#list('v1', [() => this.#bots.version], client, undefined, async () => {
      const bots = await sortByPath(await this.#bots.sorted());
      const total = bots.reduce((sum, { files }) => sum + files.length, 0);
      return await buildList({ bots, total, next: undefined }, fileForm);
    });
  }

  async #select(query: Selection, slice = new TimeSlice()): Promise<PageOfBots> {
    if (query.q !== undefined) {
      const found = await this.#search.search(query.q, slice);
      return { ...(await this.#pick(found, query, slice)), corrected: found.reading.corrected };
    }
    const { key, descending } = query.sort ?? byId;
    const { bots } = await this.#filter(query);
    return cutPage(bots, this.#sortedIndexes.valueOf(key), descending, query);
  }

  /** Picks a page of what a search found. */
  async #pick(found: Found, query: Selection, slice: TimeSlice): Promise<BestBots> {
    const { counts } = this.#sortedIndexes;
    const { after: _after, limit: _limit, sort, ...wanted } = query;
    if (sort === undefined) return await selectBest(found, query, counts, slice);
    const best = await selectBest(found, wanted, counts, slice);
    const { bots: all, valueOf } = await this.#sortedIndexes.by(sort.key);
    const among = new Set(best.bots);
    // To sort a few takes less than a look at all.
    const sorted =
      among.size < all.length / 16
        ? sortBots(best.bots, valueOf)
        : await filterInSlices(all, (bot) => among.has(bot));
    const ordered = sort.descending ? sorted.toReversed() : sorted;
    return { ...best, ...cutPage(ordered, valueOf, sort.descending, query) };
  }

  /** Returns the bots that pass the filters of a query, in its order. They are kept: a page of any length is cut from them. */
  async #filter(query: Selection): Promise<Filtered> {
    const {
      q: _q,
      weaker: _weaker,
      after: _after,
      limit: _limit,
      fields: _fields,
      ...wanted
    }: ListQuery = query;
    const { key, descending } = query.sort ?? byId;
    const inputs = [
      () => this.#sortedIndexes.version(key),
      () => !isFilteredByCount(query) || this.#sortedIndexes.version('count'),
    ];
    const filter = async (): Promise<Filtered> => {
      const { bots } = await this.#sortedIndexes.by(key);
      const sorted = descending ? bots.toReversed() : bots;
      const check = createCheck(query, this.#sortedIndexes.counts);
      return { bots: check ? await filterInSlices(sorted, check) : sorted };
    };
    return await this.#cache.get(`filtered ${JSON.stringify(wanted)}`, filter, { inputs, isExact: true });
  }

  async #list(
    key: string,
    inputs: readonly Input[],
    client: string,
    q: string | undefined,
    make: () => Promise<List>,
  ): Promise<List & Current> {
    const keeping = { inputs, isExact: true, sizeOf: ({ size }: List) => size };
    return await this.#cache.get(`list ${key}`, async () => await this.#run(client, q, make), keeping);
  }

  /** Runs work when it is its turn. While the search is not ready, only searches wait for it. */
  async #run<T>(client: string, q: string | undefined, work: () => Promise<T>): Promise<T> {
    if (q !== undefined) await this.#search.update();
    return await this.#queue.run(client, work);
  }
}

function sortBots(bots: readonly IndexedBot[], valueOf: ValueOf): IndexedBot[] {
  const valued = bots.map((bot) => ({ bot, value: valueOf(bot) }));
  return valued.toSorted(compareSorted).map(({ bot }) => bot);
}

interface Filtered {
  readonly bots: readonly IndexedBot[];
}

async function filterInSlices(
  bots: readonly IndexedBot[],
  check: (bot: IndexedBot) => boolean,
): Promise<IndexedBot[]> {
  const matching: IndexedBot[] = [];
  await forEachInSlices(bots, (bot) => {
    if (check(bot)) matching.push(bot);
  });
  return matching;
}

interface MutableSizes extends CatalogueSizes {
  total: number;
  readonly categories: Map<Category, number>;
  readonly locales: Map<Locale, number>;
}

function createSizes(): MutableSizes {
  return { total: 0, categories: new Map(), locales: new Map() };
}

async function countBots(bots: readonly IndexedBot[]): Promise<Record<'all' | 'general', MutableSizes>> {
  const [adult, general] = [createSizes(), createSizes()];
  await forEachInSlices(bots, ({ facts }) => {
    const sizes = facts.nsfw ? adult : general;
    sizes.total++;
    increase(sizes.categories, facts.category, 1);
    for (const locale of facts.locales) increase(sizes.locales, locale, 1);
  });
  const all = createSizes();
  for (const { total, categories, locales } of [general, adult]) {
    all.total += total;
    for (const [category, count] of categories) increase(all.categories, category, count);
    for (const [locale, count] of locales) increase(all.locales, locale, count);
  }
  return { all, general };
}

function increase<K>(counts: Map<K, number>, key: K, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

const byId: Sort = { key: 'id', descending: false };

/** Among bots that fit a search equally well the count decides. */
const byCount: Sort = { key: 'count', descending: true };

/** Returns the bots folder by folder, and within one by the text of the id, as file names sort. */
async function sortByPath(bots: readonly IndexedBot[]): Promise<IndexedBot[]> {
  const withPaths: { readonly bot: IndexedBot; readonly path: string }[] = [];
  await forEachInSlices(bots, (bot) => {
    withPaths.push({ bot, path: `${folderOf(bot.id)}/${bot.id}.` });
  });
  const sorted = await sortInSlices(withPaths, (a, b) => (a.path < b.path ? -1 : 1));
  return sorted.map(({ bot }) => bot);
}
