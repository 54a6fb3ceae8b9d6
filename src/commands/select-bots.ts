import { createSearch } from '../app/search.ts';
import type { BotId } from '../bot/id.ts';
import { asksFor, type Permission } from '../bot/permissions.ts';
import { BotLists } from '../catalogue/lists/bot-lists.ts';
import type { Selection } from '../catalogue/lists/selection.ts';
import { SortedIndexes } from '../catalogue/lists/sorted-indexes.ts';
import { type IndexedBot, parseListElement } from '../catalogue/store/bot-index.ts';
import { UserError } from '../lib/errors.ts';
import { silentLog } from '../lib/log.ts';
import type { CatalogueOnDisk } from './catalogue-on-disk.ts';

/** Which bots a command is about: those that fit all of it. */
export interface BotQuery extends Omit<Selection, 'sort' | 'limit' | 'after'> {
  /** Any where left out. */
  readonly ids?: readonly BotId[] | undefined;
  /** Days without a count; a bot without any counts from when it was created. */
  readonly inactiveDays?: number | undefined;
  readonly asks?: Permission | undefined;
}

/** Returns the bots that a query selects, by id. @throws {UserError} for an id that no bot has */
export async function selectBots(
  { catalogue, counts }: CatalogueOnDisk,
  { ids, inactiveDays, asks, ...selection }: BotQuery,
): Promise<readonly IndexedBot[]> {
  const { bots } = catalogue.store;
  const unknown = ids?.find((id) => bots.get(id) === undefined);
  if (unknown !== undefined)
    throw new UserError(
      `there is no bot ${unknown} that can be read: “botshelf check” names files with faults`,
    );
  const since = Date.now() - (inactiveDays ?? 0) * 24 * 60 * 60 * 1000;
  const among = ids && new Set(ids);
  const search = createSearch(catalogue, silentLog);
  try {
    if (selection.q !== undefined) await search.complete();
    const lists = new BotLists(bots, search, new SortedIndexes(bots, counts));
    const found = await lists.select({ ...selection, sort: { key: 'id', descending: false } });
    return found.bots.filter(
      (bot) =>
        among?.has(bot.id) !== false &&
        (inactiveDays === undefined || (counts.reportedAt(bot.id) ?? bot.facts.created) < since) &&
        (asks === undefined || asksFor(parseListElement(bot).invite, asks)),
    );
  } finally {
    search.close();
  }
}
