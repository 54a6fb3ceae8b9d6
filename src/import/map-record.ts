import { type BotId, parseBotId } from '../bot/id.ts';
import { type Locale, toCanonicalLocale } from '../bot/locale.ts';
import type { ImportMap, ImportRule } from '../bot/schema-types.ts';
import { toCanonicalForm } from '../catalogue/page/canonical-form.ts';
import { type PagePlace, parsePagePath } from '../catalogue/page/layout.ts';
import { createSizeFault, maxFileSize, trimMarkdown } from '../catalogue/page/page.ts';
import { quoteValue } from '../lib/quote-value.ts';
import type { SourceFields } from './read-records.ts';

/** Why a record is not imported. */
export interface Refusal {
  /** The stable name of the rule. */
  readonly rule: string;
  /** What is wrong, a colon, and the fix; a key may be before it. */
  readonly message: string;
}

/** A page file with its text. */
export interface PageText extends PagePlace {
  readonly text: string;
}

/** A bot as a record has it. Its files are not checked yet. */
export interface MappedBot {
  readonly files: readonly PageText[];
  /** Whether `created` is the time of the import. */
  readonly isCreatedNow: boolean;
  /** What is wrong beside the files, which then have another id or language. */
  readonly refusals: readonly Refusal[];
}

/** Returns the bot that a line of an export is, with its files as they are; undefined where it is none. */
export function readExported({ files }: SourceFields): MappedBot | undefined {
  if (!Array.isArray(files)) return undefined;
  const texts = files.flatMap((file: Readonly<Record<string, unknown>> | null) => {
    const place = parsePagePath(String(file?.['path']));
    return place && typeof file?.['text'] === 'string' ? [{ ...place, text: file['text'] }] : [];
  });
  const isOne = texts.length === files.length && texts.every(({ id }) => id === texts[0]?.id);
  return isOne ? { files: texts, isCreatedNow: false, refusals: [] } : undefined;
}

/** Returns the bot that a record becomes. @param defaultLocale of a page without one @param now in milliseconds */
export function mapRecord(
  { id: idRule, locale: localeRule = {}, page: pageRule = 'body', ...rules }: ImportMap,
  fields: SourceFields,
  defaultLocale: Locale,
  now: number,
): MappedBot {
  const idText = readText(idRule, fields) ?? '';
  const tag = readText(localeRule, fields) ?? (typeof localeRule === 'string' ? localeRule : defaultLocale);
  const [id, locale] = [parseBotId(idText), toCanonicalLocale(tag)];
  const refusals = [
    id ? '' : `id: ${quoteValue(idText)} is not an id: write 1 to 20 digits`,
    locale ? '' : `locale: ${quoteValue(tag)} is not a language: write a tag such as en`,
  ].flatMap((message, i) => (message === '' ? [] : [{ rule: i === 0 ? 'id' : 'locale', message }]));
  const data: Record<string, unknown> = {};
  for (const [key, rule] of Object.entries(rules)) {
    const value = toKind(key, applyRule(rule, fields, idText));
    const [outer = '', inner] = key.split('.');
    if (value === undefined) continue;
    data[outer] = inner === undefined ? value : { ...(data[outer] as object | undefined), [inner]: value };
  }
  const isCreatedNow = data['created'] === 'now';
  if (isCreatedNow) data['created'] = now;
  const page = trimMarkdown(readText(pageRule, fields) ?? '');
  const json = JSON.stringify(data);
  if (json.length + page.length > maxFileSize) throw new Error(createSizeFault('').message);
  const text = toCanonicalForm(`---\n${json}\n---\n${page === '' ? '' : `\n${page}\n`}`);
  return {
    files: [{ id: id ?? ('0' as BotId), locale: locale ?? defaultLocale, text }],
    isCreatedNow,
    refusals,
  };
}

/** What a field has, without what no key can be: `{}` is any object or inner list. */
type MappedValue = string | boolean | object | undefined;

function readText(rule: ImportRule, fields: SourceFields): string | undefined {
  const value = applyRule(rule, fields);
  return typeof value === 'string' ? value : undefined;
}

/** @param id replaces `{id}` in a template */
function applyRule(rule: ImportRule, fields: SourceFields, id?: string): MappedValue {
  const {
    from = '',
    template,
    split,
    values,
    else: fallback,
  } = typeof rule === 'string' ? { from: rule } : rule;
  const found = template === undefined ? readField(fields, from) : fillTemplate(template, { ...fields, id });
  const parts = split !== undefined && typeof found === 'string' ? toMappedValue(found.split(split)) : found;
  const translate = (value: MappedValue): MappedValue => {
    if (values === undefined) return value;
    return typeof value === 'string' && Object.hasOwn(values, value) ? values[value] : (fallback ?? value);
  };
  if (parts === undefined) return fallback;
  return Array.isArray(parts) ? parts.map(translate) : translate(parts);
}

/** Returns the template with its fields filled in; undefined where the record lacks one. */
function fillTemplate(template: string, fields: SourceFields): string | undefined {
  let isWhole = true;
  const text = template.replaceAll(/\{([^{}]+)\}/g, (_, path: string) => {
    const value = readText(path, fields);
    isWhole &&= value !== undefined;
    return template.startsWith('https://') ? encodeURIComponent(value ?? '') : (value ?? '');
  });
  return isWhole ? text : undefined;
}

/** Returns the value at a path, such as `owner.tags[0]` or `owners[].id`, or in a field that has the path as its name. */
function readField(fields: SourceFields, path: string): MappedValue {
  return toMappedValue(
    readParts(fields, Object.hasOwn(fields, path) ? [path] : (path.match(/\[\]|[^.[\]]+/g) ?? [path])),
  );
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
    const entries = value.map((entry) => (Array.isArray(entry) ? {} : toMappedValue(entry)));
    const present = entries.filter((entry) => entry !== undefined);
    return present.length === 0 ? undefined : present;
  }
  if (typeof value === 'string') return value.trim() || undefined;
  if (typeof value === 'number' || typeof value === 'bigint') return `${value}`;
  return typeof value === 'object' && value !== null ? {} : (value ?? undefined);
}

/** Returns a value as its key takes it, where that is plain; else as it is, so that the rules refuse it. */
function toKind(key: string, value: MappedValue): unknown {
  if (/^(?:authors|images\.preview|trigger\.prefix)$/.test(key))
    return Array.isArray(value) || value === undefined ? value : [value];
  if (typeof value !== 'string') return value;
  if (/^(?:created|edited)$/.test(key)) return value === 'now' ? value : (toTime(value) ?? value);
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
