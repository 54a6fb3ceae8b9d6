import { isDeepStrictEqual } from 'node:util';
import { type BotId, parseBotId } from '../../bot/id.ts';
import { toCanonicalLocale, type Locale } from '../../bot/locale.ts';
import { toCanonicalForm } from '../../catalogue/page/canonical-form.ts';
import { type PagePlace, pathOf } from '../../catalogue/page/layout.ts';
import { cutPage, editPage, parsePage } from '../../catalogue/page/page.ts';
import { type AddField, listFields, type FieldTexts, type FormKind } from './add-fields.ts';
import { type FieldFaults, findFieldFaults } from './field-faults.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import { formatValue, parseValue } from './field-values.ts';

/** The file that a form makes, as `botshelf format` writes it. */
export interface FormEntry {
  /** Undefined while the ID or the language is wrong. */
  readonly path: string | undefined;
  readonly text: string;
  /** The front matter of it. */
  readonly data: Data;
  /** The part of it below the front matter. */
  readonly page: string;
  readonly faults: FieldFaults;
  /** How many required fields are empty. */
  readonly missing: number;
}

type Data = Readonly<Record<string, unknown>>;

/**
 * Makes the main page of a new bot.
 * @param now when the bot is listed, milliseconds since the epoch
 * @param nameOf returns the name of a bot that is listed
 */
export function createBotEntry(
  texts: FieldTexts,
  now: number,
  nameOf: (id: BotId) => string | undefined,
): FormEntry {
  const id = parseBotId(texts.id?.trim() ?? '');
  const locale = parseLocaleField(texts);
  const listed = id && nameOf(id);
  return createNewEntry('add', texts, { created: now }, id, locale, {
    ...(id === undefined && { id: { key: 'fault.id' } }),
    ...(listed !== undefined && {
      id: { key: 'fault.listed', values: { bot: withoutBidiControls(listed) }, path: `/bots/${id}` },
    }),
    ...(locale === undefined && { locale: { key: 'fault.locale' } }),
  });
}

/** Makes a translation for a bot that has pages in `locales`. @param source the texts that are translated */
export function createTranslationEntry(
  texts: FieldTexts,
  {
    id,
    locales,
    source,
  }: { readonly id: BotId; readonly locales: readonly Locale[]; readonly source: FieldTexts },
): FormEntry {
  const locale = parseLocaleField(texts);
  const exists = locale !== undefined && locales.includes(locale);
  const description = texts.description?.trim() ?? '';
  return createNewEntry('translate', texts, {}, id, locale, {
    ...(locale === undefined && { locale: { key: 'fault.locale' } }),
    ...(exists && { locale: { key: 'fault.hasLanguage' } }),
    ...(description !== '' &&
      description === source.description && { description: { key: 'fault.untranslated' } }),
  });
}

/** A page file that is edited with a form. */
export interface EditedFile extends PagePlace {
  readonly text: string;
  readonly isMain: boolean;
}

/** Returns the form for a file. */
export function chooseForm({ isMain }: EditedFile): FormKind {
  return isMain ? 'edit' : 'edit-translation';
}

/** Returns the texts that the form for a file is filled in with; undefined where it cannot be parsed. */
export function readFieldTexts(file: EditedFile): FieldTexts | undefined {
  const { page } = parsePage('', Buffer.from(file.text));
  if (page === undefined) return undefined;
  const texts = listFields(chooseForm(file)).map(({ name, place }) => {
    const value = place?.reduce<unknown>((inner, key) => (inner as Data | undefined)?.[key], page.data);
    return [name, place === undefined ? page.page : formatValue(value)];
  });
  return Object.fromEntries(texts.filter(([, text]) => text !== undefined)) as FieldTexts;
}

/**
 * Makes the changed text of a file. Keys whose fields are as in the file keep their values, and a file without a change
 * keeps its bytes.
 * @param before the texts of the file
 */
export function editEntry(file: EditedFile, before: FieldTexts, texts: FieldTexts): FormEntry {
  const kind = chooseForm(file);
  const changed = listFields(kind).filter(
    (field) => !isDeepStrictEqual(parseValue(field, texts), parseValue(field, before)),
  );
  return createEntry(kind, texts, pathOf(file.id, file.locale), applyChanges(file.text, changed, texts));
}

function applyChanges(text: string, changed: readonly AddField[], texts: FieldTexts): string {
  if (changed.length === 0) return text;
  const { data = {} } = parsePage('', Buffer.from(text)).page ?? {};
  const all = applyFields(changed, texts, data);
  const keys = new Set(changed.flatMap(({ place = [] }) => place.slice(0, 1)));
  const edited = editPage(text, Object.fromEntries([...keys].map((key) => [key, all[key]])));
  const page = changed.find(({ kind }) => kind === 'page');
  return toCanonicalForm(page === undefined ? edited : withPage(edited, String(parseValue(page, texts))));
}

/** Replaces the markdown of a page file. Its line ends stay what they are. */
function withPage(text: string, page: string): string {
  const { before, json, after } = cutPage(text);
  const eol = after.includes('\r\n') ? '\r\n' : '\n';
  return `${before}${json}---${eol}${formatBody(page).replaceAll('\n', eol)}`;
}

function createNewEntry(
  kind: FormKind,
  texts: FieldTexts,
  data: Data,
  id: BotId | undefined,
  locale: Locale | undefined,
  faults: FieldFaults,
): FormEntry {
  const fields = listFields(kind);
  const page = fields.find((field) => field.kind === 'page');
  const json = JSON.stringify(applyFields(fields, texts, data));
  const text = toCanonicalForm(
    `---\n${json}\n---\n${formatBody(page ? String(parseValue(page, texts)) : '')}`,
  );
  const path = id !== undefined && locale !== undefined ? pathOf(id, locale) : undefined;
  return createEntry(kind, texts, path, text, faults);
}

/** Returns the markdown of a page as it is below the front matter: after an empty line, with a line end. */
function formatBody(page: string): string {
  return `\n${page}${page === '' ? '' : '\n'}`;
}

function createEntry(
  kind: FormKind,
  texts: FieldTexts,
  path: string | undefined,
  text: string,
  known: FieldFaults = {},
): FormEntry {
  const fields = listFields(kind);
  const parsed = parsePage(path ?? '', Buffer.from(text));
  const { data = {}, page = '' } = parsed.page ?? {};
  const isTranslation = kind === 'translate' || kind === 'edit-translation';
  const faults = findFieldFaults(parsed, isTranslation ? 'translation' : 'main-page', fields);
  const missing = fields.filter(
    ({ name, required }) => required === true && (texts[name] ?? '').trim() === '',
  ).length;
  return { path, text, data, page, faults: { ...faults, ...known }, missing };
}

/** Returns front matter with the values of the fields. */
function applyFields(fields: readonly AddField[], texts: FieldTexts, data: Data): Data {
  const all: Record<string, unknown> = structuredClone(data);
  for (const field of fields) {
    const [key, inner] = field.place ?? [];
    if (key === undefined) continue;
    const value = parseValue(field, texts);
    all[key] = inner === undefined ? value : { ...(all[key] as Data | undefined), [inner]: value };
  }
  return all;
}

function parseLocaleField({ locale = '' }: FieldTexts): Locale | undefined {
  return toCanonicalLocale(locale.trim());
}
