import type { Category } from '../../../schemas/types.ts';
import { msPerDay } from '../../bot/clock.ts';
import type { BotId } from '../../bot/id.ts';
import { readRemovedData, type RemovedAt } from '../../catalogue/changes/bot-changes.ts';
import type { PageData } from '../../catalogue/page/page.ts';
import {
  type Blocked,
  type BlockedName,
  findBlocked,
  nothingBlocked,
} from '../../catalogue/settings/blocked.ts';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import { findBlockedIn } from '../../check/check.ts';
import { FairQueue } from '../../lib/serial-queue.ts';
import {
  keepHistory,
  nameAuthors,
  rankWarning,
  readKeptChanges,
  toChangesKey,
  type Warning,
} from '../changes/changed-fields.tsx';
import { withoutBidiControls } from '../page/elements.tsx';
import type { PageParts } from '../page/page-context.tsx';

/** A bot that somebody watches: listed, removed, or blocked. */
export interface WatchedBot {
  readonly id: BotId;
  /** Undefined if the bot is not listed. */
  readonly indexed: IndexedBot | undefined;
  /** In the default language of the bot; its id if the name is unknown. */
  readonly name: string;
  readonly category: Category | undefined;
  /** Worst first. */
  readonly warnings: readonly WatchWarning[];
  /** Whether its history was read; else there may be more warnings. */
  readonly isRead: boolean;
}

/** A warning with an id that stays the same for as long as the warning is shown. */
export interface WatchWarning extends Warning {
  readonly id: string;
  /** Set if a commit of the bot's history has the change. */
  readonly commit?: string;
}

/** Watched bots, the bot with the worst warning first. */
export interface WatchedBots {
  readonly bots: readonly WatchedBot[];
  /** The ids of bots that the list has never had, as far as it knows. */
  readonly missing: readonly BotId[];
  /** The number of bots whose history was not read yet. */
  readonly unread: number;
}

/**
 * Reads what a server's owner should know of these bots. Reads the history of 25 bots that are not cached, in turns.
 * @param address that of the client
 */
export type ReadWatched = (ids: readonly BotId[], address: string) => Promise<WatchedBots>;

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
    const readOnce = async <V extends object>(
      key: string,
      read: () => Promise<V>,
    ): Promise<V | undefined> => {
      const isKept = cache.has(key);
      if (!isKept && (!changes.isComplete || ++cold > maxCold)) return undefined;
      return await (isKept ? read() : queue.run(address, read)).catch(() => undefined);
    };
    const watched: WatchedBot[] = [];
    const missing: BotId[] = [];
    for (const id of ids) {
      const indexed = bots.get(id);
      const bot = indexed
        ? toListed(indexed, await readOnce(toChangesKey(id), () => readKeptChanges(parts, id)), parts)
        : toUnlisted(id, await readOnce(`removed ${id}`, () => readRemoved(id, parts)), parts);
      if (bot === undefined) missing.push(id);
      else watched.push(bot);
    }
    const sorted = watched.toSorted((a, b) => rankBot(a) - rankBot(b));
    return { bots: sorted, missing, unread: watched.filter(({ isRead }) => !isRead).length };
  };
}

/** Maximum number of histories that a request reads. */
const maxCold = 25;

/** Returns the place of a bot: by its worst warning, then those that are not read, then those without warnings. */
function rankBot({ warnings: [worst], isRead }: WatchedBot): number {
  return worst ? rankWarning(worst) : isRead ? Infinity : Number.MAX_VALUE;
}

function toListed(
  indexed: IndexedBot,
  history: Awaited<ReturnType<typeof readKeptChanges>> | undefined,
  { authors, counts, publicBlocked, site }: WatchParts,
): WatchedBot {
  const { id, facts } = indexed;
  const blocked = publicBlocked.current ?? nothingBlocked;
  const warnings: WatchWarning[] = nameAuthors(history?.changes ?? [], authors).map((change) => ({
    ...change,
    id: `${change.kind}:${change.commit}`,
  }));
  warnings.push(...toBlockedWarnings(findBlockedIn(indexed, blocked), blocked, facts.edited));
  const since = counts.reportedAt(id);
  if (since !== undefined && Date.now() - since >= site.settings.inactiveDays * msPerDay)
    // A restart may change the time by an hour.
    warnings.push({ kind: 'count', id: `count:${Math.floor(since / msPerDay / 7)}`, values: [], since });
  return {
    id,
    indexed,
    name: withoutBidiControls(facts.name),
    category: facts.category,
    warnings: warnings.toSorted((a, b) => rankWarning(a) - rankWarning(b)),
    isRead: history !== undefined,
  };
}

/** A bot that is not listed. `time` is undefined if it never was, as far as the history says. */
interface UnlistedBot {
  readonly time: number | undefined;
  readonly data: PageData;
}

async function readRemoved(id: BotId, { bots, changes, cache, removedAt }: WatchParts): Promise<UnlistedBot> {
  const read = async (): Promise<UnlistedBot> => {
    const time = await removedAt(id);
    return { time, data: time === undefined ? {} : await readRemovedData(changes, id) };
  };
  const { inputs = [], ...keeping } = keepHistory(changes, id);
  return await cache.get(`removed ${id}`, read, { ...keeping, inputs: [...inputs, () => bots.get(id)] });
}

/** Returns undefined for a bot that was never listed, and is not blocked. */
function toUnlisted(
  id: BotId,
  removed: UnlistedBot | undefined,
  { publicBlocked, site }: WatchParts,
): WatchedBot | undefined {
  const { time, data = {} } = removed ?? {};
  const { name, category, authors, created } = data;
  const blocked = publicBlocked.current ?? nothingBlocked;
  const accounts = Array.isArray(authors) ? authors.map(String) : [];
  const warnings: WatchWarning[] = toBlockedWarnings(
    findBlocked(blocked, { bots: [id], authors: accounts }),
    blocked,
    time,
  );
  if (time !== undefined)
    warnings.unshift({ kind: 'gone', id: `gone:${String(created)}`, values: [], since: time });
  if (removed !== undefined && warnings.length === 0) return undefined;
  return {
    id,
    indexed: undefined,
    name: typeof name === 'string' ? withoutBidiControls(name) : id,
    category: site.settings.categories.find((known) => known === category),
    warnings,
    isRead: removed !== undefined,
  };
}

/**
 * Returns one warning if anything is blocked, without the reason and the name, which are for maintainers.
 * @param otherwise the time of an entry without a day
 */
function toBlockedWarnings([first]: readonly BlockedName[], blocked: Blocked, otherwise = 0): WatchWarning[] {
  if (first === undefined) return [];
  const day = blocked[`${first.kind}s`][first.name]?.since ?? '';
  return [{ kind: 'blocked', id: `blocked:${day}`, values: [], since: Date.parse(day) || otherwise }];
}
