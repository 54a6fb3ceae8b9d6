import { toInviteKey } from '../../bot/likeness.ts';
import type { Locale } from '../../bot/locale.ts';
import type { PageData, Page } from '../../catalogue/page/page.ts';
import type { PageFile } from '../../catalogue/page/page-file.ts';
import { isMainPage, isReadable } from '../../catalogue/page/rules.ts';
import { formatValue } from '../add/fields.ts';
import type { Words } from '../add/file-diff.tsx';
import { withoutBidiControls } from '../page/bidi.ts';
import { comparePermissions, type StatedPermissions } from '../page/permissions.ts';

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

/** Returns what differs in the changed pages of a bot. */
export function comparePages(before: readonly PageFile[], changed: readonly PageFile[]): PageChange[] {
  return changed.map(({ path, locale, page }) => {
    const former = before.find((file) => file.path === path);
    const [was, now] = [readValues(former?.page), readValues(page)];
    const names = new Set([...firstFields, ...was.keys(), ...now.keys()]);
    const fields = [...names]
      .map((name) => ({ name, before: was.get(name) ?? '', after: now.get(name) ?? '' }))
      .filter((field) => field.before !== field.after && !(former === undefined && field.name === 'created'));
    return { locale, isNew: former === undefined, fields: fields.slice(0, maxFields) };
  });
}

/** What matters most to a server comes first. */
const firstFields = ['invite', 'authors', 'nsfw'];

/** More than the rules allow, so a page with more has faults. */
const maxFields = 100;

/** Returns the values of a page by the names of the form's fields, without the time that the service sets. */
function readValues(page: Page | undefined): Map<string, string> {
  if (page === undefined) return new Map();
  const { edited: _edited, ...data } = page.data;
  const entries = Object.entries(data).flatMap(([key, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value)
      : [[key, value] as const],
  );
  return new Map([...entries, ['page', page.page] as const].map(([name, value]) => [name, toText(value)]));
}

function toText(value: unknown): string {
  if (value === true) return '✓';
  if (value === false || value === null) return '';
  return withoutBidiControls(formatValue(value) ?? JSON.stringify(value) ?? '');
}

/** What a proposal changes for a server that adds the bot. */
export interface InviteChange {
  /** What the link asks for now, and what it no longer asks for. */
  readonly added: StatedPermissions;
  readonly removed: StatedPermissions;
  readonly isOtherBot: boolean;
}

/** Compares the invite links of a bot. @param before none for a new bot */
export function compareInvites(before: readonly PageFile[], after: readonly PageFile[]): InviteChange {
  const [was = '', now = ''] = [before, after].map((files) => toText(readMainData(files)['invite'] ?? null));
  return {
    added: comparePermissions(now, was),
    removed: comparePermissions(was, now),
    isOtherBot: before.length > 0 && toInviteKey(was) !== toInviteKey(now),
  };
}

/** Returns the front matter of the main page; empty where it cannot be read. */
export function readMainData(files: readonly PageFile[]): PageData {
  return files.filter(isReadable).find(isMainPage)?.page.data ?? {};
}
