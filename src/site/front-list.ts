import type { Category } from '../bot/schema-types.ts';
import type { IndexedBot } from '../catalogue/bot-index.ts';
import type { Selection } from '../catalogue/selection.ts';
import type { BotLists } from '../http/bot-lists.ts';
import { type FrontQuery, type SortName, sorts } from './front-query.ts';

/** One page of a list of bots. */
export interface FrontList {
  readonly bots: readonly IndexedBot[];
  /** How many bots there are on all pages. */
  readonly total: number;
  readonly pages: number;
  /** How many bots of each category fit the rest of the query. */
  readonly categories: ReadonlyMap<Category, number>;
}

/** The bots that a page shows. */
export async function frontList(lists: BotLists, query: FrontQuery): Promise<FrontList> {
  const { q, page } = query;
  return q === '' && page <= fewPages ? beginning(lists, query) : await whole(lists, query);
}

/** One of the first pages of all bots, in a single look at each: it is asked for most. */
function beginning(lists: BotLists, { sort, category, nsfw, page }: FrontQuery): FrontList {
  const categories = lists.categories(nsfw);
  const counts = category === undefined ? [...categories.values()] : [categories.get(category) ?? 0];
  const selection = { ...selectionOf(sort, nsfw), ...(category && { categories: [category] }) };
  const bots = lists.first(selection, page * pageSize).slice((page - 1) * pageSize);
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
