import { type BotId, parseBotId } from '../bot/id.ts';
import { type Locale, toCanonicalLocale } from '../bot/locale.ts';
import type { ImportMap, ImportRule } from '../bot/schema-types.ts';
import { toCanonicalForm } from '../catalogue/page/canonical-form.ts';
import type { Fault } from '../catalogue/page/fault.ts';
import { type PagePlace, parsePagePath } from '../catalogue/page/layout.ts';
import { createSizeFault, maxFileSize, trimMarkdown } from '../catalogue/page/page.ts';
import { type PageFile, parsePageFile } from '../catalogue/page/page-file.ts';
import { quoteValue } from '../lib/quote-value.ts';
import type { SourceFields } from './read-records.ts';

/** Why a record is not imported. */
export type Refusal = Pick<Fault, 'rule' | 'message'>;

/** A page file with its text. */
export interface PageText extends PageFile {
  readonly text: string;
}

/** A bot as a record has it. Its files are not checked yet. */
export interface MappedBot {
  readonly files: readonly PageText[];
  /** What is wrong beside the files, which then have another id or language. */
  readonly refusals: readonly Refusal[];
}

export function toPageText(place: PagePlace, text: string): PageText {
  return { ...parsePageFile(place, Buffer.from(text)), text };
}

/** Returns the bot that a line of an export is, with its files as they are; undefined where it is none. */
export function readExported({ files }: SourceFields): MappedBot | undefined {
  if (!Array.isArray(files)) return undefined;
  const texts = files.flatMap((file: SourceFields | null) => {
    const place = parsePagePath(String(file?.['path']));
    return place && typeof file?.['text'] === 'string' ? [toPageText(place, file['text'])] : [];
  });
  const [first] = texts;
  const isOne = texts.length === files.length && texts.every(({ id }) => id === first?.id);
  return first && isOne ? { files: texts, refusals: [] } : undefined;
}

/** Returns the bot that a record becomes. @param defaultLocale of a page without one */
export function mapRecord(
  { id: idRule, locale: localeRule = {}, page: pageRule = 'body', ...rules }: ImportMap,
  fields: SourceFields,
  defaultLocale: Locale,
): MappedBot {
  const idText = applyTextRule(idRule, fields) ?? '';
  const tag =
    applyTextRule(localeRule, fields) ?? (typeof localeRule === 'string' ? localeRule : defaultLocale);
  const [id, locale] = [parseBotId(idText), toCanonicalLocale(tag)];
  const refusals: Refusal[] = [];
  const refuse = (rule: string, value: string, fix: string): number =>
    refusals.push({ rule, message: `${rule}: ${quoteValue(value)} is not ${fix}` });
  if (id === undefined) refuse('id', idText, 'an id: write 1 to 20 digits');
  if (locale === undefined) refuse('locale', tag, 'a language: write a tag such as en');
  const data: Record<string, unknown> = {};
  for (const [key, rule] of Object.entries(rules)) {
    const value = toKeyValue(key, applyRule(rule, fields, idText));
    const [outer = '', inner] = key.split('.');
    if (value === undefined) continue;
    data[outer] = inner === undefined ? value : { ...(data[outer] as object | undefined), [inner]: value };
  }
  const page = trimMarkdown(applyTextRule(pageRule, fields) ?? '');
  const json = JSON.stringify(data);
  if (json.length + page.length > maxFileSize) throw new Error(createSizeFault('').message);
  const text = toCanonicalForm(`---\n${json}\n---\n${page === '' ? '' : `\n${page}\n`}`);
  const place = { id: id ?? ('0' as BotId), locale: locale ?? defaultLocale };
  return { files: [toPageText(place, text)], refusals };
}

/** What a field has, without what no key can be: `{}` is any object or inner list. */
type MappedValue = string | boolean | object | undefined;

function applyTextRule(rule: ImportRule, fields: SourceFields): string | undefined {
  const value = applyRule(rule, fields);
  return typeof value === 'string' ? value : undefined;
}

/** @param id replaces `{id}` in a template */
function applyRule(rule: ImportRule, fields: SourceFields, id?: string): MappedValue {
  const { from, template, split, values, else: other } = typeof rule === 'string' ? { from: rule } : rule;
  const found = template === undefined ? readField(fields, from) : fillTemplate(template, { ...fields, id });
  const parts = split !== undefined && typeof found === 'string' ? toMappedValue(found.split(split)) : found;
  if (parts === undefined) return other;
  if (values === undefined) return parts;
  const translate = (value: MappedValue): MappedValue =>
    typeof value === 'string' && Object.hasOwn(values, value) ? values[value] : (other ?? value);
  return Array.isArray(parts) ? parts.map(translate) : translate(parts);
}

/** Returns the template with its fields filled in; undefined where the record lacks one. */
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
  if (part === '[]') return Array.isArray(value) ? value.map((entry) => readParts(entry, rest)) : undefined;
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
  if (typeof value === 'number' || typeof value === 'bigint') return `${value}`;
  return typeof value === 'object' && value !== null ? {} : (value ?? undefined);
}

/** Returns a value as its key takes it, where that is plain; else as it is, so that the rules refuse it. */
function toKeyValue(key: string, value: MappedValue): unknown {
  if (/^(?:authors|images\.preview|trigger\.prefix)$/.test(key))
    return Array.isArray(value) || value === undefined ? value : [value];
  if (typeof value !== 'string') return value;
  if (key === 'created' && value === 'now') return Date.now();
  if (/^(?:created|edited)$/.test(key)) return toTime(value) ?? value;
  if (/^(?:name|description)$/.test(key)) return value.replaceAll(/\s+/g, ' ');
  if (!/^(?:nsfw|legacy|verified|trigger\.\w+)$/.test(key)) return value;
  return /^(?:true|yes|on|1)$/i.test(value) || (/^(?:false|no|off|0)$/i.test(value) ? false : value);
}

/** Returns a time in milliseconds, from a date, or from seconds or milliseconds since 1970. A date without a zone is in UTC. */
export function toTime(text: string): number | undefined {
  const [, date, time = '00:00', zone = 'Z'] = isoDate.exec(text) ?? [];
  const number = /^\d{1,16}(?:\.\d+)?$/.test(text)
    ? Number(text)
    : Date.parse(`${date}T${time}${zone}`) / 1000;
  // As seconds, a larger one would be in the year 5138.
  return Number.isNaN(number) ? undefined : Math.round(number < 100_000_000_000 ? number * 1000 : number);
}

const isoDate = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d:\d\d)?)?$/i;
