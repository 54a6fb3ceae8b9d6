import { statSync } from 'node:fs';
import { join } from 'node:path';
import { msPerDay } from '../../bot/clock.ts';
import type { ReadonlyCounts } from '../../bot/counts.ts';
import type { BotId } from '../../bot/id.ts';
import { asksForAdministrator } from '../../bot/invite.ts';
import { toInviteKey, toNameKeys } from '../../bot/likeness.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { Fault } from '../../catalogue/page/fault.ts';
import { isPage, parseFilePath, parsePagePath } from '../../catalogue/page/layout.ts';
import { type Blocked, nothingBlocked } from '../../catalogue/settings/blocked.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import {
  type IndexedBot,
  parseListElement,
  listPageImages,
  type BotIndex,
} from '../../catalogue/store/bot-index.ts';
import { findBlockedIn } from '../../check/check.ts';
import type { ReadonlyCountHistory } from '../../counts/count-history.ts';
import { diffTrees } from '../../git/trees.ts';
import type { RepositoryOpener } from '../../git/repository.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Failure } from '../../lib/retry.ts';
import { forEachInSlices, sortInSlices } from '../../lib/time-slice.ts';
import { readPageData } from '../../sync/key-merge.ts';
import type { MessageKey, Messages } from '../language/messages.tsx';
import { editPath } from '../page/addresses.ts';

const kinds = [
  'blocked',
  'administrator-added',
  'faulty-file',
  'near-duplicate',
  'count-jump',
  'image-failed',
  'no-count',
] as const;

/** A problem that a maintainer should look at. */
export interface AttentionItem<Kind = (typeof kinds)[number]> {
  readonly kind: Kind;
  /** Null for a file that belongs to no bot. */
  readonly bot: BotId | null;
  /** In the bot's default language; null if the bot is not served. */
  readonly name: string | null;
  /** The path of the form that fixes the problem; null for a file that was never valid, which has no form. */
  readonly fixPath: string | null;
  /** The values of the text `attention.<kind>.text`. Times are in milliseconds since the epoch. */
  readonly values: AttentionValues;
}

type AttentionValues = Readonly<Record<string, string | number>>;

/** The problems of the catalogue by kind, most urgent kind first. */
export interface Attention {
  readonly groups: readonly {
    readonly kind: AttentionItem['kind'];
    /** The total number of problems; at most 500 are in `items`. */
    readonly total: number;
    readonly items: readonly AttentionItem[];
  }[];
  /** Whether Git could be read, which finds invites that newly ask for Administrator. */
  readonly isComplete: boolean;
}

/** The parts of the service that are searched for problems. */
export interface AttentionSources {
  readonly store: Pick<Catalogue['store'], 'bots' | 'faults'>;
  readonly settings: { readonly current: Pick<CatalogueSettings, 'inactiveDays'> };
  /** `current` is null if the block list cannot be read. */
  readonly blocked: { readonly current: Blocked | null };
  readonly state: Pick<ReadonlyCounts, 'reportedAt'>;
  readonly countHistory: ReadonlyCountHistory;
  /** By address; null if images are not cached. */
  readonly images: { readonly failureOf: (url: string) => Failure | undefined } | null;
}

/**
 * Finds the problems of all bots, in slices of time.
 * @param beforeAdministrator the last known time at which each bot did not ask for Administrator; undefined if Git
 * cannot be read
 */
export async function listAttention(
  { store, settings, blocked, state, countHistory, images }: AttentionSources,
  beforeAdministrator: ReadonlyMap<BotId, number> | undefined,
  now: number = Date.now(),
): Promise<Attention> {
  const { bots } = store;
  const groups = kinds.map((kind) => ({ kind, total: 0, items: [] as AttentionItem[] }));
  const add = (item: AttentionItem): void => {
    const group = groups[kinds.indexOf(item.kind)];
    if (group !== undefined && ++group.total <= maxItems) group.items.push(item);
  };
  for (const fault of store.faults().filter(isFirstOfFile)) {
    const id = parseFilePath(fault.path)?.id;
    add(toFaultItem(fault, id && bots.get(id)));
  }
  // Key: the name or the invite.
  const oldest = new Map<string, BotId>();
  const byAge = await sortInSlices(await bots.sorted(), (a, b) => a.facts.created - b.facts.created);
  await forEachInSlices(byAge, (bot) => {
    const { id, facts } = bot;
    const { invite } = parseListElement(bot);
    const addBot = (kind: AttentionItem['kind'], values: AttentionValues | undefined): void => {
      if (values) add(toItem(bot, kind, values));
    };
    const names = findBlockedIn(bot, blocked.current ?? nothingBlocked);
    if (names.length > 0) addBot('blocked', { names: names.map(({ name }) => name).join(', ') });
    for (const item of listFailures(bot, images)) add(item);
    const since = beforeAdministrator?.get(id);
    if (since !== undefined) addBot('administrator-added', { since });
    const nameKeys = toNameKeys(facts.name).map((key) => `name ${key}`);
    const [name, link] = [nameKeys, [`invite ${toInviteKey(invite)}`]].map((keys) => {
      const first = keys.map((key) => oldest.get(key)).find((other) => other !== undefined);
      for (const key of keys) if (!oldest.has(key)) oldest.set(key, id);
      return first;
    });
    const same = link === undefined ? 'name' : name === undefined ? 'invite' : 'both';
    const others = [...new Set([name, link])].filter((other) => other !== undefined);
    if (others.length > 0) addBot('near-duplicate', { same, others: others.join(', ') });
    const reportedAt = state.reportedAt(id);
    if (reportedAt === undefined) return;
    const days = Math.floor((now - reportedAt) / msPerDay);
    if (days > settings.current.inactiveDays) addBot('no-count', { days });
    addBot('count-jump', findJump(id, countHistory));
  });
  return { groups, isComplete: beforeAdministrator !== undefined };
}

/** A problem that an owner can fix. `since` in its values is when it began. */
export type OwnItem = AttentionItem<'faulty-file' | 'image-failed' | 'no-count'>;

/**
 * Returns the problems that owners can fix in at most 500 bots: for example, a count that was not posted for a week.
 * @param countedAt returns when a bot last posted a count; undefined if it need not
 */
export type ListOwn = (
  bots: readonly IndexedBot[],
  countedAt?: (id: BotId) => number | undefined,
) => Promise<readonly OwnItem[]>;

interface OwnSources extends Pick<AttentionSources, 'images' | 'state'> {
  readonly store: Pick<Catalogue['store'], 'faultsOf'>;
}

/** Returns a function that lists the problems owners can fix in their bots. @param root the folder of the catalogue */
export function createOwnAttention({ store, images, state }: OwnSources, root: string): ListOwn {
  const modifiedAt = (path: string): number =>
    statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  return async (bots, countedAt = (id) => state.reportedAt(id)) => {
    const items: OwnItem[] = [];
    await forEachInSlices(bots.slice(0, maxItems), (bot) => {
      for (const fault of store.faultsOf(bot.id).filter(isFirstOfFile)) {
        const item = toFaultItem(fault, bot);
        items.push({ ...item, values: { ...item.values, since: modifiedAt(fault.path) } });
      }
      items.push(...listFailures(bot, images));
      const at = countedAt(bot.id) ?? Infinity;
      const days = Math.floor((Date.now() - at) / msPerDay);
      if (days >= 7) items.push(toItem(bot, 'no-count', { days, since: at + 7 * msPerDay }));
    });
    return items;
  };
}

/** Returns the values of an item's text, `attention.<kind>.text`. */
export function toMessageValues(
  { values }: AttentionItem,
  { text, day }: Pick<Messages, 'text' | 'day'>,
): Readonly<Record<string, string | number>> {
  // Texts do not use missing values. `same` is a number, because a text cannot choose by a word in isolating marks.
  const { since = 0, key, same } = values;
  return {
    ...values,
    day: day(Number(since)),
    field: text(`field.${key}` as MessageKey),
    same: ['both', 'name', 'invite'].indexOf(String(same)),
  };
}

/** Maximum number of items per kind. */
const maxItems = 500;

/** Whether no fault before this one is in the same file. */
function isFirstOfFile({ path }: Fault, i: number, faults: readonly Fault[]): boolean {
  return path !== faults[i - 1]?.path;
}

/** Returns the item of a file with errors, with the form that fixes it if the page is served. */
function toFaultItem({ path, message }: Fault, bot: IndexedBot | undefined): OwnItem {
  const place = parseFilePath(path);
  const { id = null } = place ?? {};
  const hasForm = place && isPage(place) && bot?.facts.locales.includes(place.locale);
  const fixPath = hasForm ? editPath(place.id, place.locale) : null;
  return { kind: 'faulty-file', bot: id, name: bot?.facts.name ?? null, fixPath, values: { path, message } };
}

function toItem<K>({ id, facts }: IndexedBot, kind: K, values: AttentionValues): AttentionItem<K> {
  return { kind, bot: id, name: facts.name, fixPath: editPath(id), values };
}

/** Lists the images of a bot that fail. */
function listFailures(bot: IndexedBot, images: AttentionSources['images']): OwnItem[] {
  if (images === null) return [];
  const { avatar, cover, preview } = parseListElement(bot).images;
  const named = { avatar: [avatar], cover: [cover], preview, page: listPageImages(bot) };
  return Object.entries(named).flatMap(([key, urls]) =>
    urls.flatMap((url) => {
      const failure = images.failureOf(url ?? '');
      if (url === null || failure === undefined) return [];
      return toItem(bot, 'image-failed', { key, url, since: failure.since, message: failure.message });
    }),
  );
}

/** Returns the last time at which the count rose to more than ten times that of the day before, or fell to less than a tenth. */
function findJump(id: BotId, countHistory: AttentionSources['countHistory']): AttentionValues | undefined {
  const today = countHistory.present();
  const series = countHistory.counts(id, today - jumpDays, today);
  const last = series.findLastIndex(({ count }, i) => {
    const [smaller = 0, larger = 0] = [series[i - 1]?.count ?? count, count].toSorted((a, b) => a - b);
    return larger >= minJumpServers && larger > 10 * smaller;
  });
  const [before, after] = [series[last - 1], series[last]];
  return before && after && { since: after.period * msPerDay, before: before.count, after: after.count };
}

const minJumpServers = 1000;
const jumpDays = 30;

/** The parts of the service that the list of problems depends on. */
interface AttentionParts extends AttentionSources {
  readonly repositoryOpener: RepositoryOpener;
  readonly log: Log;
}

/** Lists the problems of the catalogue. The list is incomplete if Git cannot be read. */
export async function readAttention(parts: AttentionParts): Promise<Attention> {
  const { store, countHistory, repositoryOpener, log } = parts;
  await countHistory.isRead('recent');
  const found = await findNewAdministrators(store.bots, repositoryOpener).catch((error: unknown) => {
    log.warn({ err: error }, `could not read the invites of past commits: ${messageOf(error)}`);
    return undefined;
  });
  return await listAttention(parts, found);
}

/**
 * Returns the bots whose invite asks for Administrator now, but did not 1, 7 or 90 days ago, with the latest of these
 * times, in milliseconds since the epoch.
 * @throws {GitError} {BotshelfError} unavailable
 */
export async function findNewAdministrators(
  bots: Pick<BotIndex, 'get'>,
  repositoryOpener: RepositoryOpener,
): Promise<ReadonlyMap<BotId, number>> {
  const repository = await repositoryOpener.open();
  const found = new Map<BotId, number>();
  for (const days of [90, 7, 1]) {
    const time = Date.now() - days * msPerDay;
    const age = `--min-age=${Math.floor(time / 1000)}`;
    const commit = (await repository.run(['rev-list', '--max-count=1', age, 'HEAD'])).trim();
    if (commit === '') continue;
    const changed: { readonly id: BotId; readonly path: string; readonly blob: string }[] = [];
    await forEachInSlices(await diffTrees(repository, commit, 'HEAD'), ({ path, before }) => {
      const place = before && parsePagePath(path, repository.prefix);
      const bot = place && bots.get(place.id);
      if (bot && asksForAdministrator(parseListElement(bot).invite))
        changed.push({ id: bot.id, path, blob: before.id });
    });
    for (const { id, path, blob } of changed) {
      // Only the main page has an invite.
      const invite = (await readPageData(repository, path, blob))?.['invite'];
      if (typeof invite === 'string' && !asksForAdministrator(invite)) found.set(id, time);
    }
  }
  return found;
}
