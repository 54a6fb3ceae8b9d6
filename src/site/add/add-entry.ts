import { type BotId, parseBotId } from '../../bot/id.ts';
import { type Locale, parseLocale } from '../../bot/locale.ts';
import type { MainPage } from '../../bot/schema-types.ts';
import { canonicalForm } from '../../catalogue/page/canonical-form.ts';
import { pathOf } from '../../catalogue/page/layout.ts';
import { parsePage } from '../../catalogue/page/page.ts';
import { validate } from '../../catalogue/page/schema.ts';
import type { FieldName, FieldTexts } from './add-fields.ts';

/** The file that a form makes. */
export interface AddEntry {
  /** Undefined while the ID or the language is wrong. */
  readonly path: string | undefined;
  readonly text: string;
  /** The part of it below the front matter. */
  readonly page: string;
  /** An error message for each field that breaks a rule. */
  readonly faults: Readonly<Partial<Record<FieldName, string>>>;
}

/**
 * Makes a main page from a form's fields and checks it against the schemas, then checks the whole file.
 * @param now when the bot is listed, milliseconds since the epoch
 * @param isListed whether the bot is in the catalogue
 */
export function addEntry(texts: FieldTexts, now: number, isListed: (id: BotId) => boolean): AddEntry {
  const faults = new Map<FieldName, string>();
  const note = (field: FieldName, message: string): void => {
    if (!faults.has(field)) faults.set(field, message);
  };
  const id = parseBotId(trimmed(texts.id));
  if (id === undefined) note('id', 'enter the bot’s ID, 1 to 20 digits');
  else if (isListed(id)) note('id', 'this bot is already listed: edit its page instead');
  const locale = localeOf(trimmed(texts.locale), (message) => note('locale', message));

  if (trimmed(texts.category) === '') note('category', 'choose a category');
  const data = mainPageOf(texts, now);
  const page = (texts.page ?? '')
    .replaceAll('\r\n', '\n')
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd();
  for (const { place, message } of validate('main-page', data)) note(fieldAt(place), message);
  for (const { message } of validate('page', page)) note('page', message);
  const path = id !== undefined && locale !== undefined ? pathOf(id, locale) : undefined;
  const text = canonicalForm(`---\n${JSON.stringify(data)}\n---\n\n${page}${page === '' ? '' : '\n'}`);
  for (const { message } of parsePage(path ?? '', Buffer.from(text)).faults) note('page', message);
  return { path, text, page, faults: Object.fromEntries(faults) };
}

function localeOf(tag: string, note: (message: string) => void): Locale | undefined {
  const locale = parseLocale(tag);
  if (typeof locale === 'string') return locale;
  note(`this ${locale.reason}: write ${locale.instead}`);
  return undefined;
}

/** Optional fields that are empty keep their default. */
function mainPageOf(texts: FieldTexts, now: number): MainPage {
  const orNull = (name: FieldName): string | null => trimmed(texts[name]) || null;
  return {
    name: trimmed(texts.name),
    description: trimmed(texts.description),
    authors: words(texts.authors),
    // The schema checks it.
    category: trimmed(texts.category) as MainPage['category'],
    codehost: { owner: orNull('owner'), repo: orNull('repo') },
    created: now,
    images: { avatar: orNull('avatar'), cover: orNull('cover'), preview: words(texts.preview) },
    invite: trimmed(texts.invite),
    nsfw: texts.nsfw !== undefined,
    support: orNull('support'),
    trigger: {
      prefix: lines(texts.prefix),
      customisable: texts.customisable !== undefined,
      mentionable: texts.mentionable !== undefined,
    },
    website: orNull('website'),
  };
}

/** Returns the field that a key of the front matter comes from: avatar for `images.avatar`, authors for `authors[1]`. */
function fieldAt(place: readonly (string | number)[]): FieldName {
  const key = place.filter((part) => typeof part === 'string').at(-1);
  return key as FieldName;
}

function trimmed(text = ''): string {
  return text.trim();
}

/** Splits a text into lines. A space at the end of a line is kept: a prefix may end in one. */
function lines(text = ''): string[] {
  return text
    .split(/\r\n|\n|\r/)
    .map((line) => line.trimStart())
    .filter((line) => line !== '');
}

function words(text = ''): string[] {
  const all = text.split(/[\s,]+/).filter((word) => word !== '');
  return all.slice(0, mostWords);
}

/** More than any list may have, so the schema still reports that the list is too long. */
const mostWords = 100;
