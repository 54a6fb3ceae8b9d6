import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadonlyCounts } from '../bot/counts.ts';
import type { BotId } from '../bot/id.ts';
import { findDefaultLocale } from '../bot/record.ts';
import { pathOf } from '../catalogue/page/layout.ts';
import { type BotIndex, parseListElement } from '../catalogue/store/bot-index.ts';
import type { Catalogue } from '../catalogue/store/catalogue.ts';
import type { ReadonlyCountHistory } from '../counts/count-history.ts';
import { diffTrees } from '../git/diff.ts';
import type { RepositoryOpener } from '../git/repository.ts';
import type { ImageCache } from '../images/cache.ts';
import type { LinkCheck } from '../images/link-check.ts';
import { CurrentCache, type Input } from '../lib/current-cache.ts';
import { messageOf } from '../lib/errors.ts';
import { forEachInSlices } from '../lib/in-slices.ts';
import type { Log } from '../lib/log.ts';
import { readInvite } from '../site/page/permissions.ts';
import { type Attention, listAttention } from '../site/review/attention.ts';
import { readPageData, readRecentPageHistory } from '../sync/key-history.ts';

/** What the list is made from: parts of the service. */
export interface AttentionOptions {
  readonly catalogue: Pick<Catalogue, 'store' | 'settings'>;
  readonly state: Pick<ReadonlyCounts, 'reportedAt'>;
  readonly countHistory: ReadonlyCountHistory;
  /** Null where images are not cached. */
  readonly images: Pick<ImageCache, 'failures'> | null;
  /** Null where links are not checked. */
  readonly links: Pick<LinkCheck, 'failed'> | null;
  readonly repositoryOpener: RepositoryOpener;
  readonly log: Log;
  /** Ends the search of Git's history. */
  readonly signal: AbortSignal;
}

/**
 * Returns what lists what needs attention: once for all who want it within some minutes. Git's history is searched in the
 * background, once an hour at most; a list that does not wait for that is not complete.
 */
export function createAttentionReader(options: AttentionOptions): () => Promise<Attention> {
  const { catalogue, countHistory, images, links, repositoryOpener, log, signal } = options;
  const { bots } = catalogue.store;
  const lists = new CurrentCache<Attention>(1024, () => 0, minRebuildRatio);
  const searches = new CurrentCache<{ readonly since: ReadonlyMap<BotId, number> }>(1024, () => 0);
  const search = async (): Promise<ReadonlyMap<BotId, number>> => {
    const end = AbortSignal.any([signal, AbortSignal.timeout(searchTimeoutMs)]);
    return await findNewAdministrators(bots, repositoryOpener, end).catch((error: unknown) => {
      if (!signal.aborted)
        log.warn({ err: error }, `could not search Git’s history for invites: ${messageOf(error)}`);
      return new Map();
    });
  };
  return async () => {
    const searched = searches.get('', [everyMs(3_600_000)], async () => ({ since: await search() }));
    const found = await Promise.race([searched, sleep(maxWaitMs, undefined, { ref: false })]);
    const list = async (): Promise<Attention> => {
      await countHistory.isRead();
      return await listAttention({
        bots,
        faults: catalogue.store.faults(),
        counts: options.state,
        countHistory,
        settings: catalogue.settings.current,
        failedImages: images?.failures() ?? new Map(),
        failedLinks: links?.failed ?? new Map(),
        administratorSince: found?.since,
      });
    };
    return await lists.get(found ? 'complete' : '', [() => bots.version, everyMs(60_000)], list);
  };
}

/**
 * Returns up to 500 bots whose invite asks for Administrator and did not 90 days ago, or when they were added since, and
 * when that changed, in milliseconds since the epoch.
 * @throws {GitError | WritesUnavailableError}
 */
export async function findNewAdministrators(
  bots: Pick<BotIndex, 'sorted'>,
  repositoryOpener: RepositoryOpener,
  signal: AbortSignal,
): Promise<ReadonlyMap<BotId, number>> {
  const repository = await repositoryOpener.open();
  const ids = new Map<string, BotId>();
  await forEachInSlices(await bots.sorted(), (bot) => {
    const { invite, contents } = parseListElement(bot);
    if (asksForAdministrator(invite))
      ids.set(repository.prefix + pathOf(bot.id, findDefaultLocale({ contents })), bot.id);
  });
  const since = Math.floor(Date.now() / 1000) - searchedDays * 86_400;
  const lastBefore = ['rev-list', '--max-count=1', `--min-age=${since}`, 'HEAD'];
  const start = (await repository.run(lastBefore)).trim();
  const files = Array.from(ids.keys(), (path) => ({ path, before: null }));
  const changed: string[] = [];
  for (const { path, before } of start === '' ? files : await diffTrees(repository, start, 'HEAD')) {
    if (!ids.has(path) || changed.length >= maxSearchedPages) continue;
    const page = await readPageData(repository, path, before?.id);
    if (!asksForAdministrator(page?.['invite'])) changed.push(path);
  }
  const found = new Map<BotId, number>();
  if (changed.length === 0) return found;
  for (const [path, commits] of await readRecentPageHistory(repository, since, changed, signal)) {
    for (const { parents, before, time } of commits.values()) {
      if (parents > 1) continue;
      const page = await readPageData(repository, path, before[0]?.id);
      if (asksForAdministrator(page?.['invite'])) continue;
      const id = ids.get(path);
      // A page that was not there, or not readable, asked for nothing.
      if (page && id) found.set(id, time * 1000);
      break;
    }
  }
  return found;
}

function asksForAdministrator(invite: unknown): boolean {
  return typeof invite === 'string' && readInvite(invite)?.fullControl === true;
}

/** Returns an input that differs after so many milliseconds. */
function everyMs(ms: number): Input {
  return () => Math.floor(performance.now() / ms);
}

/** The time between two lists is at least this many times what one takes: two minutes where it takes a quarter of a second. */
const minRebuildRatio = 500;

/** Milliseconds that a reader waits for the search. */
const maxWaitMs = 1_000;

const searchedDays = 90;

/** Pages whose history is read. Git compares each with each folder of each commit. */
const maxSearchedPages = 500;
const searchTimeoutMs = 5 * 60_000;
