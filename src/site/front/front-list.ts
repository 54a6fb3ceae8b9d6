import type { Category } from '../../bot/schema-types.ts';
import type { BotIndex, IndexedBot } from '../../catalogue/index/bot-index.ts';
import type { Selection } from '../../catalogue/lists/selection.ts';
import type { BotLists } from '../../catalogue/lists/bot-lists.ts';
import type { ReadonlyCounts } from '../../bot/counts.ts';
import { type Current, CurrentCache } from '../../concurrency/current-cache.ts';
import { frontPath, type FrontQuery, type SortName, sorts } from './front-query.ts';

/** One page of a list of bots. */
export interface FrontList {
  readonly entries: readonly FrontEntry[];
  /** How many bots there are on all pages. */
  readonly total: number;
  readonly pages: number;
  /** How many bots of each category match the rest of the query. */
  readonly categories: ReadonlyMap<Category, number>;
}

export interface FrontEntry {
  readonly bot: IndexedBot;
  readonly count: number | undefined;
}

/** Lists of bots by query, in all languages, kept while they are current. */
export class FrontLists {
  readonly #lists: BotLists;
  readonly #versions: () => { readonly bots: number; readonly counts: number };
  readonly #counts: ReadonlyCounts;
  readonly #kept = new CurrentCache<FrontList>(
    16 * 1024 * 1024,
    ({ entries }) => entries.reduce((sum, { bot }) => sum + bot.record.length + bot.element.length, 0),
    (took) => Math.min(took * restraint, longestRestraint),
  );

  constructor(lists: BotLists, bots: BotIndex, counts: ReadonlyCounts) {
    this.#lists = lists;
    this.#counts = counts;
    this.#versions = () => ({ bots: bots.version, counts: counts.version });
  }

  /**
   * Returns the bots that a page shows.
   * @throws {QueueFullError}
   */
  async get(query: FrontQuery): Promise<FrontList & Current> {
    return await this.#kept.get(frontPath({ ...query, locale: undefined }), this.#versions, async () => {
      const { bots, ...list } = await selectPage(this.#lists, query);
      return { ...list, entries: bots.map((bot) => ({ bot, count: this.#counts.count(bot.id) })) };
    });
  }
}

/** A list stays for this many times the time it took to make, however often the catalogue changes. */
const restraint = 20;

/** Milliseconds; a list may have waited in the queue. */
const longestRestraint = 5000;

/** The bots of one page, and the numbers of the whole list. */
interface SelectedPage extends Omit<FrontList, 'entries'> {
  readonly bots: readonly IndexedBot[];
}

async function selectPage(lists: BotLists, query: FrontQuery): Promise<SelectedPage> {
  const { q, page } = query;
  if (q !== '' && sorts[query.sort] === undefined) return await selectBestMatches(lists, query);
  return await (q === '' && page <= fewPages ? selectBeginning(lists, query) : selectAll(lists, query));
}

/** Selects one of the first pages, which are requested most, in one pass over the bots and without sorting them. */
async function selectBeginning(
  lists: BotLists,
  { sort, category, nsfw, page }: FrontQuery,
): Promise<SelectedPage> {
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

/** Selects a page of what a search finds, without sorting all of it. */
async function selectBestMatches(
  lists: BotLists,
  { q, category, nsfw, page }: FrontQuery,
): Promise<SelectedPage> {
  const selection = { ...selectionOf('relevance', nsfw), ...(category && { categories: [category] }) };
  const { bots, total, categories } = await lists.search({ q, ...selection, limit: page * pageSize });
  return listOf(bots.slice((page - 1) * pageSize), total, categories);
}

async function selectAll(
  lists: BotLists,
  { q, sort, category, nsfw, page }: FrontQuery,
): Promise<SelectedPage> {
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

function listOf(
  bots: readonly IndexedBot[],
  total: number,
  categories: FrontList['categories'],
): SelectedPage {
  return { bots, total, pages: Math.ceil(total / pageSize), categories };
}

const pageSize = 24;

/** Up to this page, picking the bots is cheaper than sorting them all. */
const fewPages = 40;
