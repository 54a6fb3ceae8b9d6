import type { Catalogue } from '../catalogue/store/catalogue.ts';
import { BotSearch } from '../catalogue/search/bot-search.ts';
import { getNeeds } from '../catalogue/search/needs.ts';
import type { Log } from '../lib/log.ts';

/** Creates the search over the bots of a catalogue. Its index is built by `buildSearchIndex`, or by the first search. */
export function createSearch(catalogue: Catalogue, log: Log): BotSearch {
  return new BotSearch(
    catalogue.store.bots,
    (error) => log.error({ err: error }, 'the search index could not be built: searches use what there is'),
    () => getNeeds(catalogue.settings.current),
  );
}

/** Builds the search index when every bot is in memory. A search before that starts it, and waits. */
export async function buildSearchIndex(catalogue: Catalogue, search: BotSearch, log: Log): Promise<void> {
  const started = performance.now();
  try {
    if (!(await catalogue.bots.unpacked())) return;
    await search.complete();
    log.debug({ ms: Math.round(performance.now() - started) }, 'the search index is built');
  } catch (error) {
    if (!search.closed)
      log.error({ err: error }, 'the search index could not be built: the next search tries again');
  }
}
