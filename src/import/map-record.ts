import type { ImportMap, ImportRule } from '../../schemas/types.ts';
import { msPerDay } from '../bot/clock.ts';
import { type BotId, parseBotId } from '../bot/id.ts';
import { type Locale, toCanonicalLocale } from '../bot/locale.ts';
import { readSchema, resolveProperties } from '../bot/schemas.ts';
import type { Fault } from '../catalogue/page/fault.ts';
import { type PagePlace, parsePagePath } from '../catalogue/page/layout.ts';
import { type PageFile, parsePageFile } from '../catalogue/page/page-file.ts';
import {
  toCanonicalForm,
  createSizeFault,
  editPage,
  maxFileSize,
  trimMarkdown,
} from '../catalogue/page/page.ts';
import { formatPlace } from '../catalogue/page/rules.ts';
import { validate } from '../catalogue/page/schema.ts';
import { quoteValue } from '../lib/text.ts';
import type { SourceFields } from './read-records.ts';

/** The forms that parseDate takes, for a message. */
const dateForms =
  '2023-04-05, 2023-04-05 06:07:08 +02:00, 05.04.2023, 5 Apr 2023, or seconds or milliseconds since 1970';

/**
 * Parses a date as databases, spreadsheets and site generators write it; without a zone it is in UTC. 4/5/2023 is not one of
 * the forms, because its month and day have no certain order.
 * @returns milliseconds; undefined if the date does not exist, or is not from 2015 to tomorrow
 */
export function parseDate(text: string): number | undefined {
  if (text.length > maxDateLength) return undefined;
  const compact = /^(20\d\d)(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d))?$/.exec(text)?.slice(1);
  if (compact === undefined && /^\d+(?:\.\d+)?$/.test(text)) return toTimes(Number(text)).find(isPlausible);
  const [, shell = text] = /^ISODate\("(.*)"\)$/.exec(text) ?? [];
  const [end = '', hour, minute, second, fraction, half, zone] = clock.exec(shell) ?? [];
  const day = shell.slice(0, shell.length - end.length);
  const parts = compact ?? [...(parseDay(day) ?? []), hour, minute, second];
  const time = toTime(
    parts.map((part) => Number(part ?? 0)),
    half?.toLowerCase(),
  );
  if (time === undefined) return undefined;
  const [, sign, hours = 0, minutes = 0] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone ?? '') ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
  const exact = time - offset + Math.trunc(Number(`0.${fraction ?? 0}`) * 1000);
  return isPlausible(exact) ? exact : undefined;
}

const maxDateLength = 100;

const clock =
  /(?<![T, ])[T, ]+(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: ?([ap]m))?(?: ?(?:Z|UTC|GMT))?(?: ?([+-]\d\d(?::?\d\d)?))?(?: \([^()]*\))?$/i;

/** Returns what a number may be: milliseconds, seconds, microseconds, or the days of a spreadsheet, which begin in 1899. */
function toTimes(number: number): readonly number[] {
  return [number, number * 1000, number / 1000, (number - 25_569) * msPerDay].map(Math.round);
}

function isPlausible(time: number): boolean {
  return time >= Date.UTC(2015, 0) && time <= Date.now() + msPerDay;
}

/** Returns year, month and day. */
function parseDay(text: string): readonly (string | number)[] | undefined {
  const [, year, , month, day] = /^(\d{4})([-/.])(\d\d?)\2(\d\d?)$/.exec(text) ?? [];
  if (year !== undefined) return [year, month ?? 0, day ?? 0];
  const dotted = /^(\d\d?)\.(\d\d?)\.(\d{4})$/.exec(text)?.slice(1);
  if (dotted !== undefined) return dotted.toReversed();
  const [, weekday = text] = /^[a-z]{3,9},? (.*)$/i.exec(text) ?? [];
  for (const form of [text, weekday]) {
    const [, before, name = '', after, last = 0] = namedMonth.exec(form) ?? [];
    const month = months.indexOf(name.slice(0, 3).toLowerCase()) + 1;
    if (month > 0 && (before === undefined) !== (after === undefined))
      return [last, month, before ?? after ?? 0];
  }
  return undefined;
}

/** 5 April 2023, 05-Apr-2023 or Apr 5, 2023. */
const namedMonth = /^(?:(\d\d?)[ -])?([a-z]{3,9})\.?[ -](?:(\d\d?),? )?(\d{4})$/i;

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Returns a time in UTC; undefined if it does not exist. @param half am or pm */
function toTime(
  [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0]: readonly number[],
  half: string | undefined,
): number | undefined {
  if (half !== undefined && (hour < 1 || hour > 12)) return undefined;
  const hour24 = half === undefined ? hour : (hour % 12) + (half === 'pm' ? 12 : 0);
  const date = new Date(Date.UTC(year, month - 1, day));
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!exists || hour24 > 23 || minute > 59 || second > 59) return undefined;
  return date.getTime() + ((hour24 * 60 + minute) * 60 + second) * 1000;
}

/** Why a record is not imported. */
export type Refusal = Pick<Fault, 'rule' | 'message'>;

/** A page file with its text. */
export interface PageText extends PageFile, PagePlace {
  readonly locale: Locale;
  readonly text: string;
}

/** A bot as a record has it. Its files are not checked yet. */
export interface MappedBot {
  readonly files: readonly PageText[];
  /** What is wrong next to the files, which then have another id or language. */
  readonly refusals: readonly Refusal[];
  /** The faults of the keys that are left out. */
  readonly leftOut: readonly Refusal[];
}

export function toPageText(place: PagePlace, text: string): PageText {
  return { ...parsePageFile(place, Buffer.from(text)), text };
}

/** Returns the bot that a line of an export is, with its files as they are; undefined if it is none. */
export function readExported({ files }: SourceFields): MappedBot | undefined {
  if (!Array.isArray(files)) return undefined;
  const texts = files.flatMap((file: SourceFields | null) => {
    const place = parsePagePath(String(file?.['path']));
    return place && typeof file?.['text'] === 'string' ? [toPageText(place, file['text'])] : [];
  });
  const [first] = texts;
  const isOne = texts.length === files.length && texts.every(({ id }) => id === first?.id);
  return first && isOne ? { files: texts, refusals: [], leftOut: [] } : undefined;
}

/** Returns the bot that a row of `botshelf export --format csv` is; undefined if it is none. */
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
  const bot = mapRecord(map, cells, defaultLocale);
  const { prefix } = { ...(cells['trigger'] as { prefix?: unknown } | null) };
  if (!Array.isArray(prefix) || prefix.length === 0) return bot;
  return { ...bot, files: bot.files.map((file) => withPrefixes(file, prefix)) };
}

/** Returns a page with prefixes as they are: a mapping trims them, and one such as `bot ` ends in a space. */
function withPrefixes(file: PageText, prefix: readonly unknown[]): PageText {
  const trigger = { ...(file.page?.data['trigger'] as object | undefined), prefix };
  return toPageText(file, toCanonicalForm(editPage(file.text, { trigger })));
}

/**
 * Returns the bot that a record becomes. A locale in the entries of a list, such as `contents[].locale`, makes a page of each
 * entry, the first one the main page.
 * @param defaultLocale of a page without one
 */
export function mapRecord(map: ImportMap, fields: SourceFields, defaultLocale: Locale): MappedBot {
  const { locale = {} } = map;
  const path = typeof locale === 'string' ? locale : locale.from;
  const list = /^([^.[\]]+)\[\]\./.exec(path ?? '')?.[1] ?? '';
  const entries = Object.hasOwn(fields, list) ? fields[list] : undefined;
  if (!Array.isArray(entries) || entries.length === 0) return mapPage(map, fields, defaultLocale);
  const pages = entries.map((entry: unknown) => mapPage(map, { ...fields, [list]: entry }, defaultLocale));
  const [main, ...others] = pages.flatMap(({ files }) => files);
  const files = main === undefined ? [] : [main, ...others.map(toTranslation)];
  const double = files.find(({ path: own }, i) => files.findIndex((file) => file.path === own) < i);
  const twice = { rule: 'twice', message: `locale: two pages are in ${double?.locale}: remove one` };
  return {
    files,
    refusals: [...pages.flatMap(({ refusals }) => refusals), ...(double === undefined ? [] : [twice])],
    leftOut: pages.flatMap(({ leftOut }) => leftOut),
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

function mapPage(map: ImportMap, fields: SourceFields, defaultLocale: Locale): MappedBot {
  const { id: idRule, locale: localeRule = {}, page: pageRule = 'body', ...rules } = map;
  const idText = applyTextRule(idRule, fields) ?? '';
  const tag =
    applyTextRule(localeRule, fields) ?? (typeof localeRule === 'string' ? localeRule : defaultLocale);
  const [id, locale] = [parseBotId(idText), toCanonicalLocale(tag)];
  const refusals: Refusal[] = [];
  const refuse = (rule: string, key: string, value: string, fix: string): number =>
    refusals.push({ rule, message: `${key}: ${quoteValue(value)} is not ${fix}` });
  if (isRounded(idText)) refuse('rounded', 'id', idText, exactIdAdvice);
  else if (id === undefined) refuse('id', 'id', idText, 'an id: write 1 to 20 digits');
  if (locale === undefined) refuse('locale', 'locale', tag, 'a language: write a tag such as en');
  const data: Record<string, unknown> = {};
  const leftOut: Refusal[] = [];
  for (const [key, rule] of Object.entries(rules)) {
    let value = toKeyValue(key, applyRule(rule, fields, idText));
    const rounded = key === 'authors' && Array.isArray(value) ? value.find(isRounded) : undefined;
    if (typeof rounded === 'string') refuse('rounded', key, rounded, exactIdAdvice);
    if (typeof value === 'string' && /^(?:created|edited)$/.test(key)) {
      const fault = {
        rule: canLeaveOut(rule) ? 'left-out' : 'date',
        message: `${key}: ${quoteValue(value)} is not ${dateAdvice}`,
      };
      (canLeaveOut(rule) ? leftOut : refusals).push(fault);
      // The record is refused for this reason alone.
      value = canLeaveOut(rule) ? undefined : Date.now();
    }
    if (value !== undefined) setKey(data, key, value);
  }
  const mayLeaveOut = Object.values(rules).some(canLeaveOut);
  for (const { place, message } of mayLeaveOut ? validate('main-page', data) : []) {
    const key = Object.keys(rules).find((one) => one === place.slice(0, one.split('.').length).join('.'));
    if (key === undefined || !canLeaveOut(map[key as keyof ImportMap]) || !setKey(data, key)) continue;
    leftOut.push({ rule: 'left-out', message: `${formatPlace(place)}${message}` });
  }
  const page = trimMarkdown(applyTextRule(pageRule, fields) ?? '');
  const place = { id: id ?? ('0' as BotId), locale: locale ?? defaultLocale };
  return { files: [formatPage(place, data, page)], refusals, leftOut };
}

const exactIdAdvice =
  'an exact id: a spreadsheet or a JSON writer has rounded it, export it as text, in a column of text or in quotes';
const dateAdvice = `a date from 2015 to tomorrow in a certain form: write ${dateForms}`;

/** Whether a text is a number that has lost digits, or may have. */
function isRounded(text: unknown): boolean {
  return typeof text === 'string' && /^-?\d+(?:[.,]\d*)?e\+?\d+$|^\d+\.\d*$/i.test(text);
}

function canLeaveOut(rule: ImportRule | undefined): boolean {
  return typeof rule === 'object' && rule.invalid !== undefined;
}

/** Sets a key, which may be inside another, or removes it. Returns false if there is none to remove. */
function setKey(data: Record<string, unknown>, key: string, value?: unknown): boolean {
  const [outer = '', inner] = key.split('.');
  if (value === undefined && !Object.hasOwn(data, outer)) return false;
  const object = { ...(data[outer] as object | undefined), [inner ?? '']: value };
  data[outer] = inner === undefined ? value : object;
  if (inner !== undefined && Object.values(object).every((one) => one === undefined)) data[outer] = undefined;
  if (data[outer] === undefined) delete data[outer];
  return true;
}

/** What a field has, without what no key can be: `{}` is any object or inner list. */
type MappedValue = string | boolean | object | undefined;

function applyTextRule(rule: ImportRule, fields: SourceFields): string | undefined {
  const value = applyRule(rule, fields);
  return typeof value === 'string' ? value : undefined;
}

/** @param id replaces `{id}` in a template */
function applyRule(rule: ImportRule, fields: SourceFields, id?: string): MappedValue {
  const {
    from,
    template,
    split,
    strip,
    values,
    else: other,
  } = typeof rule === 'string' ? { from: rule } : rule;
  const filled = (): MappedValue => template && fillTemplate(template, { ...fields, id });
  const found = readField(fields, from) ?? filled();
  const parts = split !== undefined && typeof found === 'string' ? toMappedValue(found.split(split)) : found;
  if (parts === undefined) return other;
  const translate = (value: MappedValue): MappedValue => {
    if (typeof value !== 'string') return value;
    const rest = strip !== undefined && value.startsWith(strip) ? value.slice(strip.length).trim() : value;
    if (values === undefined) return rest;
    return Object.hasOwn(values, rest) ? values[rest] : (other ?? rest);
  };
  return Array.isArray(parts) ? parts.map(translate) : translate(parts);
}

/** Returns the template with its fields filled in; undefined if the record lacks one. */
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
function readField(fields: SourceFields, path: string | undefined): MappedValue {
  if (path === undefined) return undefined;
  const parts = Object.hasOwn(fields, path) ? [path] : path.match(/\[\]|[^.[\]]+/g);
  return toMappedValue(readParts(fields, parts ?? [path]));
}

function readParts(value: unknown, [part, ...rest]: readonly string[]): unknown {
  if (part === undefined) return value;
  // In a record whose entries are pages, an entry is in place of its list.
  if (part === '[]')
    return Array.isArray(value) ? value.map((entry) => readParts(entry, rest)) : readParts(value, rest);
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
  return readParts((value as SourceFields)[part], rest);
}

/** Empty texts and lists are as good as none. */
function toMappedValue(value: unknown): MappedValue {
  if (Array.isArray(value)) {
    const present = value.flatMap((entry) => (Array.isArray(entry) ? {} : (toMappedValue(entry) ?? [])));
    return present.length === 0 ? undefined : present;
  }
  if (typeof value === 'string') return value.trim() || undefined;
  // A number that is not exact has no digits that could be those of an id.
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    return value.toExponential();
  if (typeof value === 'number' || typeof value === 'bigint') return `${value}`;
  return typeof value === 'object' && value !== null ? {} : (value ?? undefined);
}

/** Returns a value as its key takes it, where that is plain; else as it is, so that the rules refuse it. */
function toKeyValue(key: string, value: MappedValue): unknown {
  if (/^(?:authors|images\.preview|trigger\.prefix)$/.test(key))
    return Array.isArray(value) || value === undefined ? value : [value];
  if (typeof value !== 'string') return value;
  if (key === 'created' && value === 'now') return Date.now();
  if (/^(?:created|edited)$/.test(key)) return parseDate(value) ?? value;
  if (/^(?:name|description)$/.test(key)) return value.replaceAll(/\s+/g, ' ');
  if (!/^(?:nsfw|legacy|verified|trigger\.\w+)$/.test(key)) return value;
  return /^(?:true|yes|on|1)$/i.test(value) || (/^(?:false|no|off|0)$/i.test(value) ? false : value);
}
