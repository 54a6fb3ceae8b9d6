import type { ReadonlyCounts } from '../../bot/counts.ts';
import type { BotId } from '../../bot/id.ts';
import type { FullImages } from '../../bot/schema-types.ts';
import { toInviteKey, toNameKey } from '../../bot/likeness.ts';
import type { Fault } from '../../catalogue/page/fault.ts';
import { parsePagePath } from '../../catalogue/page/layout.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { type BotIndex, type IndexedBot, parseListElement } from '../../catalogue/store/bot-index.ts';
import { listPageImages } from '../../catalogue/store/page-images.ts';
import type { ReadonlyCountHistory } from '../../counts/count-history.ts';
import type { Failure } from '../../lib/failure-log.ts';
import { forEachInSlices } from '../../lib/in-slices.ts';
import type { Messages } from '../language/messages.tsx';
import { editPath } from '../page/addresses.ts';

/** What a maintainer should look at. Points in time are milliseconds since the epoch. */
export type AttentionItem = AttentionDetail & {
  /** Null for a file that belongs to no bot. */
  readonly bot: BotId | null;
  /** In the bot's default language; null where it is not served. */
  readonly name: string | null;
  /** The path of the form that fixes it; null for a file that was never valid, which has none. */
  readonly fixPath: string | null;
};

type AttentionDetail =
  /** The message of the first fault of a file. */
  | { readonly kind: 'faulty-file'; readonly path: string; readonly message: string }
  | (FailedAddress & { readonly kind: 'link-failed'; readonly key: 'website' | 'support' | 'invite' })
  | (FailedAddress & { readonly kind: 'image-failed'; readonly key: ImageKey })
  /** Since a change of then its invite asks for Administrator. */
  | { readonly kind: 'administrator-added'; readonly since: number }
  /** It was added last of all bots with its name or invite. */
  | { readonly kind: 'near-duplicate'; readonly same: Likeness; readonly others: readonly BotId[] }
  /** On the day of `since` the count became more than ten times that of the day before, or less than a tenth. */
  | { readonly kind: 'count-jump'; readonly since: number; readonly before: number; readonly after: number }
  | { readonly kind: 'no-count'; readonly days: number };

type ImageKey = 'avatar' | 'cover' | 'preview' | 'page';
type Likeness = 'name' | 'invite' | 'both';

interface FailedAddress extends Failure {
  readonly url: string;
}

/** What needs attention, by kind, the most urgent kind first. */
export interface Attention {
  readonly groups: readonly {
    readonly kind: AttentionItem['kind'];
    /** How many there are; of more than 500 the others are not among `items`. */
    readonly total: number;
    readonly items: readonly AttentionItem[];
  }[];
  /** Whether Git's history was searched for invites that ask for Administrator. */
  readonly isComplete: boolean;
}

/** What is looked through. */
export interface AttentionSources {
  readonly bots: Pick<BotIndex, 'get' | 'sorted'>;
  /** By path. */
  readonly faults: readonly Fault[];
  readonly counts: Pick<ReadonlyCounts, 'reportedAt'>;
  readonly countHistory: Pick<ReadonlyCountHistory, 'present' | 'counts'>;
  readonly settings: Pick<CatalogueSettings, 'inactiveDays'>;
  /** By address. */
  readonly failedImages: ReadonlyMap<string, Failure>;
  readonly failedLinks: ReadonlyMap<string, Failure>;
  /** Since when the bots ask for Administrator that did not before; undefined where that is not known. */
  readonly administratorSince: ReadonlyMap<BotId, number> | undefined;
}

const kinds = [
  'administrator-added',
  'faulty-file',
  'near-duplicate',
  'count-jump',
  'link-failed',
  'image-failed',
  'no-count',
] as const;

/** Returns what needs attention. Looks at all bots, in slices of time. */
export async function listAttention(sources: AttentionSources, now: number = Date.now()): Promise<Attention> {
  const { bots, faults, failedImages, failedLinks, administratorSince } = sources;
  const groups = kinds.map((kind) => ({ kind, total: 0, items: [] as AttentionItem[] }));
  const add = ({ id, facts }: IndexedBot, detail: AttentionDetail): void =>
    addItem({ bot: id, name: facts.name, fixPath: editPath(id), ...detail });
  const addItem = (item: AttentionItem): void => {
    const group = groups[kinds.indexOf(item.kind)];
    if (group !== undefined && ++group.total <= maxItems) group.items.push(item);
  };
  for (const [i, { path, message }] of faults.entries()) {
    if (path === faults[i - 1]?.path) continue;
    const { id = null, locale } = parsePagePath(path) ?? {};
    const facts = id === null ? undefined : bots.get(id)?.facts;
    const hasForm = locale !== undefined && facts?.locales.includes(locale);
    const fixPath = id !== null && hasForm ? editPath(id, locale) : null;
    addItem({ kind: 'faulty-file', bot: id, name: facts?.name ?? null, fixPath, path, message });
  }
  const alike = new Map<string, IndexedBot[]>();
  await forEachInSlices(await bots.sorted(), (bot) => {
    const { images, website, support, invite } = parseListElement(bot);
    const links = [
      ['website', website],
      ['support', support],
      ['invite', invite],
    ] as const;
    for (const [key, url] of links) {
      const failure = failedLinks.get(url ?? '');
      if (url !== null && failure) add(bot, { kind: 'link-failed', key, url, ...failure });
    }
    for (const [key, url] of failedImages.size > 0 ? listImages(bot, images) : []) {
      const failure = failedImages.get(url ?? '');
      if (url !== null && failure) add(bot, { kind: 'image-failed', key, url, ...failure });
    }
    const since = administratorSince?.get(bot.id);
    if (since !== undefined) add(bot, { kind: 'administrator-added', since });
    for (const detail of listCountDetails(bot.id, sources, now)) add(bot, detail);
    for (const key of [`name ${toNameKey(bot.facts.name)}`, `invite ${toInviteKey(invite)}`]) {
      const others = alike.get(key);
      if (others) others.push(bot);
      else alike.set(key, [bot]);
    }
  });
  const duplicates = new Map<string, { readonly same: Likeness; readonly bots: readonly IndexedBot[] }>();
  await forEachInSlices(alike, ([key, bots]) => {
    if (bots.length < 2 || key === 'name ') return;
    const ids = bots.map(({ id }) => id).join(' ');
    const likeness = key.startsWith('name') ? 'name' : 'invite';
    duplicates.set(ids, { same: duplicates.has(ids) ? 'both' : likeness, bots });
  });
  await forEachInSlices(duplicates.values(), ({ same, bots }) => {
    const others = bots.toSorted((a, b) => a.facts.created - b.facts.created);
    const last = others.pop();
    const oldest = others.slice(0, maxOthers).map(({ id }) => id);
    if (last) add(last, { kind: 'near-duplicate', same, others: oldest });
  });
  return { groups, isComplete: administratorSince !== undefined };
}

/** Returns the values of the text of an item, `attention.<kind>.text`. */
export function toMessageValues(
  item: AttentionItem,
  { text, day }: Pick<Messages, 'text' | 'day'>,
): Readonly<Record<string, string | number>> {
  const values: Record<string, string | number> = {};
  for (const [key, value] of Object.entries(item))
    if (typeof value === 'string' || typeof value === 'number') values[key] = value;
  if ('since' in item) values['day'] = day(item.since);
  if ('key' in item) values['field'] = text(`field.${item.key}`);
  if ('others' in item) values['others'] = item.others.join(', ');
  return values;
}

/** Items of a kind that are kept. */
const maxItems = 500;

/** Bots that are named beside a near-duplicate. */
const maxOthers = 5;

function listImages(
  bot: IndexedBot,
  { avatar, cover, preview }: FullImages,
): (readonly [ImageKey, string | null])[] {
  return [
    ['avatar', avatar],
    ['cover', cover],
    ...preview.map((url) => ['preview', url] as const),
    ...listPageImages(bot).map((url) => ['page', url] as const),
  ];
}

/** Returns what the counts of a bot show; nothing where none was ever posted. */
function* listCountDetails(
  id: BotId,
  { counts, countHistory, settings }: AttentionSources,
  now: number,
): Generator<AttentionDetail> {
  const reportedAt = counts.reportedAt(id);
  if (reportedAt === undefined) return;
  const days = Math.floor((now - reportedAt) / msPerDay);
  if (days > settings.inactiveDays) yield { kind: 'no-count', days };
  const today = countHistory.present('day');
  const series = countHistory.counts(id, 'day', today - jumpDays, today);
  const last = series.findLastIndex(({ count }, i) => isJump(series[i - 1]?.count ?? count, count));
  const [before, after] = [series[last - 1], series[last]];
  if (before && after)
    yield { kind: 'count-jump', since: after.period * msPerDay, before: before.count, after: after.count };
}

function isJump(before: number, after: number): boolean {
  const larger = Math.max(before, after);
  return larger >= minJumpServers && larger > 10 * Math.min(before, after);
}

const minJumpServers = 1000;
const jumpDays = 30;
const msPerDay = 86_400_000;
