import type { Category } from '../../bot/schema-types.ts';
import type { IndexedBot } from '../../catalogue/index/bot-index.ts';
import type { Selection } from '../../catalogue/index/selection.ts';
import type { BotLists } from '../../catalogue/index/bot-lists.ts';
import { type Current, CurrentCache } from '../../concurrency/current-cache.ts';
import { frontPath, type FrontQuery, type SortName, sorts } from './front-query.ts';

/** One page of a list of bots. */
export interface FrontList {
  readonly bots: readonly IndexedBot[];
  /** How many bots there are on all pages. */
  readonly total: number;
  readonly pages: number;
  /** How many bots of each category fit the rest of the query. */
  readonly categories: ReadonlyMap<Category, number>;
}

/** Lists of bots by what was asked for, in whatever languages, kept while they are current. */
export class FrontLists {
  readonly #lists: BotLists;
  readonly #versionOf: () => string;
  readonly #kept = new CurrentCache<FrontList & Current>(16 * 1024 * 1024, ({ bots }) =>
    bots.reduce((sum, { record, element }) => sum + record.length + element.length, 0),
  );

  /** @param versionOf differs from what it was when a list may be another */
  constructor(lists: BotLists, versionOf: () => string) {
    this.#lists = lists;
    this.#versionOf = versionOf;
  }

  /**
   * The bots that a page shows.
   * @throws {QueueFullError}
   */
  async get(query: FrontQuery): Promise<FrontList & Current> {
    return await this.#kept.get(frontPath({ ...query, locale: undefined }), async () => {
      const version = this.#versionOf();
      const start = performance.now();
      const list = await frontList(this.#lists, query);
      const end = performance.now();
      const fresh = end + Math.min((end - start) * restraint, longestRestraint);
      return { ...list, current: () => this.#versionOf() === version || performance.now() < fresh };
    });
  }
}

/** However often the catalogue changes, a list is not made again for more than a part of the time. */
const restraint = 20;

/** Milliseconds; a list may have waited for its turn. */
const longestRestraint = 5000;

async function frontList(lists: BotLists, query: FrontQuery): Promise<FrontList> {
  const { q, page } = query;
  return await (q === '' && page <= fewPages ? beginning(lists, query) : whole(lists, query));
}

/** One of the first pages of all bots, in a single look at each: it is asked for most. */
async function beginning(lists: BotLists, { sort, category, nsfw, page }: FrontQuery): Promise<FrontList> {
  const categories = await lists.categories(nsfw);
  const counts = category === undefined ? [...categories.values()] : [categories.get(category) ?? 0];
  const selection = { ...selectionOf(sort, nsfw), ...(category && { categories: [category] }) };
  const bots = (await lists.first(selection, page * pageSize)).slice((page - 1) * pageSize);
  return listOf(
    bots,
    counts.reduce((sum, count) => sum + count, 0),
    categories,
  );
}

async function whole(lists: BotLists, { q, sort, category, nsfw, page }: FrontQuery): Promise<FrontList> {
  const { bots } = await lists.select({ ...(q !== '' && { q }), ...selectionOf(sort, nsfw) });
  const categories = new Map<Category, number>();
  for (const { facts } of bots) categories.set(facts.category, (categories.get(facts.category) ?? 0) + 1);
  const shown = category === undefined ? bots : bots.filter(({ facts }) => facts.category === category);
  return listOf(shown.slice((page - 1) * pageSize, page * pageSize), shown.length, categories);
}

function selectionOf(sort: SortName, nsfw: boolean): Selection {
  const order = sorts[sort];
  return { ...(order && { sort: order }), ...(!nsfw && { nsfw }) };
}

function listOf(bots: readonly IndexedBot[], total: number, categories: FrontList['categories']): FrontList {
  return { bots, total, pages: Math.ceil(total / pageSize), categories };
}

const pageSize = 24;

/** So many pages are cheaper to pick than to sort everything for. */
const fewPages = 40;
