import { isDeepStrictEqual } from 'node:util';
import type { ImportMap, ImportRule } from '../../schemas/types.ts';
import { type BotId, parseBotId } from '../bot/id.ts';
import { parseInvite } from '../bot/invite.ts';
import { type Locale, toCanonicalLocale } from '../bot/locale.ts';
import { readSchema, resolveProperties } from '../bot/schemas.ts';
import { validate, formatPlace } from '../bot/validate.ts';
import { type PagePlace, parsePagePath } from '../catalogue/page/layout.ts';
import { type PageFile, parsePageFile } from '../catalogue/page/page-file.ts';
import {
  toCanonicalForm,
  createSizeFault,
  editPage,
  maxFileSize,
  trimMarkdown,
} from '../catalogue/page/page.ts';
import { isObject } from '../lib/json.ts';
import { quoteValue } from '../lib/text.ts';
import { findDouble, readList, type SourceFields } from './read-records.ts';
import {
  convertValue,
  findValueFault,
  listKeys,
  type Refusal,
  type SourceValue,
  toKeyValue,
} from './values.ts';

/** A page file with its text. */
export interface PageText extends PageFile, PagePlace {
  readonly locale: Locale;
  readonly text: string;
}

/** The bot of a record. Its files are not checked yet. */
export interface MappedBot {
  readonly files: readonly PageText[];
  /** The faults besides those of the files, which then have another id or language. */
  readonly refusals: readonly Refusal[];
  /** The omissions and changes in the files. */
  readonly remarks: readonly Refusal[];
}

export function refuseRecord(message: string, rule = 'record'): MappedBot {
  return { files: [], refusals: [{ rule, message }], remarks: [] };
}

/** @throws {Error} for half of a character, which no file can have */
export function toPageText(place: PagePlace, text: string): PageText {
  if (!text.isWellFormed()) throw new Error('it has half of a character, such as \\ud83d');
  return { ...parsePageFile(place, Buffer.from(text)), text };
}

/** Returns the bot of a line of an export, with its files as they are; undefined if the line has another form. */
export function readExported({ files }: SourceFields): MappedBot | undefined {
  if (!Array.isArray(files)) return undefined;
  const texts = files.flatMap((file: SourceFields | null) => {
    const place = parsePagePath(String(file?.['path']));
    return place && typeof file?.['text'] === 'string' ? [toPageText(place, file['text'])] : [];
  });
  const [first] = texts;
  const isOne = texts.length === files.length && texts.every(({ id }) => id === first?.id);
  return first && isOne ? { files: texts, refusals: [], remarks: [] } : undefined;
}

/** Returns the bot of a row of `botshelf export --format csv`; undefined if the row has another form. */
export function readExportedRow(fields: SourceFields, defaultLocale: Locale): MappedBot | undefined {
  if (!['id', 'locale', 'authors', 'images', 'random'].every((key) => typeof fields[key] === 'string'))
    return undefined;
  const values = Object.entries(fields).map(([key, cell]): [string, unknown] => {
    const text = String(cell);
    const isJson = /^(?:authors|codehost|images|trigger)$/.test(key);
    return [key, isJson ? JSON.parse(text) : text.replace(/^'(?='*[=+@\t\r-])/, '')];
  });
  const keys = Object.keys(resolveProperties(readSchema('import-map')));
  const map: ImportMap = { id: 'id', ...Object.fromEntries(keys.map((key) => [key, key])) };
  const cells: SourceFields = Object.fromEntries(values);
  const bot = mapRecord(map, cells, defaultLocale, true);
  const { prefix } = { ...(cells['trigger'] as { prefix?: unknown } | null) };
  if (!Array.isArray(prefix) || prefix.length === 0) return bot;
  return { ...bot, files: bot.files.map((file) => withPrefixes(file, prefix)) };
}

/** Returns a page with prefixes as they are: a mapping trims them, and one such as `bot ` ends in a space. */
function withPrefixes(file: PageText, prefix: readonly unknown[]): PageText {
  const trigger = { ...(file.page?.data['trigger'] as object | undefined), prefix };
  return toPageText(file, toCanonicalForm(editPage(file.text, { trigger })));
}

/** Whether an object is a record: has a value for the id or, inside another object, the id and the authors of a bot. */
export function isBot({ id, authors }: ImportMap, fields: SourceFields, isInner: boolean): boolean {
  const text = readId(id, fields);
  const hasAuthors = authors === undefined || applyRule(authors, fields) !== undefined;
  return isInner ? hasAuthors && parseBotId(text) !== undefined : text !== '';
}

/**
 * Returns the bot that a record becomes. A locale in the entries of a list, such as `contents[].locale`, makes a page of each
 * entry, the first one the main page.
 * @param defaultLocale of a page without one
 * @param isExport whether no value is to be converted
 */
export function mapRecord(
  map: ImportMap,
  fields: SourceFields,
  defaultLocale: Locale,
  isExport = false,
): MappedBot {
  const several = listPaths(map.id).find((path) => meetsSeveral(fields, toParts(fields, path)));
  const message = `id: ${several} leads to several objects in one record: write the path inside each of them`;
  if (several !== undefined) return refuseRecord(message, 'id');
  const [path = ''] = listPaths(map.locale);
  const list = /^([^.[\]]+)\[\]\./.exec(path)?.[1] ?? '';
  const entries = Object.hasOwn(fields, list) ? fields[list] : undefined;
  if (!Array.isArray(entries) || entries.length === 0) return mapPage(map, fields, defaultLocale, isExport);
  const pages = entries.map((entry: unknown) =>
    mapPage(map, { ...fields, [list]: entry }, defaultLocale, isExport),
  );
  const [main, ...others] = pages.flatMap(({ files }) => files);
  const files = main === undefined ? [] : [main, ...others.map(toTranslation)];
  const double = findDouble(files.map(({ locale }) => locale));
  const twice = { rule: 'twice', message: `locale: two pages are in ${double}: remove one` };
  return {
    files,
    refusals: [...pages.flatMap(({ refusals }) => refusals), ...(double === undefined ? [] : [twice])],
    remarks: pages.flatMap(({ remarks }) => remarks),
  };
}

/** Returns a page with the keys of a translation only. */
export function toTranslation(file: PageText): PageText {
  if (file.page === undefined) return file;
  const { data, page } = file.page;
  const { name, description } = data;
  return formatPage(file, { name, description }, page);
}

function formatPage(place: PagePlace, data: object, page: string): PageText {
  const json = JSON.stringify(data);
  if (json.length + page.length > maxFileSize) throw new Error(createSizeFault('').message);
  return toPageText(place, toCanonicalForm(`---\n${json}\n---\n${page === '' ? '' : `\n${page}\n`}`));
}

function mapPage(map: ImportMap, fields: SourceFields, defaultLocale: Locale, isExport: boolean): MappedBot {
  const { id: idRule, locale: localeRule = {}, page: pageRule = 'body', ...rules } = map;
  const idText = readId(idRule, fields);
  const tag =
    applyTextRule(localeRule, fields) ?? (typeof localeRule === 'string' ? localeRule : defaultLocale);
  const [id, locale] = [parseBotId(idText), toCanonicalLocale(tag)];
  const [refusals, remarks]: [Refusal[], Refusal[]] = [[], []];
  const refuse = (rule: string, key: string, value: string, fix: string): number =>
    refusals.push({ rule, message: `${key}: ${quoteValue(value)} is not ${fix}` });
  if (isRounded(idText)) refuse('rounded', 'id', idText, exactIdAdvice);
  else if (id === undefined) refuse('id', 'id', idText, 'an id: write 1 to 20 digits');
  if (locale === undefined) refuse('locale', 'locale', tag, 'a language: write a tag such as en');
  const values = new Map<string, unknown>();
  for (const [key, rule] of Object.entries(rules)) {
    const found = applyRule(rule, fields, key, idText);
    const converted = isExport ? found : convertValue(key, found);
    if (!key.startsWith('codehost.') && !isDeepStrictEqual(converted, found))
      remarks.push({
        rule: 'converted',
        message: `${key}: ${quoteValue(found)} is ${quoteValue(converted)} here`,
      });
    const value = toKeyValue(key, converted);
    const rounded = key === 'authors' && Array.isArray(value) ? value.find(isRounded) : undefined;
    if (typeof rounded === 'string') refuse('rounded', key, rounded, exactIdAdvice);
    const fault = findValueFault(key, value);
    if (typeof rule === 'object' && rule.invalid !== undefined) {
      const others = toKeyValue(key, applyRule({ ...rule, from: [] }, fields, key, idText));
      values.set(key, leaveOut(key, value, fault, remarks) ?? others);
    } else {
      if (fault !== undefined) refusals.push(fault);
      // The record is refused for this reason alone.
      values.set(key, fault?.rule === 'date' ? Date.now() : value);
    }
  }
  const page = trimMarkdown(applyTextRule(pageRule, fields) ?? '');
  const place = { id: id ?? ('0' as BotId), locale: locale ?? defaultLocale };
  return { files: [formatPage(place, toData(values), page)], refusals, remarks };
}

const exactIdAdvice =
  'an exact id: a spreadsheet or a JSON writer has rounded it, export it as text, in a column of text or in quotes';

/** Whether a text is a number that has lost digits, or may have. */
function isRounded(text: unknown): boolean {
  return typeof text === 'string' && /^-?\d+(?:[.,]\d*)?e\+?\d+$|^\d+\.\d*$/i.test(text);
}

/** Returns a value, or the entries of a list, without invalid ones, which are remarked; undefined if all are. */
function leaveOut(key: string, value: unknown, fault: Refusal | undefined, remarks: Refusal[]): unknown {
  if (Array.isArray(value) && value.length === 0) return undefined;
  const depth = key.split('.').length;
  const data = toData([[key, value]]);
  const faults = validate('main-page', fault ? {} : data).filter(({ place }) => place.length >= depth);
  const isShort = Array.isArray(value) && value.length <= maxLeftOut;
  const inner = isShort ? faults.filter(({ place }) => place.length > depth) : [];
  const shown = inner.length > 0 ? inner : faults.filter(({ place }) => place.length === depth);
  const messages = shown.map(({ place, message }) => `${formatPlace(place)}${message}`);
  for (const message of fault ? [fault.message] : messages) remarks.push({ rule: 'left-out', message });
  if (fault === undefined && faults.length === 0) return value;
  if (!isShort || inner.length === 0) return undefined;
  const bad = new Set(inner.map(({ place }) => place[depth]));
  // A list is validated up to its greatest length.
  return leaveOut(
    key,
    value.filter((_, i) => !bad.has(i)),
    undefined,
    remarks,
  );
}

/** The longest list from which entries are left out: they are validated ten at a time. */
const maxLeftOut = 100;

/** Returns values as front matter: a key with a dot becomes nested objects, and undefined values are left out. */
function toData(values: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  for (const [key, value] of values) {
    const [outer = '', inner] = key.split('.');
    if (value === undefined) continue;
    data[outer] = inner === undefined ? value : { ...(data[outer] as object), [inner]: value };
  }
  return data;
}

/** Returns the text that has a record's id; of an invite link the id of its client. */
function readId(rule: ImportRule, fields: SourceFields): string {
  const text = applyTextRule(rule, fields) ?? '';
  const [client, ...more] = parseInvite(text)?.clients ?? [];
  return client !== undefined && more.length === 0 ? client : text;
}

function applyTextRule(rule: ImportRule, fields: SourceFields): string | undefined {
  const value = applyRule(rule, fields);
  return typeof value === 'string' ? value : undefined;
}

/**
 * @param key of a page file, if the rule is for one
 * @param id replaces `{id}` in a template
 */
function applyRule(rule: ImportRule, fields: SourceFields, key = '', id?: string): SourceValue {
  const { template, split, strip, values, else: other } = typeof rule === 'string' ? {} : rule;
  const all = listPaths(rule, false).map((path): SourceValue => {
    const value = readField(fields, path);
    if (typeof value !== 'string' || (split === undefined && !listKeys.test(key))) return value;
    return toPresent(readList(value) ?? (split === undefined ? value : value.split(split)));
  });
  const found = all.length > 1 ? toPresent(all.flat()) : all[0];
  const present = found ?? (template && fillTemplate(template, { ...fields, id }));
  if (present === undefined) return other;
  const translate = (value: SourceValue): SourceValue => {
    if (typeof value !== 'string') return value;
    const rest = strip !== undefined && value.startsWith(strip) ? value.slice(strip.length).trim() : value;
    if (values === undefined) return rest;
    return Object.hasOwn(values, rest) ? values[rest] : (other ?? rest);
  };
  return Array.isArray(present) ? present.map(translate) : translate(present);
}

/** Returns the paths of the fields that a rule reads, with those in its template. */
function listPaths(rule: ImportRule = {}, withTemplate = true): readonly string[] {
  const { from = [], template = '' } = typeof rule === 'string' ? { from: rule } : rule;
  const filled = withTemplate ? template.matchAll(/\{([^{}]+)\}/g) : [];
  return [from, Array.from(filled, ([, path = '']) => path)].flat();
}

/** Returns the template with its fields filled in; undefined if the record does not have one of them. */
function fillTemplate(template: string, fields: SourceFields): string | undefined {
  let isWhole = true;
  const text = template.replaceAll(/\{([^{}]+)\}/g, (_, path: string) => {
    const value = applyTextRule(path, fields);
    isWhole &&= value !== undefined;
    return template.startsWith('https://') ? encodeURIComponent(value ?? '') : (value ?? '');
  });
  return isWhole ? text : undefined;
}

/** Returns the value at a path, such as `owner.tags[0]` or `owners[].id`, or in a field that has the path as its name. */
function readField(fields: SourceFields, path: string): SourceValue {
  return toPresent(readParts(fields, toParts(fields, path)));
}

function toParts(fields: SourceFields, path: string): readonly string[] {
  return Object.hasOwn(fields, path) ? [path] : (path.match(/\[\]|[^.[\]]+/g) ?? [path]);
}

function readParts(outer: unknown, [part, ...rest]: readonly string[]): unknown {
  if (part === undefined) return outer;
  const value = typeof outer === 'string' ? (readList(outer) ?? outer) : outer;
  // In a record whose entries are pages, an entry replaces its list.
  if (part === '[]')
    return Array.isArray(value) ? value.map((entry) => readParts(entry, rest)) : readParts(value, rest);
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
  return readParts((value as SourceFields)[part], rest);
}

/** Whether a path leads into a list with several objects, any of which could be meant. */
function meetsSeveral(outer: unknown, [part, ...rest]: readonly string[]): boolean {
  const value = typeof outer === 'string' ? readList(outer) : outer;
  if (part === undefined) return false;
  if (!Array.isArray(value)) return meetsSeveral(readParts(value, [part]), rest);
  const [first, second] = value.filter(isObject);
  return second !== undefined || meetsSeveral(first, rest);
}

/** Empty texts and lists count as missing. */
function toPresent(value: unknown): SourceValue {
  if (Array.isArray(value)) {
    const present = value.flatMap((entry) => (Array.isArray(entry) ? {} : (toPresent(entry) ?? [])));
    return present.length === 0 ? undefined : present;
  }
  if (typeof value === 'string') return value.trim() || undefined;
  // The digits of an inexact number cannot be those of an id.
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    return value.toExponential();
  if (typeof value === 'number' || typeof value === 'bigint') return `${value}`;
  return typeof value === 'object' && value !== null ? {} : (value ?? undefined);
}
