import type { Category, MainPage } from '../../../schemas/types.ts';
import { msPerDay } from '../../bot/clock.ts';
import type { BotId } from '../../bot/id.ts';
import { type Blocked, findBlocked, nothingBlocked } from '../../catalogue/settings/blocked.ts';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import { findBlockedIn } from '../../check/check.ts';
import { createFullError, FairQueue } from '../../lib/serial-queue.ts';
import { withoutBidiControls } from '../../lib/text.ts';
import {
  nameAuthors,
  rankWarning,
  readTrustChanges,
  type TrustChange,
  type Warning,
} from '../changes/trust.tsx';
import type { PageParts } from '../page/page-context.tsx';
import { readRemovedData, type RemovedAt } from './removed-bots.ts';

/** A bot that somebody watches: listed, removed, or blocked. */
export interface WatchedBot {
  readonly id: BotId;
  /** Undefined if the bot is not listed. */
  readonly indexed: IndexedBot | undefined;
  /** In the default language of the bot; its id if the name is unknown. */
  readonly name: string;
  readonly category: Category;
  readonly count: number | undefined;
  /** Worst first. */
  readonly warnings: readonly WatchWarning[];
  /** Whether its history was read; else there may be more warnings. */
  readonly isRead: boolean;
}

export interface WatchWarning extends Warning {
  /** Stays the same for as long as the warning is shown. */
  readonly id: string;
  /** When the warning began, in milliseconds since the epoch. */
  readonly time: number;
  /** Set if a commit of the bot's history has the change. */
  readonly commit?: string;
}

/**
 * Reads what a server's owner should know of these bots, the bot with the worst warning first. Reads at most 25 histories
 * that are not cached; clients take turns. Leaves out bots that the list has never had, as far as it knows.
 * @param address that of the client
 */
export type ReadWatched = (ids: readonly BotId[], address: string) => Promise<readonly WatchedBot[]>;

interface WatchParts extends PageParts {
  /** The block list if it is public: that of the catalogue. */
  readonly publicBlocked: { readonly current: Blocked | null };
  readonly removedAt: RemovedAt;
}

export function createWatchReader(parts: WatchParts): ReadWatched {
  const { bots, changes, cache } = parts;
  const queue = new FairQueue(64);
  return async (ids, address) => {
    let cold = 0;
    const watched: WatchedBot[] = [];
    for (const id of ids) {
      const inputs = [() => changes.stamp(id), () => bots.get(id), () => Math.floor(Date.now() / msPerDay)];
      const read = async (): Promise<History> => {
        if (!changes.isComplete || ++cold > maxCold) throw createFullError('share-full', maxCold);
        return await queue.run(address, async () => await readHistory(id, parts));
      };
      const reading = cache.get(`watched ${id}`, read, { inputs, isExact: true });
      watched.push(...toWatched(id, await reading.catch(() => undefined), parts));
    }
    return watched.toSorted((a, b) => rankBot(a) - rankBot(b));
  };
}

/** Maximum number of histories that a request reads. */
const maxCold = 25;

interface History {
  /** Empty for a bot that is not listed. */
  readonly changes: readonly TrustChange[];
  /** When the bot was removed; undefined if it is listed, or never was. */
  readonly removed: number | undefined;
  /** The last front matter of a removed bot. */
  readonly data: Partial<MainPage>;
}

/** @throws {GitError} */
async function readHistory(id: BotId, { bots, changes, removedAt }: WatchParts): Promise<History> {
  const removed = await removedAt(id);
  const data = removed === undefined ? {} : await readRemovedData(changes, id);
  return { changes: bots.get(id) ? await readTrustChanges(changes, id) : [], removed, data };
}

/** Returns the place of a bot: by its worst warning, then those that are not read, then those without warnings. */
function rankBot({ warnings: [worst], isRead }: WatchedBot): number {
  return worst ? rankWarning(worst) : isRead ? Infinity : Number.MAX_VALUE;
}

/** Returns no bot for an id that was never listed, and is not blocked. */
function toWatched(id: BotId, history: History | undefined, parts: WatchParts): WatchedBot[] {
  const { settings } = parts.site;
  const indexed = parts.bots.get(id);
  const { changes = [], removed, data = {} } = history ?? {};
  const warnings: WatchWarning[] = nameAuthors(changes, parts.authors).map((change) => {
    return { ...change, id: `${change.kind}:${change.commit}`, time: change.since };
  });
  const add = (kind: Warning['kind'], key: string | number, since: number, time = since): void =>
    void warnings.push({ kind, id: `${kind}:${key}`, values: [], since, time });
  if (removed !== undefined) add('gone', data.created ?? '', removed);
  const blocked = parts.publicBlocked.current ?? nothingBlocked;
  const { name = id, authors = [] } = data;
  const names = indexed ? findBlockedIn(indexed, blocked) : findBlocked(blocked, { bots: [id], authors });
  // The names and reasons are for maintainers.
  for (const entry of names.slice(0, 1)) {
    const day = blocked[`${entry.kind}s`][entry.name]?.since ?? '';
    add('blocked', day, Date.parse(day) || (removed ?? indexed?.facts.edited ?? 0));
  }
  const counted = parts.counts.reportedAt(id) ?? Infinity;
  const missed = counted + settings.inactiveDays * msPerDay;
  // A restart may change the time by an hour.
  if (indexed && missed <= Date.now()) add('count', Math.floor(counted / msPerDay / 7), counted, missed);
  if (!indexed && history && warnings.length === 0) return [];
  return [
    {
      id,
      indexed,
      name: withoutBidiControls(indexed?.facts.name ?? name),
      category: settings.categories.find((known) => known === (indexed?.facts ?? data).category) ?? 'other',
      count: parts.counts.count(id),
      warnings: warnings.toSorted((a, b) => rankWarning(a) - rankWarning(b)),
      isRead: history !== undefined,
    },
  ];
}
