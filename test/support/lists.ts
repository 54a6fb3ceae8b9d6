import { CurrentCache } from '../../src/lib/current-cache.ts';
import type { ReadonlyCounts } from '../../src/bot/counts.ts';
import { Lists } from '../../src/catalogue/lists/lists.ts';
import type { Cursor } from '../../src/catalogue/lists/orders.ts';
import type { ListQuery } from '../../src/catalogue/lists/parameters.ts';
import { BotSearch } from '../../src/catalogue/search/bot-search.ts';
import type { BotIndex, IndexedBot } from '../../src/catalogue/store/bot-index.ts';
import { defaultNeeds } from './needs.ts';
import { noCounts } from './counts.ts';

/** The lists of these bots with these counts, and a search whose errors fail the test. */
export function listsOf(bots: BotIndex, counts: ReadonlyCounts = noCounts, needs = defaultNeeds): Lists {
  const fail = (error: unknown): never => {
    throw error;
  };
  return new Lists(bots, new BotSearch(bots, fail, needs), counts, new CurrentCache());
}

export function idsOf(bots: readonly IndexedBot[]): string[] {
  return bots.map(({ id }) => id);
}

/** Returns the ids of all bots of a list, page by page as `next` leads. */
export async function pagesOf(lists: Lists, query: ListQuery): Promise<string[]> {
  const ids: string[] = [];
  let after: Cursor | undefined;
  do {
    const page = await lists.page({ ...query, ...(after && { after }) });
    ids.push(...idsOf(page.bots));
    after = page.next;
  } while (after);
  return ids;
}
