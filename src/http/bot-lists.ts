import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { BotId } from '../bot/id.ts';
import type { BotListElement, Category, FileItem } from '../bot/schema-types.ts';
import type { BotIndex, IndexedBot } from '../catalogue/bot-index.ts';
import { folderOf, pathOf } from '../catalogue/layout.ts';
import type { TextSearch } from '../catalogue/search.ts';
import type { Orders } from '../catalogue/orders.ts';
import {
  compareBots,
  type Cursor,
  select,
  selectFirst,
  type Selected,
  type Selection,
  type Sort,
  type ValueOf,
} from '../catalogue/selection.ts';
import type { Body } from './compression.ts';
import type { ListQuery } from './list-query.ts';

/** A list as JSON: an array, one element a bot or file. */
export interface List {
  readonly digest: string;
  readonly body: Body;
  readonly total: number;
  readonly next: Cursor | undefined;
  /** Whether the list would still be the same. */
  readonly current: () => boolean;
}

/** The lists of v1 and v2, each made once for a version of the index and a query. */
export class BotLists {
  readonly #bots: BotIndex;
  readonly #search: TextSearch;
  readonly #orders: Orders;
  readonly #lists = new LRUCache<string, List, () => Promise<List>>({
    max: 500,
    fetchMethod: (_key, _stale, { context }) => context(),
  });

  #categories: { version: number } & CategoryCounts = { version: -1, all: new Map(), general: new Map() };

  constructor(bots: BotIndex, search: TextSearch, orders: Orders) {
    this.#bots = bots;
    this.#search = search;
    this.#orders = orders;
  }

  /** The list elements that a query asks for. */
  async elements(query: ListQuery): Promise<List> {
    const { key } = query.sort ?? byId;
    const { version } = this.#orders.by(key);
    const current = (): boolean => this.#orders.by(key).version === version;
    return await this.#list(JSON.stringify(['v2', version, query]), async () => {
      const selected = await this.select(query);
      return { ...listOf(selected, elementOf(query.fields), query.fields?.join() ?? ''), current };
    });
  }

  /** The bots that a query asks for: in its order, else the best fit first, else by id. */
  async select(query: Selection): Promise<Selected> {
    const scores = query.q === undefined ? undefined : await this.#search.search(query.q);
    if (scores && query.sort === undefined) return this.#byScore(scores, query);
    const { key, descending } = query.sort ?? byId;
    const { bots, valueOf } = this.#orders.by(key);
    return select(descending ? bots.toReversed() : bots, valueOf, descending, query, scores);
  }

  /** The first bots of what a query without words asks for, found without putting all of them in order. */
  first(query: Omit<Selection, 'q' | 'after' | 'limit'>, count: number): IndexedBot[] {
    const { key, descending } = query.sort ?? byId;
    return selectFirst(this.#bots.all(), this.#orders.valueOf(key), descending, query, count);
  }

  /** How many bots each category has, with those for adults or without. */
  categories(withAdult: boolean): ReadonlyMap<Category, number> {
    const { version } = this.#bots;
    if (this.#categories.version !== version)
      this.#categories = { version, ...countCategories(this.#bots.all()) };
    return withAdult ? this.#categories.all : this.#categories.general;
  }

  /** Every markdown file, in path order. */
  async files(): Promise<List> {
    const { version } = this.#bots;
    return await this.#list(JSON.stringify(['v1', version]), async () => {
      const bots = inPathOrder(this.#bots.all());
      const shas = bots.flatMap(({ files }) => files.map(({ sha }) => sha));
      const list = listOf({ bots, total: shas.length, next: undefined }, fileItems, shas.join(''));
      return { ...list, current: () => this.#bots.version === version };
    });
  }

  /** The best fit first. */
  #byScore(scores: ReadonlyMap<BotId, number>, query: ListQuery): Selected {
    const valueOf: ValueOf = ({ id }) => scores.get(id) ?? 0;
    const found = [...scores.keys()].flatMap((id) => this.#bots.get(id) ?? []);
    found.sort((a, b) => compareBots(b, a, valueOf));
    return select(found, valueOf, true, query);
  }

  async #list(key: string, make: () => Promise<List>): Promise<List> {
    return await this.#lists.forceFetch(key, { context: make });
  }
}

interface CategoryCounts {
  readonly all: ReadonlyMap<Category, number>;
  /** Without bots for adults. */
  readonly general: ReadonlyMap<Category, number>;
}

function countCategories(bots: readonly IndexedBot[]): CategoryCounts {
  const all = new Map<Category, number>();
  const general = new Map<Category, number>();
  for (const { facts } of bots) {
    all.set(facts.category, (all.get(facts.category) ?? 0) + 1);
    if (!facts.nsfw) general.set(facts.category, (general.get(facts.category) ?? 0) + 1);
  }
  return { all, general };
}

const byId: Sort = { key: 'id', descending: false };

function listOf(
  { bots, total, next }: Selected,
  toJson: (bot: IndexedBot) => Buffer,
  salt: string,
): Omit<List, 'current'> {
  const digest = hash('sha1', `${salt} ${bots.map((bot) => bot.digest).join('')}`, 'base64url');
  const size = bots.reduce((sum, { element }) => sum + element.length, 0);
  const pieces = (): Iterable<Buffer> => arrayOf(bots, toJson);
  return { digest, total, next, body: size <= piece ? Buffer.concat([...pieces()]) : pieces };
}

/** Folder by folder, and within one by the text of the id, as file names sort. */
function inPathOrder(bots: readonly IndexedBot[]): IndexedBot[] {
  const folders = new Map<string, IndexedBot[]>();
  for (const bot of bots) {
    const folder = folderOf(bot.id);
    const others = folders.get(folder);
    if (others) others.push(bot);
    else folders.set(folder, [bot]);
  }
  const sorted = [...folders].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sorted.flatMap(([, inFolder]) => inFolder.toSorted((a, b) => (`${a.id}.` < `${b.id}.` ? -1 : 1)));
}

const piece = 64 * 1024;

/** A JSON array in pieces of a good size for a socket. */
function* arrayOf(bots: readonly IndexedBot[], toJson: (bot: IndexedBot) => Buffer): Generator<Buffer> {
  let parts: Buffer[] = [openBracket];
  let size = 0;
  let separator: Buffer | undefined;
  for (const bot of bots) {
    const json = toJson(bot);
    if (separator) parts.push(separator);
    parts.push(json);
    separator = comma;
    size += json.length + 1;
    if (size < piece) continue;
    yield Buffer.concat(parts);
    parts = [];
    size = 0;
  }
  yield Buffer.concat([...parts, closeBracket]);
}

const openBracket = Buffer.from('[');
const closeBracket = Buffer.from(']');
const comma = Buffer.from(',');

/** The element as it is, or only the keys asked for. */
function elementOf(fields: ListQuery['fields']): (bot: IndexedBot) => Buffer {
  if (fields === undefined) return ({ element }) => element;
  return ({ element }) => {
    const whole = JSON.parse(element.toString()) as BotListElement;
    return Buffer.from(JSON.stringify(Object.fromEntries(fields.map((key) => [key, whole[key]]))));
  };
}

function fileItems({ id, element, files }: IndexedBot): Buffer {
  const { contents } = JSON.parse(element.toString()) as BotListElement;
  const items = files.map(({ locale, main, size, sha }): FileItem => {
    const { name = '', description = '' } = contents[locale] ?? {};
    return { id, locale, main, path: pathOf(id, locale), name, description, size, sha };
  });
  return Buffer.from(items.map((item) => JSON.stringify(item)).join());
}
