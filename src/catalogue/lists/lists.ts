import { createHash } from 'node:crypto';
import type { Category, FileItem } from '../../../schemas/types.ts';
import type { ReadonlyCounts } from '../../bot/counts.ts';
import { type Locale, toLanguage } from '../../bot/locale.ts';
import type { Current, CurrentCache, Input } from '../../lib/current-cache.ts';
import { FairQueue } from '../../lib/serial-queue.ts';
import type { Log } from '../../lib/log.ts';
import { joinToPieces, type Pieces, pieceSize } from '../../lib/text.ts';
import { forEachInSlices, sortInSlices, TimeSlice } from '../../lib/time-slice.ts';
import { folderOf, isPage, pathOf } from '../page/layout.ts';
import { BotSearch } from '../search/bot-search.ts';
import { getNeeds } from '../search/query.ts';
import type { Found, QueryReading } from '../search/run-search.ts';
import { createWordSplitter, findMatchingLocales, type WordSplitter } from '../search/split-words.ts';
import type { CatalogueSettings } from '../settings/settings.ts';
import {
  type BotFacts,
  type BotIndex,
  computeElementSize,
  type IndexedBot,
  listElementParts,
  parseListElement,
} from '../store/bot-index.ts';
import {
  compareSorted,
  type CutPage,
  cutPage,
  type SortedBot,
  SortedIndexes,
  type SortKey,
  type SortValue,
  type ValueOf,
} from './orders.ts';
import { createCheck, type ListQuery, type Sort } from './parameters.ts';
import { type BestBots, selectBest } from './relevance.ts';

/** A page of a list, with facts about the whole list. */
export interface PageOfBots extends BestBots, QueryReading {
  /** Returns the languages in which a bot's name or description matches a search, best first; empty if neither matches. */
  readonly localesOf: (bot: IndexedBot) => readonly Locale[];
  readonly splitWords: WordSplitter;
}

type PageOfList = Pick<PageOfBots, 'bots' | 'total' | 'next' | 'corrected'>;

/** A list as JSON: an array with one element per bot or file. */
export interface List extends Omit<PageOfList, 'bots'> {
  readonly digest: string;
  /** The whole list, or pieces that are generated for each response. */
  readonly body: Buffer | Pieces;
  /** Bytes of memory in addition to the index. */
  readonly size: number;
}

/** The number of bots: in total, in each category, and with a page in each language. */
export interface CatalogueSizes {
  readonly total: number;
  readonly categories: ReadonlyMap<Category, number>;
  readonly locales: ReadonlyMap<Locale, number>;
}

/** Opens the lists of a catalogue. The first search builds its index. */
export function openLists(
  catalogue: { store: { readonly bots: BotIndex }; settings: { readonly current: CatalogueSettings } },
  counts: ReadonlyCounts,
  cache: CurrentCache,
  log: Log,
): Lists {
  const onError = (error: unknown): void =>
    log.error({ err: error }, 'could not rebuild the search index: searches use the existing one');
  const { bots } = catalogue.store;
  const search = new BotSearch(bots, onError, () => getNeeds(catalogue.settings.current));
  return new Lists(bots, search, counts, cache);
}

/**
 * The lists of the API and of the site's pages. Queries run one at a time, from bounded queues in which clients take
 * turns; a full queue throws queue-full. A client is an address; without one, it is the service itself.
 */
export class Lists {
  /** Closed by the owner of the lists. */
  readonly search: BotSearch;
  readonly #bots: BotIndex;
  readonly #counts: ReadonlyCounts;
  readonly #orders: SortedIndexes;
  readonly #cache: CurrentCache;
  readonly #queue = new FairQueue(64);
  /** Searches wait here, so that a list waits for one of them at most. */
  readonly #searches = new FairQueue(maxWaitingSearches);

  constructor(bots: BotIndex, search: BotSearch, counts: ReadonlyCounts, cache: CurrentCache) {
    this.#bots = bots;
    this.search = search;
    this.#counts = counts;
    this.#cache = cache;
    this.#orders = new SortedIndexes(bots, counts);
  }

  /**
   * Returns a page of the bots that a query selects. The order is that of the query, else the best match first, else
   * by id.
   * @throws {BotshelfError} queue-full
   */
  async page(query: ListQuery, client = ''): Promise<PageOfBots> {
    return await this.#run(client, query, async () => await this.#select(query, new TimeSlice()));
  }

  /**
   * Returns the first page of each query, in one turn; of a search, after one search. The queries differ only in their filters.
   * @throws {BotshelfError} queue-full
   */
  async firstPages(queries: readonly ListQuery[], client = ''): Promise<PageOfBots[]> {
    const pages: PageOfBots[] = [];
    const [{ q } = {}] = queries;
    if (q === undefined)
      return await this.#run(client, {}, async () => {
        for (const query of queries) pages.push(await this.#pick(query, 0, query.limit ?? Infinity));
        return pages;
      });
    const slice = new TimeSlice();
    const choose = async (found: Found): Promise<void> => {
      for (const query of queries) pages.push(await this.#choose(found, query, slice));
    };
    await this.#run(client, { q }, async () => await this.search.search(q, slice, choose));
    return pages;
  }

  /**
   * Returns a page as JSON, built once per version of the index. A short one has the current counts.
   * @throws {BotshelfError} queue-full
   */
  async json(query: ListQuery, client = ''): Promise<List & Current> {
    const { fields, ...selection } = query;
    const key = `list v2 ${JSON.stringify(query)}`;
    const build = async (page: PageOfList, slice = new TimeSlice()): Promise<List> =>
      await buildList(page, createElementForm(fields, this.#counts), slice);
    const isShort = query.ids !== undefined || (query.limit ?? Infinity) <= maxExactCounts;
    if (isShort && fields?.includes('count')) {
      const select = async (): Promise<PageOfList> => {
        const { bots, total, next, corrected } = await this.page(query, client);
        return { bots, total, next, corrected };
      };
      const keeping = { inputs: this.#inputsOf(selection), isExact: true };
      const page = await this.#cache.get(`page ${JSON.stringify(selection)}`, select, keeping);
      const inputs = [page.current, this.#inputOfCounts(page.bots)];
      return await this.#keep(key, inputs, async () => await build(page));
    }
    const make = async (): Promise<List> => {
      const slice = new TimeSlice();
      return await build(await this.#select(query, slice), slice);
    };
    return await this.#keep(key, this.#inputsOf(query), async () => await this.#run(client, query, make));
  }

  /**
   * Returns every markdown file as JSON, in path order.
   * @throws {BotshelfError} queue-full
   */
  async files(client = ''): Promise<List & Current> {
    const build = async (): Promise<List> => {
      const bots = await sortByPath(await this.#bots.sorted());
      const total = bots.reduce((sum, { files }) => sum + files.filter(isPage).length, 0);
      const page = { bots, total, next: undefined, corrected: undefined };
      return await buildList(page, fileForm, new TimeSlice());
    };
    const run = async (): Promise<List> => await this.#run(client, {}, build);
    return await this.#keep('list v1', [() => this.#bots.version], run);
  }

  /**
   * Returns, for each key, the `count` bots with the highest values in each group, highest first.
   * @param groupsOf returns the groups of a bot; by default its languages, and none for a bot for adults
   */
  async top(
    keys: readonly SortKey[],
    count: number,
    groupsOf = ({ nsfw, locales }: BotFacts): Iterable<string> =>
      nsfw ? [] : new Set(locales.map(toLanguage)),
  ): Promise<(readonly IndexedBot[])[]> {
    const valuesOf = keys.map((key) => this.#orders.valueOf(key));
    const byGroup = new Map<string, FirstBots[]>();
    await forEachInSlices((await this.#bots.sorted()).toReversed(), (bot) => {
      for (const group of groupsOf(bot.facts)) {
        const lists = byGroup.get(group) ?? valuesOf.map((valueOf) => keepFirst(valueOf, true, count));
        byGroup.set(group, lists);
        for (const list of lists) list.add(bot);
      }
    });
    return keys.map((_key, i) => {
      const first = [...byGroup.values()].flatMap((lists) => lists[i]?.sorted ?? []);
      return [...new Set(first.toSorted((a, b) => compareSorted(b, a)).map(({ bot }) => bot))];
    });
  }

  /** Returns the numbers of bots, with or without those for adults. */
  async sizes(withAdult: boolean): Promise<CatalogueSizes> {
    const count = async (): Promise<Record<'all' | 'general', CatalogueSizes>> =>
      await countBots(await this.#bots.sorted());
    const keeping = { inputs: [() => this.#bots.version], isExact: true };
    return (await this.#cache.get('sizes', count, keeping))[withAdult ? 'all' : 'general'];
  }

  async #select(query: ListQuery, slice: TimeSlice): Promise<PageOfBots> {
    const { q, after, sort = byId } = query;
    if (q !== undefined)
      return await this.search.search(q, slice, async (found) => await this.#choose(found, query, slice));
    if (typeof after === 'number') return await this.#cutPicked(query, after);
    const { bots } = await this.#filter(query);
    return { ...noSearch, ...cutPage(bots, this.#orders.valueOf(sort.key), sort.descending, query) };
  }

  /** Selects the page of a query from the results of its search. */
  async #choose(found: Found, query: ListQuery, slice: TimeSlice): Promise<PageOfBots> {
    const { reading } = found;
    const { q = '', after: _after, limit: _limit, sort, ...whole } = query;
    const splitWords = createWordSplitter(reading.corrected ?? q);
    const localesOf = (bot: IndexedBot): readonly Locale[] =>
      findMatchingLocales(parseListElement(bot).contents, splitWords);
    const best = await selectBest(found, sort ? whole : query, this.#counts, slice);
    const sorted = sort && (await this.#cutSorted(best.bots, sort, query));
    return { ...best, ...sorted, ...reading, localesOf, splitWords };
  }

  async #cutSorted(
    bots: readonly IndexedBot[],
    { key, descending }: Sort,
    query: ListQuery,
  ): Promise<CutPage> {
    const among = new Set(bots);
    const sorted = this.#areFew(among.size)
      ? await this.#orders.sort(key, bots)
      : await filterInSlices(await this.#orders.by(key), (bot) => among.has(bot));
    return cutPage(descending ? sorted.toReversed() : sorted, this.#orders.valueOf(key), descending, query);
  }

  /** Cuts a page from the first bots of a list. They are picked for ten pages together and cached. */
  async #cutPicked(query: ListQuery, start: number): Promise<PageOfBots> {
    const { after: _after, limit = Infinity, ...whole } = query;
    const end = Math.ceil((start + limit) / pickedTogether) * pickedTogether;
    if (end > maxPicked) return await this.#pick(whole, start, start + limit);
    const key = `picked ${end} ${JSON.stringify(whole)}`;
    const keeping = { inputs: this.#inputsOf(whole), isExact: true };
    const pick = async (): Promise<PageOfBots> => await this.#pick(whole, 0, end);
    const { current: _current, ...picked } = await this.#cache.get(key, pick, keeping);
    return { ...picked, bots: picked.bots.slice(start, start + limit) };
  }

  /**
   * Picks the bots between two places of a list in one pass over all bots, which is faster than sorting them. Bots far
   * down a list are sorted instead.
   */
  async #pick({ category, ...query }: ListQuery, start: number, end: number): Promise<PageOfBots> {
    const { key, descending } = query.sort ?? byId;
    const isFar = end > maxPicked;
    const few = isFar ? (await this.#filter(query)).bots : await this.#listFew({ author: query.author });
    const all = few ?? (await this.#bots.sorted());
    const check = createCheck(query, this.#counts);
    const first = keepFirst(this.#orders.valueOf(key), descending, end);
    const categories = new Map<Category, number>();
    let total = 0;
    // Later ids are newer: from that end, few bots displace picked ones.
    await forEachInSlices(descending && !isFar ? all.toReversed() : all, (bot) => {
      if (check?.(bot) === false) return;
      increase(categories, bot.facts.category);
      if (category?.includes(bot.facts.category) === false) return;
      total++;
      first.add(bot);
    });
    const bots = first.sorted.slice(start).map(({ bot }) => bot);
    return { ...noSearch, bots, total, next: undefined, categories };
  }

  /** Returns the bots that pass the filters of a query, in its order. Cached: all pages are slices of this list. */
  async #filter(query: ListQuery): Promise<Pick<PageOfBots, 'bots'>> {
    const { weaker: _weaker, after: _after, limit: _limit, fields: _fields, ...wanted } = query;
    const { key, descending } = query.sort ?? byId;
    const filter = async (): Promise<Pick<PageOfBots, 'bots'>> => {
      const few = Object.keys(wanted).length > 1 || wanted.ids ? await this.#listFew(wanted) : undefined;
      const bots = few ? await this.#orders.sort(key, few) : await this.#orders.by(key);
      const sorted = descending ? bots.toReversed() : bots;
      const check = createCheck(query, this.#counts);
      return { bots: check ? await filterInSlices(sorted, check) : sorted };
    };
    const keeping = { inputs: this.#inputsOf(wanted), isExact: true };
    return await this.#cache.get(`filtered ${JSON.stringify(wanted)}`, filter, keeping);
  }

  /**
   * Returns the bots in `ids`, or else those of `author` if they are few, so that other filters check only them; undefined
   * otherwise.
   */
  async #listFew({ ids, author }: ListQuery): Promise<readonly IndexedBot[] | undefined> {
    if (ids !== undefined) return ids.flatMap((id) => this.#bots.get(id) ?? []);
    if (author === undefined) return undefined;
    const { bots } = await this.#filter({ author });
    return this.#areFew(bots.length) ? bots : undefined;
  }

  /** Whether sorting this many bots is faster than a pass over all. */
  #areFew(count: number): boolean {
    return count < this.#bots.size / 16;
  }

  async #keep(key: string, inputs: readonly Input[], make: () => Promise<List>): Promise<List & Current> {
    return await this.#cache.get(key, make, { inputs, isExact: true, sizeOf: ({ size }) => size });
  }

  /** Returns the inputs that a list is rebuilt for. The order of a search depends on counts: they rank equal matches. */
  #inputsOf(query: ListQuery): Input[] {
    const { q, sort, active, fields } = query;
    const key = sort?.key ?? (q === undefined ? 'id' : 'count');
    const inputs: Input[] = [() => this.#orders.version(key)];
    if (active !== undefined || fields?.includes('count')) inputs.push(() => this.#orders.version('count'));
    if (q !== undefined)
      inputs.push(
        () => this.search.version,
        () => this.search.needs,
      );
    return inputs;
  }

  /** Returns an input that changes as soon as a count of one of the bots does. */
  #inputOfCounts(bots: readonly IndexedBot[]): Input {
    let version = -1;
    let counts = '';
    return () => {
      if (this.#counts.version === version) return counts;
      version = this.#counts.version;
      return (counts = bots.map(({ id }) => this.#counts.count(id)).join());
    };
  }

  /** Runs work in its turn. While the search index is being built, only searches wait for it. */
  async #run<T>(client: string, { q }: ListQuery, work: () => Promise<T>): Promise<T> {
    const run = async (): Promise<T> => await this.#queue.run(client, work);
    if (q === undefined) return await run();
    // Begun before the turn: all that wait share one build, also when it fails.
    const updated = this.search.update();
    updated.catch(() => {});
    return await this.#searches.run(client, async () => {
      await updated;
      return await run();
    });
  }
}

/** So few that the last of them waits for a tenth of a second, or for a quarter if many clients search, with 100,000 bots. */
const maxWaitingSearches = 32;

/** Up to this place in a list, picking bots is cheaper than sorting all of them. */
const maxPicked = 960;
const pickedTogether = 240;

/** Up to this length, a list has exact counts; in a longer one they may be a second old. */
const maxExactCounts = 100;

const byId: Sort = { key: 'id', descending: false };

/** Values of a list without a search. */
const noSearch: Omit<PageOfBots, keyof CutPage> = {
  hidden: 0,
  weaker: 0,
  mentions: 0,
  mentioning: new Set(),
  categories: new Map(),
  corrected: undefined,
  suggested: undefined,
  unmatched: [],
  localesOf: () => [],
  splitWords: (text) => [text],
};

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

/** The first bots of a list, in its order. */
interface FirstBots {
  readonly sorted: readonly SortedBot[];
  /** Adds a bot. Of bots with the same value, the one added first comes first. */
  readonly add: (bot: IndexedBot) => void;
}

/** Returns a collector of the first `count` of the added bots in an order. */
function keepFirst(valueOf: ValueOf, descending: boolean, count: number): FirstBots {
  const sorted: SortedBot[] = [];
  const isBefore = (value: SortValue, other: SortValue): boolean =>
    descending ? value > other : value < other;
  const add = (bot: IndexedBot): void => {
    const value = valueOf(bot);
    const last = sorted.at(-1);
    if (last === undefined || !isBefore(value, last.value)) {
      if (sorted.length < count) sorted.push({ bot, value });
      return;
    }
    const place = sorted.findIndex((other) => isBefore(value, other.value));
    sorted.splice(place, 0, { bot, value });
    if (sorted.length > count) sorted.pop();
  };
  return { sorted, add };
}

function createSizes() {
  return { total: 0, categories: new Map<Category, number>(), locales: new Map<Locale, number>() };
}

/** Returns the sizes of all bots, and without those for adults. */
async function countBots(bots: readonly IndexedBot[]): Promise<Record<'all' | 'general', CatalogueSizes>> {
  const [all, general] = [createSizes(), createSizes()];
  await forEachInSlices(bots, ({ facts }) => {
    for (const sizes of facts.nsfw ? [all] : [all, general]) {
      sizes.total++;
      increase(sizes.categories, facts.category);
      for (const locale of facts.locales) increase(sizes.locales, locale);
    }
  });
  return { all, general };
}

function increase<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Sorts bots by folder, then by the text of the id, as file names sort. */
async function sortByPath(bots: readonly IndexedBot[]): Promise<IndexedBot[]> {
  const withPaths: { readonly bot: IndexedBot; readonly path: string }[] = [];
  await forEachInSlices(bots, (bot) => {
    withPaths.push({ bot, path: `${folderOf(bot.id)}/${bot.id}.` });
  });
  const sorted = await sortInSlices(withPaths, (a, b) => (a.path < b.path ? -1 : 1));
  return sorted.map(({ bot }) => bot);
}

/** Builds the list of these bots as JSON. */
async function buildList(
  { bots, total, next, corrected }: PageOfList,
  { toJson, digestOf, salt }: ListForm,
  slice: TimeSlice,
): Promise<List> {
  const hash = createHash('sha1').update(`${salt} `);
  let bytes = 0;
  for (const bot of bots) {
    if (slice.isOver) await slice.next();
    hash.update(digestOf(bot));
    bytes += computeElementSize(bot);
  }
  const page = { total, next, corrected, digest: hash.digest('base64url') };
  // A larger list is generated for each response and not kept.
  if (bytes > pieceSize) {
    const body = { bytes, read: () => joinToPieces(formatArray(bots, toJson)) };
    return { ...page, body, size: bots.length * 8 };
  }
  const body = Buffer.concat([...formatArray(bots, toJson)]);
  return { ...page, body, size: body.length };
}

/** Yields a JSON array in parts, one per bot. */
function* formatArray(bots: readonly IndexedBot[], toJson: ListForm['toJson']): Generator<Buffer> {
  yield Buffer.from('[');
  for (const bot of bots) yield Buffer.concat(bot === bots[0] ? toJson(bot) : [comma, ...toJson(bot)]);
  yield Buffer.from(']');
}

const comma = Buffer.from(',');

/** The form of a bot in a list. */
interface ListForm {
  /** The parts of its JSON, in order. */
  readonly toJson: (bot: IndexedBot) => readonly Buffer[];
  /** Differs whenever the JSON does; together with the salt, also between forms. */
  readonly digestOf: (bot: IndexedBot) => string;
  readonly salt: string;
}

const fileForm: ListForm = {
  toJson: listFileItems,
  // The contents of the files do not have their names.
  digestOf: ({ id, files }) => files.map(({ locale, sha }) => `${id}.${locale} ${sha} `).join(''),
  salt: '',
};

/** Returns the form of whole elements, or of elements with only these keys. */
function createElementForm(fields: ListQuery['fields'], counts: ReadonlyCounts): ListForm {
  if (fields === undefined) return { toJson: listElementParts, digestOf: ({ digest }) => digest, salt: '' };
  const countOf = ({ id }: IndexedBot): number | null => counts.count(id) ?? null;
  const toJson = (bot: IndexedBot): Buffer[] => {
    const whole = { ...parseListElement(bot), count: countOf(bot) };
    return [Buffer.from(JSON.stringify(Object.fromEntries(fields.map((key) => [key, whole[key]]))))];
  };
  const hasCount = fields.includes('count');
  const digestOf = (bot: IndexedBot): string => (hasCount ? `${bot.digest} ${countOf(bot)} ` : bot.digest);
  return { toJson, digestOf, salt: fields.join() };
}

function listFileItems(bot: IndexedBot): Buffer[] {
  const { id, files } = bot;
  const { contents } = parseListElement(bot);
  const items = files.filter(isPage).map(({ locale, main, size, sha }): FileItem => {
    const { name = '', description = '' } = contents[locale] ?? {};
    return { id, locale, main, path: pathOf(id, locale), name, description, size, sha };
  });
  return [Buffer.from(items.map((item) => JSON.stringify(item)).join())];
}
