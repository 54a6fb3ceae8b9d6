import type { VNode } from 'preact';
import { msPerDay } from '../../bot/clock.ts';
import type { AccountId } from '../../bot/commit-message.ts';
import type { BotId } from '../../bot/id.ts';
import { comparePermissions, type Permission } from '../../bot/invite.ts';
import { toInviteKey } from '../../bot/likeness.ts';
import type { Locale } from '../../bot/locale.ts';
import { maxCommits, readMainData, type ReadonlyChanges } from '../../catalogue/changes/bot-changes.ts';
import type { AuthorIndex } from '../../catalogue/lists/authors.ts';
import type { PageFile } from '../../catalogue/page/page-file.ts';
import { isMainPage, isReadable } from '../../catalogue/page/rules.ts';
import { withoutBidiControls } from '../../lib/text.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import type { MessageKey, Messages } from '../language/messages.tsx';
import { nameAccount } from '../page/elements.tsx';
import { usePage, type PageParts } from '../page/page-context.tsx';

/** The facts about the trust in a bot: recent changes with the names of accounts, and the last review. */
interface BotTrust {
  readonly changes: readonly TrustChange[];
  /** Undefined if it is unknown, or its reviewer has no name. */
  readonly review: NamedReview | undefined;
}

/** The last review of a bot, with the reviewer's name. */
export type NamedReview = Omit<AcceptedReview, 'reviewer'> & { readonly reviewer: string };

/** Reads the facts about the trust in a page of a bot from its history, once per commit. Empty without Git. */
export async function readBotTrust(
  { changes: index, authors, cache }: PageParts,
  id: BotId,
  locale: Locale,
): Promise<BotTrust> {
  const read = async () => {
    const changes = await readTrustChanges(index, id);
    return { changes, review: await readLastReview(index, id, locale) };
  };
  const inputs = [() => index.stamp(id), () => Math.floor(Date.now() / msPerDay)];
  const kept = cache.get(`trust ${id} ${locale}`, read, { inputs, isExact: true });
  const { changes = [], review } = (await kept.catch(() => undefined)) ?? {};
  const profile = review && authors.findProfile(review.reviewer);
  return {
    changes: nameAuthors(changes, authors),
    review: profile && { ...review, reviewer: withoutBidiControls(profile.name) },
  };
}

/** Replaces the ids of accounts in changes by their names. */
export function nameAuthors(
  changes: readonly TrustChange[],
  authors: Pick<AuthorIndex, 'findProfile'>,
): TrustChange[] {
  return changes.map((change) => {
    if (change.kind !== 'author') return change;
    return { ...change, values: change.values.map((account) => nameAccount(authors, account)) };
  });
}

/** A change in the history of a bot, or a state that it is in since a time. */
export interface Warning extends Pick<TrustChange, 'values' | 'since'> {
  /** `gone`: removed from the list. `count`: no count since then. */
  readonly kind: TrustChange['kind'] | 'gone' | 'blocked' | 'count';
}

/** The kinds of warnings. */
const worstFirst = 'administrator permission author bot gone blocked nsfw count source'.split(' ');

/** Returns the place of a warning among all, worst first. */
export function rankWarning(warning: Warning): number {
  return worstFirst.indexOf(toWarningKind(warning));
}

function toWarningKind({ kind, values }: Warning): Warning['kind'] | 'administrator' {
  return values.includes('administrator') ? 'administrator' : kind;
}

/** Returns the key and the values of the sentence for a warning. */
export function toMessage(warning: Warning, { text, day }: Messages) {
  const shown = warning.values.map((value) => {
    if (warning.kind !== 'permission') return value;
    return /^\d/.test(value)
      ? text('permissions.unknown', { bit: Number(value) })
      : text(`permission.${value as Permission}`);
  });
  const values = { day: day(warning.since), values: shown.join(', ') };
  return [`changes.${toWarningKind(warning)}`, values] as const;
}

/** A change that matters for the trust in a bot, as a sentence with its date. */
export function TrustChangeText({ change }: { readonly change: Warning }): VNode {
  const context = usePage();
  const isLoud = ['administrator', 'bot', 'gone', 'blocked'].includes(toWarningKind(change));
  const sentence = context.t(...toMessage(change, context));
  return isLoud ? <strong class="warning">{sentence}</strong> : <>{sentence}</>;
}

/** Returns the two lines of the stamp of a review. @param translate returns a message of the page's language */
export function formatReview<T>(
  { reviewer: name, time, changed }: NamedReview,
  translate: (key: MessageKey, values: Record<'name' | 'day', string>) => T,
  day: (time: number) => string,
): [T | string, T | string] {
  const values = { name, day: day(changed ?? time) };
  if (changed === undefined) return [translate('bot.reviewed', values), values.day];
  return [translate('bot.reviewedBy', { name, day: day(time) }), translate('bot.changedSince', values)];
}

/** A recent change that matters to people who trust a bot. */
export interface TrustChange {
  /**
   * `permission`: the bot asks for these. `author`: these accounts became authors. `bot`: the invite link adds another
   * bot. `source`: the source code is no longer named.
   */
  readonly kind: (typeof trustKinds)[number];
  /** Names of permissions (bits if unknown), or ids of accounts. */
  readonly values: readonly string[];
  readonly commit: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/**
 * Reads the changes of trust in a bot in the last 90 days, newest first: new permissions, new authors, another bot in
 * the invite link, marked as for adults, source closed. A merged pull request is one commit. Of more than 50 commits only the newest 49
 * and the oldest are read: what the others changed counts for the next one that is read. An invite link that is again for the first bot is no change.
 * @throws {GitError}
 */
export async function readTrustChanges(index: ReadonlyChanges, id: BotId): Promise<readonly TrustChange[]> {
  const since = Date.now() - trustDays * msPerDay;
  const commits = (await index.listSteps(id)).filter(({ time }) => time >= since);
  // A new bot has nothing to compare with.
  if (commits.length === 1 && commits[0]?.pages.every(({ before }) => before === undefined)) return [];
  const read = commits.filter((_, i) => i < maxCommits - 1 || i === commits.length - 1);
  let known: ReadonlySet<string> | undefined;
  let first: ReadonlySet<string> | undefined;
  const sources = new Map<string, (typeof commits)[number]>();
  const slice = new TimeSlice();
  for (const commit of read.toReversed()) {
    const { before, after } = await index.read(id, commit);
    if (slice.isOver) await slice.next();
    known ??= listFacts(before);
    first ??= known;
    const now = listFacts(after);
    if (now === undefined) continue;
    for (const fact of now) if (known?.has(fact) === false) sources.set(fact, commit);
    known = now;
  }
  const facts = [...(known ?? [])].filter((fact) => !fact.startsWith('bot ') || first?.has(fact) !== true);
  return read.flatMap((commit) =>
    trustKinds.flatMap((kind): TrustChange[] => {
      const added = facts.filter((fact) => fact.startsWith(`${kind} `) && sources.get(fact) === commit);
      if (added.length === 0) return [];
      const values = added.map((fact) => fact.slice(kind.length + 1));
      return [{ kind, values, commit: commit.id, since: commit.time }];
    }),
  );
}

const trustDays = 90;
const trustKinds = ['permission', 'bot', 'author', 'nsfw', 'source'] as const;

/** Returns the facts of a bot that matter for trust, as `<kind> <value>`; undefined without a main page. */
function listFacts(files: readonly PageFile[]): ReadonlySet<string> | undefined {
  const { invite, authors: named, nsfw, codehost } = readMainData(files);
  const { owner, repo } = (codehost ?? {}) as Partial<Record<string, unknown>>;
  const authors = Array.isArray(named) ? named.filter((author) => typeof author === 'string') : [];
  if (typeof invite !== 'string') return undefined;
  const { groups, unknownBits } = comparePermissions(invite, '');
  const permissions = [...groups.flatMap((group) => group.permissions), ...unknownBits];
  return new Set([
    ...permissions.map((permission) => `permission ${permission}`),
    `bot ${toInviteKey(invite)}`,
    ...authors.map((author) => `author ${author}`),
    ...(nsfw === true ? ['nsfw '] : []),
    ...([owner, repo].every((part) => typeof part === 'string') ? [] : ['source ']),
  ]);
}

/** The review of a page that was accepted. Times are in milliseconds since the epoch. */
export interface AcceptedReview {
  readonly reviewer: AccountId;
  /** When the reviewed change reached the branch. */
  readonly time: number;
  /** When the page was last changed without a review; undefined if it was not changed since. */
  readonly changed: number | undefined;
}

/**
 * Finds the last accepted review of a page among the bot's newest 20 commits, or undefined. A review of a translation
 * also shows the main page, so a change of either counts.
 * @throws {GitError}
 */
export async function readLastReview(
  index: ReadonlyChanges,
  id: BotId,
  locale: Locale,
): Promise<AcceptedReview | undefined> {
  let changed: number | undefined;
  for (const commit of (await index.listSteps(id)).slice(0, maxReviewCommits)) {
    const { before, after } = await index.read(id, commit);
    const files = [...before, ...after];
    if (!files.some((file) => file.locale === locale || (isReadable(file) && isMainPage(file)))) continue;
    const by = await index.readAuthor(commit);
    if (by.kind === 'proposal' && by.reviewer !== undefined)
      return { reviewer: by.reviewer, time: commit.time, changed };
    changed ??= commit.time;
  }
  return undefined;
}

const maxReviewCommits = 20;
