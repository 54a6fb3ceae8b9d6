import { isDeepStrictEqual } from 'node:util';
import { toCanonicalLocale } from '../../bot/locale.ts';
import { readSchema } from '../../bot/schemas.ts';
import { toCanonicalForm } from '../../catalogue/page/canonical-form.ts';
import { cutPage, type PageData, type ParsedPage, parsePage } from '../../catalogue/page/page.ts';
import { validate } from '../../catalogue/page/schema.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { setKeys } from '../../lib/edit-json.ts';
import type { MessageKey } from '../language/message-file.ts';
import { type FieldName, type FieldTexts, findPlace, type FormField, parseValue } from './fields.ts';
import type { Form } from './forms.ts';

/** The file that a form makes, as `botshelf format` writes it. */
export interface FormFile {
  /** Undefined while the ID or the language is wrong. */
  readonly path: string | undefined;
  readonly text: string;
  /** The front matter of it. */
  readonly data: PageData;
  /** The part of it below the front matter. */
  readonly page: string;
  readonly faults: FieldFaults;
  /** How many required fields are empty. */
  readonly missing: number;
  /** Whether the file is right and has changed. */
  readonly isReady: boolean;
}

/** The first fault of each field that has one. */
export type FieldFaults = Readonly<Partial<Record<FieldName, FieldFault>>>;

/** What is wrong with a field: a message and what fills it in. */
export interface FieldFault {
  readonly key: Extract<MessageKey, `fault.${string}`>;
  readonly values?: Readonly<Record<string, string | number>>;
  /** The page that its values link to. */
  readonly path?: string;
}

/**
 * Makes the file of a form: what it begins with, with the values of its fields. Of a file that is there only the keys
 * whose fields have changed are written, and one without a change keeps its bytes.
 */
export function makeFile(
  form: Form,
  texts: FieldTexts,
  { categories, languages }: Pick<CatalogueSettings, 'categories' | 'languages'>,
): FormFile {
  const { kind, source, groups, schema } = form;
  const isNew = kind !== 'edit';
  const fields = groups.flat();
  const locale = toCanonicalLocale({ ...form.texts, ...texts }.locale?.trim() ?? '');
  const isJson = schema === 'profile';
  const filled = fillIn(form, isNew ? fields : listChanged(form, texts), texts);
  const text = isJson ? cutPage(filled).json : filled;
  const parsed = parsePage('', Buffer.from(filled));
  const { data = {}, page = '' } = parsed.page ?? {};
  const { category } = data;
  const isForeign = isNew && schema !== 'profile' && locale && languages?.includes(locale) === false;
  const faults: FieldFaults = {
    ...(typeof category === 'string' &&
      !categories.includes(category) && { category: { key: 'fault.category' } }),
    ...(isForeign && { locale: { key: 'fault.language', values: { languages: languages.join(', ') } } }),
    ...findFieldFaults(parsed, form.schema, fields),
    ...(isNew && locale === undefined && { locale: { key: 'fault.locale' } }),
    ...form.findFaults(locale, texts),
  };
  const missing = fields.filter(({ name, required }) => required === true && !texts[name]?.trim()).length;
  const path = locale && form.toPath(locale, texts);
  const isReady = Object.keys(faults).length === 0 && text !== source;
  return { path, text, data, page, faults, missing, isReady };
}

/** Returns JSON as the front matter of a file without a page. */
export function toFrontMatter(json: string): string {
  return `---\n${json.trim()}\n---\n`;
}

function listChanged(form: Form, texts: FieldTexts): FormField[] {
  return form.groups
    .flat()
    .filter((field) => !isDeepStrictEqual(parseValue(field, texts), parseValue(field, form.texts)));
}

/** Sets the values of fields in a page file. The line ends of its markdown stay what they are. */
function fillIn({ source, schema }: Form, fields: readonly FormField[], texts: FieldTexts): string {
  const text = schema === 'profile' ? toFrontMatter(source) : source;
  if (fields.length === 0) return text;
  const { data = {} } = parsePage('', Buffer.from(text)).page ?? {};
  const { before, json, after } = cutPage(text);
  const values: Record<string, unknown> = {};
  let body = after;
  for (const field of fields) {
    const [key, inner] = findPlace(field);
    const value = parseValue(field, texts);
    if (field.kind === 'page') {
      const eol = after.includes('\r\n') ? '\r\n' : '\n';
      body = `---\n\n${String(value)}${value === '' ? '' : '\n'}`.replaceAll('\n', eol);
    } else if (key !== undefined && inner === undefined) values[key] = value;
    else if (key !== undefined && inner !== undefined) {
      const { [inner]: _former, ...others } = (values[key] ?? data[key] ?? {}) as PageData;
      values[key] = value === null && field.key !== undefined ? others : { ...others, [inner]: value };
    }
  }
  return toCanonicalForm(
    before + setKeys(json, values) + body,
    schema === 'translation' ? 'main-page' : schema,
  );
}

/** Checks the file that a form makes. What no field of the form has is reported at the page. */
function findFieldFaults(
  { page, faults }: ParsedPage,
  schema: Form['schema'],
  fields: readonly FormField[],
): FieldFaults {
  if (page === undefined) return { page: createFileFieldFault(faults[0]?.message ?? '') };
  const all = validate(schema, page.data).map((fault): [FieldName, FieldFault] => {
    const field = fields.find((candidate) => {
      const place = findPlace(candidate);
      return place.length > 0 && place.every((key, i) => fault.place[i] === key);
    });
    if (field === undefined) return ['page', createFileFieldFault(fault.message)];
    const value = page.data[field.name];
    const isLong = fault.keyword === 'maxLength' && field.kind === 'text' && typeof value === 'string';
    return [field.name, isLong ? createLengthFault(field.name, value) : { key: field.fault }];
  });
  // Of several faults of a field the first is kept.
  return {
    ...Object.fromEntries(all.toReversed()),
    ...(validate('page', page.page).length > 0 && { page: createLengthFault('page', page.page) }),
  };
}

function createFileFieldFault(reason: string): FieldFault {
  return { key: 'fault.file', values: { reason } };
}

function createLengthFault(name: FieldName, text: string): FieldFault {
  const limit = limits[name]?.maxLength ?? 0;
  return { key: 'fault.tooLong', values: { count: Array.from(text).length, limit } };
}

const limits = readSchema('definitions')['$defs'] as Partial<Record<string, { readonly maxLength?: number }>>;
