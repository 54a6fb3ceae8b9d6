import { createSearch } from '../app/search.ts';
import { type BotId, parseBotId } from '../bot/id.ts';
import { asksFor, parsePermission, type Permission } from '../bot/permissions.ts';
import { Lists } from '../catalogue/lists/lists.ts';
import { filters, listParameters, type ListQuery } from '../catalogue/lists/parameters.ts';
import { type IndexedBot, parseListElement } from '../catalogue/store/bot-index.ts';
import { readParameters } from '../http/query.ts';
import { CurrentCache } from '../lib/current-cache.ts';
import { UserError } from '../lib/errors.ts';
import { silentLog } from '../lib/log.ts';
import type { CatalogueOnDisk } from './catalogue-on-disk.ts';

/** Which bots a command is about: those that fit all of it. Of each filter the texts, or true where it was named without one. */
export interface BotSelectors extends Readonly<Record<string, unknown>> {
  /** Days without a count, such as 90d; a bot without any counts from when it was created. */
  readonly inactive?: string;
  readonly asks?: string;
}

/**
 * Returns the bots that a command selects, by id.
 * @param ids any where empty
 * @throws {UserError} with every bad value at once, and for ids that no bot has
 */
export async function selectBots(
  { catalogue, counts }: CatalogueOnDisk,
  ids: readonly string[],
  selectors: BotSelectors,
): Promise<readonly IndexedBot[]> {
  const { bots } = catalogue.store;
  const params = new URLSearchParams();
  for (const name of ['q', ...Object.keys(filters)])
    for (const text of [selectors[name] ?? []].flat() as (string | true)[]) params.append(name, String(text));
  const { values, errors } = readParameters(params, listParameters, catalogue.settings.current);
  const query: ListQuery = { ...values, sort: { key: 'id', descending: false } };
  const faults = errors.map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}`);
  for (const id of ids)
    if (parseBotId(id) === undefined)
      faults.push(`${JSON.stringify(id)} is not a bot id: pass 1 to 20 digits`);
    else if (bots.get(id as BotId) === undefined)
      faults.push(`there is no bot ${id} that can be read: “botshelf check” names files with faults`);
  const { inactive, asks } = selectors;
  const days = inactive === undefined ? 0 : Number(/^([1-9]\d{0,3})d$/.exec(inactive)?.[1]);
  if (Number.isNaN(days)) faults.push('--inactive: pass a number of days, such as 90d');
  const asked = asks === undefined ? undefined : parsePermission(asks);
  if (typeof asked === 'object') faults.push(`--asks: there is no such permission: use ${asked.join(', ')}`);
  if (faults.length > 0) throw new UserError(faults.join('\n'));
  const since = Date.now() - days * 24 * 60 * 60 * 1000;
  const among = new Set(ids);
  const search = createSearch(catalogue, silentLog);
  try {
    if (query.q !== undefined) await search.complete();
    const found = await new Lists(bots, search, counts, new CurrentCache()).page(query);
    return found.bots.filter(
      (bot) =>
        (ids.length === 0 || among.has(bot.id)) &&
        (inactive === undefined || (counts.reportedAt(bot.id) ?? bot.facts.created) < since) &&
        (asked === undefined || asksFor(parseListElement(bot).invite, asked as Permission)),
    );
  } finally {
    search.close();
  }
}
