import { isDeepStrictEqual } from 'node:util';
import { msPerDay } from '../../bot/clock.ts';
import type { AccountId, CommitAuthor } from '../../bot/commit-message.ts';
import type { BotId } from '../../bot/id.ts';
import { comparePermissions, readInvite, type StatedPermissions } from '../../bot/invite.ts';
import { toInviteKey } from '../../bot/likeness.ts';
import type { Locale } from '../../bot/locale.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { isPage, type PagePlace } from '../page/layout.ts';
import type { PageFile } from '../page/page-file.ts';
import type { Page, PageData } from '../page/page.ts';
import { isMainPage, isReadable } from '../page/rules.ts';
import type { BotStore } from '../store/bot-store.ts';
import type { BotCommit, ChangeIndex } from './change-index.ts';

/** The read methods of the index. */
export type ReadonlyChanges = Readonly<
  Pick<ChangeIndex, 'isComplete' | 'stamp' | 'list' | 'listSteps' | 'read' | 'readAuthor'>
>;

/** What one commit changed in a bot. */
export interface BotChange {
  readonly commit: string;
  /** Of the commit; milliseconds since the epoch. */
  readonly time: number;
  readonly by: CommitAuthor;
  /** A new page has no fields. The text of a page and images have no values. */
  readonly pages: readonly PageChange[];
  /** Whether it changed the commands. */
  readonly hasOtherCommands: boolean;
  readonly invite: InviteChange;
  /** Whether it added the bot. */
  readonly isNewBot: boolean;
}

/** Changes by their times, newest first, and by the ids of their commits. */
export interface ChangesPage {
  readonly changes: readonly BotChange[];
  /** The commit after which the next page begins; undefined for the last page. */
  readonly next: string | undefined;
}

/**
 * Reads what changed in a bot, 50 commits at a time. Commits that changed nothing that is shown are left out.
 * @param after the last commit of the previous page, left out for the first page; any other text returns no changes
 * @throws {GitError}
 */
export async function readBotChanges(
  index: ReadonlyChanges,
  id: BotId,
  after?: string,
): Promise<ChangesPage> {
  const commits = await index.list(id);
  const start = commits.findIndex((commit) => commit.id === after);
  const left = start === -1 && after !== undefined ? [] : commits.slice(start + 1);
  const shown = left.slice(0, maxCommits);
  const changes: BotChange[] = [];
  const slice = new TimeSlice();
  for (const commit of shown) {
    const { before, after: now } = await index.read(id, commit);
    if (slice.isOver) await slice.next();
    const pages = comparePages(before.filter(isPage), now.filter(isPage))
      .map(withoutTexts)
      .filter(({ state, fields }) => state !== 'edited' || fields.length > 0);
    const invite = compareInvites(before, now);
    const isNewBot = before.length === 0 && Object.keys(readMainData(now)).length > 0;
    const hasOtherCommands = !commit.pages.every(isPage);
    if (pages.length === 0 && !hasOtherCommands) continue;
    const by = await index.readAuthor(commit);
    const { id: at, time } = commit;
    changes.push({ commit: at, time, by, pages, hasOtherCommands, invite, isNewBot });
  }
  return { changes, next: left.length > shown.length ? shown.at(-1)?.id : undefined };
}

const maxCommits = 50;

/** Texts are long, and addresses of images say nothing: it is enough that they changed, and that a page is new. */
function withoutTexts(page: PageChange): PageChange {
  const fields = page.fields.map(({ name, ...values }) => ({ name, ...(!untold.has(name) && values) }));
  return { ...page, fields: page.state === 'added' ? [] : fields };
}

const untold = new Set(['page', 'avatar', 'cover', 'preview']);

/** Who reviewed a page. Times are milliseconds since the epoch. */
export interface AcceptedReview {
  readonly reviewer: AccountId;
  /** When the reviewed change came into the branch. */
  readonly time: number;
  /** When the page was last changed since, without a review; undefined if it was not. */
  readonly changed: number | undefined;
}

/**
 * Reads the last accepted review of a page, which shows the main page and its translation, among the bot's newest 20
 * commits; undefined if there is none. @throws {GitError}
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

/** A recent change that matters to people who trust a bot. */
export interface TrustChange {
  /** `permission`: it asks for these. `author`: these are authors. `bot`: the invite link adds another bot. */
  readonly kind: 'permission' | 'author' | 'bot' | 'nsfw';
  /** The names of permissions, or the bits of unknown ones; the ids of accounts. */
  readonly values: readonly string[];
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/**
 * Reads what is new in a bot in the last 90 days, newest first: permissions, authors, another bot in the invite link,
 * being for adults only. All commits before the newest 50 count as one, and so do those of a merged pull request. An
 * invite that adds the first bot again is no change.
 * @throws {GitError}
 */
export async function readTrustChanges(index: ReadonlyChanges, id: BotId): Promise<readonly TrustChange[]> {
  const since = Date.now() - trustDays * msPerDay;
  const commits = (await index.listSteps(id)).filter(({ time }) => time >= since);
  // What a new bot has at first is no change.
  if (commits.length === 1 && commits[0]?.pages.every(({ before }) => before === undefined)) return [];
  const read = commits.filter((_, i) => i < maxCommits - 1 || i === commits.length - 1);
  let known: ReadonlySet<string> | undefined;
  let first: ReadonlySet<string> | undefined;
  const sources = new Map<string, BotCommit>();
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
      return [{ kind, values: added.map((fact) => fact.slice(kind.length + 1)), since: commit.time }];
    }),
  );
}

const trustDays = 90;
const trustKinds = ['permission', 'bot', 'author', 'nsfw'] as const;

/** Returns what matters of a bot, each a kind and a value; undefined if its main page is not among the files. */
function listFacts(files: readonly PageFile[]): ReadonlySet<string> | undefined {
  const { invite, authors, nsfw } = readMainData(files);
  if (typeof invite !== 'string') return undefined;
  const { groups, unknownBits } = comparePermissions(invite, '');
  const permissions = [...groups.flatMap((group) => group.permissions), ...unknownBits];
  return new Set([
    ...permissions.map((permission) => `permission ${permission}`),
    `bot ${toInviteKey(invite)}`,
    ...(Array.isArray(authors) ? authors.map((author) => `author ${author}`) : []),
    ...(nsfw === true ? ['nsfw '] : []),
  ]);
}

/** What changes in a page of a bot. */
export interface PageChange {
  readonly locale: Locale;
  /** Whether the bot had no such page before, or has none any more. */
  readonly state: 'added' | 'edited' | 'removed';
  readonly fields: readonly FieldChange[];
}

/** A value that differs. Undefined if there is none. Anything may be in it. */
export interface FieldChange {
  /** The name of the form's field; a key of the front matter where the forms have none. */
  readonly name: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** A file with front matter, or data alone. */
export type ComparedFile = Pick<PageFile & PagePlace, 'path' | 'locale'> & {
  readonly page: Pick<Page, 'data' | 'page'> | undefined;
};

/**
 * Returns what differs in files of a bot, a collection or a profile. The text of a new page is left out, and all of one that
 * was removed.
 */
export function comparePages(before: readonly ComparedFile[], after: readonly ComparedFile[]): PageChange[] {
  const changed = after.map(({ path, locale, page }): PageChange => {
    const former = before.find((file) => file.path === path);
    const [was, now] = [readValues(former?.page), readValues(page)];
    const hidden = former === undefined ? ['edited', 'created', 'page'] : ['edited'];
    const fields = [...new Set([...firstFields, ...was.keys(), ...now.keys()])]
      .map((name) => ({ name, before: was.get(name), after: now.get(name) }))
      .filter((field) => !isDeepStrictEqual(field.before, field.after) && !hidden.includes(field.name));
    return { locale, state: former ? 'edited' : 'added', fields: fields.slice(0, maxFields) };
  });
  const removed = before.filter(({ path }) => after.every((file) => file.path !== path));
  return [...changed, ...removed.map(({ locale }) => ({ locale, state: 'removed' as const, fields: [] }))];
}

/** What matters most to a server comes first. */
const firstFields = ['invite', 'authors', 'nsfw'];

/** More than the rules allow, so a page with more has faults. */
const maxFields = 100;

/** Returns the values of a page by the names of the form's fields. False and null are no value, as a form has none. */
function readValues(page: ComparedFile['page']): ReadonlyMap<string, unknown> {
  const data: PageData = { ...page?.data, page: page?.page };
  const entries = Object.entries(data).flatMap(([key, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value)
      : [[key, value] as const],
  );
  return new Map(
    entries.map(([name, value]) => [name, value === false || value === null ? undefined : value]),
  );
}

/** What changes for a server that adds the bot. */
export interface InviteChange {
  /** The new link. */
  readonly link: string;
  /** What it asks for now, and what it no longer asks for. */
  readonly added: StatedPermissions;
  readonly removed: StatedPermissions;
  readonly isOtherBot: boolean;
  /** Whether it is new, and does not say what it asks for. */
  readonly isUnknown: boolean;
}

/** Compares the invite links of a bot. @param before none for a new bot */
export function compareInvites(before: readonly PageFile[], after: readonly PageFile[]): InviteChange {
  const [was = '', link = ''] = [before, after].map((files) => {
    const { invite } = readMainData(files);
    return typeof invite === 'string' ? invite : '';
  });
  return {
    link,
    added: comparePermissions(link, was),
    removed: comparePermissions(was, link),
    isOtherBot: was !== '' && link !== '' && toInviteKey(was) !== toInviteKey(link),
    isUnknown: link !== was && readInvite(link) === undefined,
  };
}

/** Returns the front matter of the main page; empty if it cannot be read. */
export function readMainData(files: readonly PageFile[]): PageData {
  return files.filter(isReadable).find(isMainPage)?.page.data ?? {};
}

/**
 * Returns when a bot was removed, in milliseconds since the epoch: when its last file disappeared, else the time of the
 * commit. Undefined if that is not known, or if the bot still has a file, which is not served while it is faulty.
 */
export type RemovedAt = (id: BotId) => Promise<number | undefined>;

/**
 * Records the bots that are removed from now on; the index has earlier removals, if there is a repository, once it is
 * complete.
 */
export function trackRemovedBots(store: BotStore, changes: Pick<ReadonlyChanges, 'listSteps'>): RemovedAt {
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

/** About 10 MB. */
const maxSeen = 100_000;
