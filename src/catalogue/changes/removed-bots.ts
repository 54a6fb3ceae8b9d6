import type { BotId } from '../../bot/id.ts';
import type { BotStore } from '../store/bot-store.ts';
import type { ReadonlyChanges } from './change-index.ts';

/**
 * Returns when a bot was removed, in milliseconds since the epoch: when its last file was seen to go, else the time of the
 * commit. Undefined for a bot of which that is not known, and for one that has a file: while that is faulty, it is not served.
 */
export type RemovedAt = (id: BotId) => Promise<number | undefined>;

/** Notes the bots that go from now on. Of the others the index knows; nothing without a repository, or before it is complete. */
export function followRemovedBots(store: BotStore, changes: Pick<ReadonlyChanges, 'list'>): RemovedAt {
  const seen = new Map<BotId, number>();
  store.on('change', (id) => {
    if (store.bots.get(id)) seen.delete(id);
    else if (seen.size < maxSeen) seen.set(id, Date.now());
  });
  return async (id) => {
    if (store.bots.get(id) || store.hasFaultyFile(id)) return undefined;
    const time = seen.get(id);
    if (time !== undefined) return time;
    const [last] = await changes.list(id);
    return last?.pages.every(({ after }) => after === undefined) ? last.time : undefined;
  };
}

/** About 10 MB. */
const maxSeen = 100_000;
