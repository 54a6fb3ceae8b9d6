import type { MainPage } from '../../../schemas/types.ts';
import { type BotId, parseBotId } from '../../bot/id.ts';
import { validate } from '../../bot/validate.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { readMainData, type ReadonlyChanges } from '../../catalogue/changes/bot-changes.ts';
import { isError } from '../../lib/errors.ts';
import type { FindRemoved } from '../front/error-pages.tsx';
import type { PageParts } from '../page/page-context.tsx';

/** Returns a function that finds the removed bot that a request is for. */
export function createRemovedFinder(
  { changes, site }: Pick<PageParts, 'changes' | 'site'>,
  removedAt: RemovedAt,
): FindRemoved {
  return async (error) => {
    const id = isError(error, 'unknown-bot') ? parseBotId(error.details.id ?? '') : undefined;
    const time = id && (await removedAt(id));
    if (id === undefined || time === undefined) return undefined;
    const readCategory = async () => {
      const { category } = await readRemovedData(changes, id);
      return site.settings.categories.find((known) => known === category);
    };
    return { id, time, readCategory };
  };
}

/**
 * Returns the front matter that the main page of a removed bot had last; empty if it is unknown, or was faulty and
 * never served.
 * @throws {GitError}
 */
export async function readRemovedData(index: ReadonlyChanges, id: BotId): Promise<Partial<MainPage>> {
  const [last] = await index.listSteps(id);
  const data = last ? readMainData((await index.read(id, last)).before) : {};
  return validate('main-page', data).length > 0 ? {} : data;
}

/**
 * Returns when a bot was removed, in milliseconds since the epoch: when its last file disappeared, else the time of
 * the commit. Undefined if that is unknown, or if the bot still has a file, which may be faulty and not served.
 */
export type RemovedAt = (id: BotId) => Promise<number | undefined>;

/**
 * Records the bots that are removed from now on. Earlier removals come from the index, if there is a repository and
 * once the index is complete.
 */
export function trackRemovedBots(
  store: Catalogue['store'],
  changes: Pick<ReadonlyChanges, 'listSteps'>,
): RemovedAt {
  const seen = new Map<BotId, number>();
  store.on('change', (id) => {
    if (store.bots.get(id)) seen.delete(id);
    else if (seen.size < maxSeen) seen.set(id, Date.now());
  });
  return async (id) => {
    if (store.bots.get(id) || store.hasFaultyFile(id)) return undefined;
    const time = seen.get(id);
    if (time !== undefined) return time;
    const [last] = await changes.listSteps(id);
    return last?.pages.every(({ after }) => after === undefined) ? last.time : undefined;
  };
}

/** About 10 MB of memory. */
const maxSeen = 100_000;
