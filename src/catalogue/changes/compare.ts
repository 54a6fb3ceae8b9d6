import { toInviteKey } from '../../bot/likeness.ts';
import type { Locale } from '../../bot/locale.ts';
import { comparePermissions, readInvite, type StatedPermissions } from '../../bot/invite.ts';
import type { Page, PageData } from '../page/page.ts';
import type { PageFile } from '../page/page-file.ts';
import { isMainPage, isReadable } from '../page/rules.ts';
import { isDeepStrictEqual } from 'node:util';

/** What changes in a page of a bot. */
export interface PageChange {
  readonly locale: Locale;
  /** Whether the bot had no such page before, or has none any more. */
  readonly state: 'added' | 'edited' | 'removed';
  readonly fields: readonly FieldChange[];
}

/** A value that differs. Undefined where there is none. Anything may be in it. */
export interface FieldChange {
  /** The name of the form's field; a key of the front matter where the forms have none. */
  readonly name: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** A file with front matter, or data alone. */
export type ComparedFile = Pick<PageFile, 'path' | 'locale'> & {
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

/** Returns the front matter of the main page; empty where it cannot be read. */
export function readMainData(files: readonly PageFile[]): PageData {
  return files.filter(isReadable).find(isMainPage)?.page.data ?? {};
}
