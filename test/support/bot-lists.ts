import type { ReadonlyCounts } from '../../src/bot/counts.ts';
import { BotLists } from '../../src/catalogue/lists/bot-lists.ts';
import { SortedIndexes } from '../../src/catalogue/lists/sorted-indexes.ts';
import { BotSearch } from '../../src/catalogue/search/bot-search.ts';
import type { BotIndex, IndexedBot } from '../../src/catalogue/store/bot-index.ts';
import { CurrentCache } from '../../src/lib/current-cache.ts';
import { defaultNeeds } from './needs.ts';
import { noCounts } from './counts.ts';

/** The lists of these bots with these counts, and a search whose errors fail the test. */
export function listsOf(bots: BotIndex, counts: ReadonlyCounts = noCounts, needs = defaultNeeds): BotLists {
  const fail = (error: unknown): never => {
    throw error;
  };
  const sortedIndexes = new SortedIndexes(bots, counts);
  return new BotLists(bots, new BotSearch(bots, fail, needs), sortedIndexes, new CurrentCache());
}

export function idsOf(bots: readonly IndexedBot[]): string[] {
  return bots.map(({ id }) => id);
}
