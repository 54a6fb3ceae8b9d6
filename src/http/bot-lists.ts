import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { BotId } from '../bot/id.ts';
import type { BotListElement, FileItem } from '../bot/schema-types.ts';
import type { BotIndex, IndexedBot } from '../catalogue/bot-index.ts';
import { folderOf, pathOf } from '../catalogue/layout.ts';
import type { TextSearch } from '../catalogue/search.ts';
import { type Cursor, select, type Selected } from '../catalogue/selection.ts';
import type { Body } from './compression.ts';
import type { ListQuery } from './list-query.ts';

/** How many servers each bot is in, as far as lists need it. */
export interface Counts {
  /** Grows with each change. */
  readonly version: number;
  count(id: BotId): number | undefined;
}

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
  readonly #counts: Counts;
  readonly #lists = new LRUCache<string, List, () => Promise<List>>({
    max: 500,
    fetchMethod: (_key, _stale, { context }) => context(),
  });

  constructor(bots: BotIndex, search: TextSearch, counts: Counts) {
    this.#bots = bots;
    this.#search = search;
    this.#counts = counts;
  }

  /** The list elements that a query asks for. */
  async elements(query: ListQuery): Promise<List> {
    const version = this.#bots.version;
    const order = query.sort?.key === 'count' ? this.#countOrder() : 0;
    const current = (): boolean =>
      this.#bots.version === version && (order === 0 || this.#countOrder() === order);
    return await this.#list(JSON.stringify(['v2', version, order, query]), async () => {
      const scores = query.q === undefined ? undefined : await this.#search.search(query.q);
      const selected = select(this.#bots.all(), query, scores, (id) => this.#counts.count(id));
      return { ...listOf(selected, elementOf(query.fields), query.fields?.join() ?? ''), current };
    });
  }

  /** Every markdown file, in path order. */
  async files(): Promise<List> {
    const version = this.#bots.version;
    return await this.#list(JSON.stringify(['v1', version]), async () => {
      const bots = this.#bots.all().map((bot) => ({ bot, key: `${folderOf(bot.id)}/${bot.id}.` }));
      bots.sort((a, b) => (a.key < b.key ? -1 : 1));
      const sorted = bots.map(({ bot }) => bot);
      const shas = sorted.flatMap(({ files }) => files.map(({ sha }) => sha));
      const list = listOf({ bots: sorted, total: shas.length, next: undefined }, fileItems, shas.join());
      return { ...list, current: () => this.#bots.version === version };
    });
  }

  async #list(key: string, make: () => Promise<List>): Promise<List> {
    return await this.#lists.forceFetch(key, { context: make });
  }

  /** Counts change all the time: lists in their order are made anew once a second at most. */
  #countOrder(): number {
    return this.#counts.version === 0 ? 1 : 1 + Math.floor(Date.now() / 1000);
  }
}

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
