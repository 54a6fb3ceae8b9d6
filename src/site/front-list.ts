import type { Category } from '../bot/schema-types.ts';
import type { IndexedBot } from '../catalogue/bot-index.ts';
import type { BotLists } from '../http/bot-lists.ts';
import { type FrontQuery, sorts } from './front-query.ts';

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
export async function frontList(
  lists: BotLists,
  { q, sort, category, nsfw, page }: FrontQuery,
): Promise<FrontList> {
  const order = sorts[sort];
  const { bots } = await lists.select({
    ...(q !== '' && { q }),
    ...(order && { sort: order }),
    ...(!nsfw && { nsfw }),
  });
  const categories = new Map<Category, number>();
  for (const { facts } of bots) categories.set(facts.category, (categories.get(facts.category) ?? 0) + 1);
  const shown = category === undefined ? bots : bots.filter(({ facts }) => facts.category === category);
  return {
    bots: shown.slice((page - 1) * pageSize, page * pageSize),
    total: shown.length,
    pages: Math.ceil(shown.length / pageSize),
    categories,
  };
}

const pageSize = 24;
