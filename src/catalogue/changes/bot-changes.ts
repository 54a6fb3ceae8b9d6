import { isDeepStrictEqual } from 'node:util';
import type { CommitAuthor } from '../../bot/commit-message.ts';
import type { BotId } from '../../bot/id.ts';
import { comparePermissions, readInvite, type StatedPermissions } from '../../bot/invite.ts';
import { toInviteKey } from '../../bot/likeness.ts';
import type { Locale } from '../../bot/locale.ts';
import { BotshelfError } from '../../lib/errors.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { isPage, type PagePlace } from '../page/layout.ts';
import type { PageFile } from '../page/page-file.ts';
import type { Page, PageData } from '../page/page.ts';
import { isMainPage, isReadable } from '../page/rules.ts';
import type { ChangeIndex } from './change-index.ts';

/** The methods of the index that only read. */
export type ReadonlyChanges = Readonly<
  Pick<ChangeIndex, 'isComplete' | 'stamp' | 'list' | 'listSteps' | 'read' | 'readAuthor'>
>;

/** @throws {BotshelfError} unread-history, until all of the history was read */
export function ensureComplete(index: ReadonlyChanges): void {
  if (index.isComplete) return;
  throw new BotshelfError('unread-history', 'the history is still being read: try again in a few minutes');
}

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

/** The commits of a bot that are read at a time. */
export const maxCommits = 50;

/** Drops values that nobody reads in a list of changes: long texts, addresses of images, and all fields of a new page. */
function withoutTexts(page: PageChange): PageChange {
  const fields = page.fields.map(({ name, ...values }) => ({ name, ...(!hidden.has(name) && values) }));
  return { ...page, fields: page.state === 'added' ? [] : fields };
}

const hidden = new Set(['page', 'avatar', 'cover', 'preview']);

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

/** The difference between two invite links of a bot: what it newly asks of a server, or no longer does. */
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
