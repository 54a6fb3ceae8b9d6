import { toInviteKey } from '../../bot/likeness.ts';
import type { Locale } from '../../bot/locale.ts';
import type { PageData, Page } from '../../catalogue/page/page.ts';
import type { PageFile } from '../../catalogue/page/page-file.ts';
import { isMainPage, isReadable } from '../../catalogue/page/rules.ts';
import { formatValue } from '../add/fields.ts';
import type { Words } from '../add/file-diff.tsx';
import { withoutBidiControls } from '../page/bidi.ts';
import { comparePermissions, readInvite, type StatedPermissions } from '../page/permissions.ts';

/** What a proposal changes in a page file. */
export interface PageChange {
  readonly locale: Locale;
  /** Whether the bot has no page in this language yet. */
  readonly isNew: boolean;
  readonly fields: readonly FieldChange[];
}

/** A value that differs. Empty where there is none. */
export interface FieldChange {
  /** The name of the form's field; a key of the front matter where the forms have none. */
  readonly name: string;
  readonly before: string;
  readonly after: string;
  /** The words that differ: null where too many do, undefined until they are compared. */
  words?: readonly Words[] | null;
}

/** Returns what differs in the changed pages of a bot. The text of a new page is left out. */
export function comparePages(before: readonly PageFile[], changed: readonly PageFile[]): PageChange[] {
  return changed.map(({ path, locale, page }) => {
    const former = before.find((file) => file.path === path);
    const [was, now] = [readValues(former?.page), readValues(page)];
    const hidden = former === undefined ? ['edited', 'created', 'page'] : ['edited'];
    const fields = [...new Set([...firstFields, ...was.keys(), ...now.keys()])]
      .map((name) => ({ name, before: was.get(name) ?? '', after: now.get(name) ?? '' }))
      .filter((field) => field.before !== field.after && !hidden.includes(field.name));
    return { locale, isNew: former === undefined, fields: fields.slice(0, maxFields) };
  });
}

/** What matters most to a server comes first. */
const firstFields = ['invite', 'authors', 'nsfw'];

/** More than the rules allow, so a page with more has faults. */
const maxFields = 100;

/** Returns the values of a page by the names of the form's fields. */
function readValues(page: Page | undefined): ReadonlyMap<string, string> {
  const data: PageData = { ...page?.data, page: page?.page };
  const entries = Object.entries(data).flatMap(([key, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value)
      : [[key, value] as const],
  );
  return new Map(entries.map(([name, value]) => [name, formatAny(value)]));
}

function formatAny(value: unknown): string {
  if (value === true) return '✓';
  if (value === false || value === null) return '';
  return withoutBidiControls(formatValue(value) ?? JSON.stringify(value) ?? '');
}

/** What a proposal changes for a server that adds the bot. */
export interface InviteChange {
  /** The link as proposed. */
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
  const [was = '', link = ''] = [before, after].map((files) => formatAny(readMainData(files)['invite']));
  return {
    link,
    added: comparePermissions(link, was),
    removed: comparePermissions(was, link),
    isOtherBot: before.length > 0 && toInviteKey(was) !== toInviteKey(link),
    isUnknown: link !== was && readInvite(link) === undefined,
  };
}

/** Returns the front matter of the main page; empty where it cannot be read. */
export function readMainData(files: readonly PageFile[]): PageData {
  return files.filter(isReadable).find(isMainPage)?.page.data ?? {};
}
