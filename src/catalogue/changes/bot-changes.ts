import { isDeepStrictEqual } from 'node:util';
import type { MainPage } from '../../../schemas/types.ts';
import { msPerDay } from '../../bot/clock.ts';
import type { AccountId, CommitAuthor } from '../../bot/commit-message.ts';
import type { BotId } from '../../bot/id.ts';
import { comparePermissions, readInvite, type StatedPermissions } from '../../bot/invite.ts';
import { toInviteKey } from '../../bot/likeness.ts';
import type { Locale } from '../../bot/locale.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { validate } from '../page/fault.ts';
import { isPage, type PagePlace } from '../page/layout.ts';
import type { PageFile } from '../page/page-file.ts';
import type { Page, PageData } from '../page/page.ts';
import { isMainPage, isReadable } from '../page/rules.ts';
import type { BotStore } from '../store/bot-store.ts';
import type { BotCommit, ChangeIndex } from './change-index.ts';

/** The methods of the index that only read. */
export type ReadonlyChanges = Readonly<
  Pick<ChangeIndex, 'isComplete' | 'stamp' | 'list' | 'listSteps' | 'read' | 'readAuthor'>
>;

/** The changes that one commit made to a bot. */
export interface BotChange {
  readonly commit: string;
  /** Time of the commit, in milliseconds since the epoch. */
  readonly time: number;
  readonly by: CommitAuthor;
  /** For a new page, `fields` is empty. A changed text or image is listed without its values. */
  readonly pages: readonly PageChange[];
  /** Whether the commit changed the bot's commands. */
  readonly hasOtherCommands: boolean;
  readonly invite: InviteChange;
  /** Whether the commit added the bot. */
  readonly isNewBot: boolean;
}

/** Changes by time, newest first; changes of the same time by commit id. */
export interface ChangesPage {
  readonly changes: readonly BotChange[];
  /** The last commit of this page, from which the next page continues; undefined for the last page. */
  readonly next: string | undefined;
}

/**
 * Reads the changes of a bot, 50 commits at a time. Skips commits without a visible change.
 * @param after the last commit of the previous page; left out for the first page. An unknown commit returns no changes
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

/** Drops values that nobody reads in a list of changes: long texts, addresses of images, and all fields of a new page. */
function withoutTexts(page: PageChange): PageChange {
  const fields = page.fields.map(({ name, ...values }) => ({ name, ...(!hidden.has(name) && values) }));
  return { ...page, fields: page.state === 'added' ? [] : fields };
}

const hidden = new Set(['page', 'avatar', 'cover', 'preview']);

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
 * the invite link, marked as for adults, source closed. The commits before the newest 50 count as one commit, and so does a merged
 * pull request. A return to the first bot's invite link is not a change.
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
  const authors = Array.isArray(named) ? named.filter((author) => typeof author === 'string') : [];
  if (typeof invite !== 'string') return undefined;
  const { groups, unknownBits } = comparePermissions(invite, '');
  const permissions = [...groups.flatMap((group) => group.permissions), ...unknownBits];
  return new Set([
    ...permissions.map((permission) => `permission ${permission}`),
    `bot ${toInviteKey(invite)}`,
    ...authors.map((author) => `author ${author}`),
    ...(nsfw === true ? ['nsfw '] : []),
    ...(namesSource(codehost) ? [] : ['source ']),
  ]);
}

function namesSource(codehost: unknown): boolean {
  const { owner, repo } = (codehost ?? {}) as Partial<Record<string, unknown>>;
  return typeof owner === 'string' && typeof repo === 'string';
}

/** The changes of one page of a bot. */
export interface PageChange {
  readonly locale: Locale;
  /** Whether the page was created, changed or deleted. */
  readonly state: 'added' | 'edited' | 'removed';
  readonly fields: readonly FieldChange[];
}

/** A value that differs; undefined where the page does not have it. The values are not validated. */
export interface FieldChange {
  /** The name of the form's field, or the key of the front matter if no form has the field. */
  readonly name: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** A file with front matter, or only data. */
export type ComparedFile = Pick<PageFile & PagePlace, 'path' | 'locale'> & {
  readonly page: Pick<Page, 'data' | 'page'> | undefined;
};

/** Compares files of a bot, a collection or a profile. Skips the text of a new page, and all fields of a removed one. */
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

/** Listed first, because they matter most to a server. */
const firstFields = ['invite', 'authors', 'nsfw'];

/** Above the maximum that the rules allow, so only faulty pages are cut. */
const maxFields = 100;

/**
 * Returns the values of a page by the names of the form's fields. False and null become undefined, because forms do
 * not have them.
 */
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

/** The changes for a server that adds the bot. */
export interface InviteChange {
  /** The new link. */
  readonly link: string;
  /** Permissions that only the new link asks for, and those that only the old one asked for. */
  readonly added: StatedPermissions;
  readonly removed: StatedPermissions;
  readonly isOtherBot: boolean;
  /** Whether the link is new and its permissions cannot be read. */
  readonly isUnknown: boolean;
}

/** Compares the invite links of a bot. @param before empty for a new bot */
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

/** About 10 MB of memory. */
const maxSeen = 100_000;
