import type { ImportMap, ImportRule } from '../../schemas/types.ts';
import { parseInvite } from '../bot/invite.ts';
import { findNearestName, quoteValue } from '../lib/text.ts';
import { parseDate } from './map-record.ts';
import { readRecords } from './read-records.ts';

/**
 * Returns a mapping to begin with, from the names and values of the first records of a list.
 * @param categories those that a bot can have
 * @param remark receives what is not mapped, and values that will be refused
 * @throws {UserError} for what is no list
 */
export async function suggestMap(
  path: string,
  categories: readonly string[],
  remark: (text: string) => void = () => {},
): Promise<ImportMap> {
  const columns: SourceColumns = new Map();
  let [total, left] = [0, 1000];
  for await (const { fields } of readRecords(path)) {
    if (typeof fields === 'object') addFields(columns, fields, ++total);
    if (--left === 0) break;
  }
  const pageList = [...columns.keys()].flatMap(
    (path) => /^([^.[\]]+\[\]\.)(?:lang\w*|locale)$/i.exec(path)?.[1] ?? [],
  );
  const map: Record<string, ImportRule> = {};
  const reasons = new Map<string, string>();
  for (const target of targets) {
    const { key, name, fits, share = 0.9, what } = target;
    if (map[key] !== undefined) continue;
    const named = [...columns].filter(([path]) => isNamed(path, target)).toSorted(compareColumns);
    const measured = named.map(([path, column]) => ({ path, column, bad: findBad(column, fits) }));
    const found = measured.find(
      ({ column, bad }) =>
        bad.count < column.count * (1 - share) && (!required.has(key) || column.records >= total / 2),
    );
    const { path, column, bad } = found ?? measured.find(() => name.source !== '(?:)') ?? {};
    if (path === undefined || column === undefined) continue;
    const rare = `${path}: only ${column.records} of ${total} records have it`;
    if (bad !== undefined && bad.count > 0)
      reasons.set(
        key,
        `${path}: ${bad.count} of ${column.count} values are ${what}, first ${quoteValue(bad.first)}`,
      );
    else if (found === undefined) reasons.set(key, rare);
    else reasons.delete(key);
    if (found === undefined) continue;
    columns.delete(path);
    const isPage = pageList.some((list) => path.startsWith(list)) && perPage.has(key);
    const from = key === 'authors' || isPage ? path : path.replaceAll('[]', '[0]');
    const [split] = /[,;|]/.exec([...column.values.keys()].join(' ')) ?? [];
    if (key === 'category') {
      const known = [...column.values.keys()].map((value) => [value, findCategory(value, categories)]);
      map[key] = { from, values: Object.fromEntries(known.slice(0, 1000)), else: 'other' };
    } else if (key === 'created') map[key] = { from, else: 'now' };
    // As a text it would be the language of a record that does not have the field.
    else if (key === 'locale' && !isPage) map[key] = { from };
    else if (key === 'support' && fits === isInviteCode)
      map[key] = { template: `https://discord.gg/{${from}}` };
    else if (key === 'invite' && column.records < total) map[key] = { from, template: inviteTemplate };
    else map[key] = key === 'authors' && split !== undefined ? { from, split } : from;
  }
  for (const [key, reason] of reasons)
    if (map[key] !== undefined || required.has(key)) remark(`${key}: ${reason}`);
  for (const key of required)
    if (map[key] === undefined && !reasons.has(key)) remark(`${key}: no column looks like it`);
  if (columns.size > 0) remark(`not used: ${[...columns.keys()].join(', ')}`);
  map['created'] ??= { else: 'now' };
  map['invite'] ??= { template: inviteTemplate };
  return { id: 'id', ...map };
}

const inviteTemplate = 'https://discord.com/oauth2/authorize?client_id={id}&scope=bot';

const required: ReadonlySet<string> = new Set([
  'id',
  'name',
  'description',
  'authors',
  'category',
  'created',
  'invite',
]);

/** Keys that each page of a bot has. */
const perPage: ReadonlySet<string> = new Set(['locale', 'name', 'description', 'page']);

/** The values of a field. */
interface SourceColumn {
  /** Value, shortened → how often it is there. */
  readonly values: Map<string, number>;
  count: number;
  /** How many records have the field, and the last one. */
  records: number;
  last: number;
  length: number;
}

type SourceColumns = Map<string, SourceColumn>;

type SourceValue = object | string | number | null;

function addFields(columns: SourceColumns, fields: object, record: number, prefix = ''): void {
  for (const [name, value] of Object.entries(fields) as [string, SourceValue | SourceValue[]][]) {
    const path = Array.isArray(value) ? `${prefix}${name}[]` : prefix + name;
    for (const entry of Array.isArray(value) ? value.slice(0, 20) : [value]) {
      const isInner = typeof entry === 'object' && entry !== null;
      if (isInner && path.length < 100) addFields(columns, entry, record, `${path}.`);
      const whole = isInner ? '' : String(entry ?? '').trim();
      if (whole !== '') addValue(columns, path, whole, record);
    }
  }
}

function addValue(columns: SourceColumns, path: string, whole: string, record: number): void {
  const column = columns.get(path) ?? { values: new Map(), count: 0, records: 0, last: -1, length: 0 };
  const text = whole.slice(0, 1000);
  column.values.set(text, (column.values.get(text) ?? 0) + 1);
  column.count++;
  column.length += whole.length;
  if (column.last !== record) column.records++;
  column.last = record;
  if (columns.size < 300) columns.set(path, column);
}

function findBad(
  { values }: SourceColumn,
  fits: Target['fits'],
): { readonly count: number; readonly first: string } {
  const bad = [...values].filter(([value]) => !fits(value));
  return { count: bad.reduce((sum, [, times]) => sum + times, 0), first: bad[0]?.[0] ?? '' };
}

/** Whether a field may be what a key is: the name of an owner is not that of the bot. */
function isNamed(path: string, { key, name, not }: Target): boolean {
  if (
    not?.test(toFieldName(path)) ||
    (key !== 'authors' &&
      path
        .split('.')
        .slice(0, -1)
        .some((part) => /owner|author|dev|creator|maker/i.test(part)))
  )
    return false;
  return name.source === '(?:)' || name.test(toFieldName(path));
}

/** Orders fields by how many records have them, roughly, then by how deep they are, then by the length of their values. */
function compareColumns(
  [a, x]: readonly [string, SourceColumn],
  [b, y]: readonly [string, SourceColumn],
): number {
  return (
    Math.round(Math.log2(y.records / x.records)) ||
    a.split('.').length - b.split('.').length ||
    x.length / x.count - y.length / y.count
  );
}

const isShort = (value: string): boolean => value.length <= 200;
const isAddress = (value: string): boolean => /^https?:\/\//.test(value);
/** Whether it is the code of an invite to a server, and no number. */
const isInviteCode = (value: string): boolean => /^(?!\d+$)[\dA-Za-z-]{2,32}$/.test(value);

interface Target {
  readonly key: string;
  /** The name of its field, in lower case without other characters; empty is any. */
  readonly name: RegExp;
  readonly not?: RegExp;
  /** The kind of nearly all of its values, and that of the others. */
  readonly fits: (value: string) => boolean;
  /** Which share of its values has to be of that kind, if it is not nine of ten. */
  readonly share?: number;
  readonly what: string;
}

const long = 'longer than 200 characters';
const noAddress = 'no addresses';
const shortNames = /short|summary|tagline|brief|intro/;
const longNames = /long|page|body|content|readme|detail/;

/** In the order in which fields are taken. */
const targets: readonly Target[] = [
  {
    key: 'id',
    name: /^(?:bot|client|app|application)?id$/,
    fits: (value) => /^\d{1,20}$/.test(value),
    what: 'no ids',
  },
  { key: 'id', name: /id$/, fits: (value) => /^\d{17,20}$/.test(value), what: 'no ids' },
  {
    key: 'id',
    name: /(?:)/,
    not: /owner|author|dev|creator|maker|guild|server/,
    fits: (value) => /^\d{17,20}$/.test(value),
    what: 'no ids',
  },
  { key: 'invite', name: /(?:)/, fits: (value) => parseInvite(value) !== undefined, what: 'no invites' },
  { key: 'invite', name: /invite|oauth/, fits: isAddress, what: noAddress },
  // Others lead to a page of the bot with further links.
  {
    key: 'invite',
    name: /^(?:link|url)$/,
    fits: (value) => parseInvite(value) !== undefined,
    share: 0.3,
    what: 'no invites',
  },
  { key: 'name', name: /^(?:bot|page|app)?(?:name|title|username)$/, fits: isShort, what: long },
  {
    key: 'authors',
    name: /owner|author|dev|creator|maker/,
    fits: (value) => /^\d[\d\s,;|]*$/.test(value),
    what: 'no ids',
  },
  {
    key: 'created',
    name: /created|added|submitted|listed|since|date/,
    fits: (value) => parseDate(value) !== undefined,
    what: 'no dates',
  },
  { key: 'category', name: /categor|tag$|tags|genre|topic|type/, fits: isShort, what: long },
  { key: 'images.avatar', name: /avatar|icon|logo/, fits: isAddress, what: noAddress },
  { key: 'images.cover', name: /cover|banner/, fits: isAddress, what: noAddress },
  { key: 'support', name: /support|server|guild/, fits: isAddress, what: noAddress },
  { key: 'support', name: /support|server|guild/, fits: isInviteCode, what: 'no codes of an invite' },
  { key: 'website', name: /site|home|web|url/, fits: isAddress, what: noAddress },
  {
    key: 'nsfw',
    name: /nsfw|adult|mature/,
    fits: (value) => value.length < 6,
    what: 'neither true nor false',
  },
  {
    key: 'trigger.prefix',
    name: /prefix/,
    fits: (value) => value.length < 33,
    what: 'longer than 32 characters',
  },
  { key: 'locale', name: /lang|locale/, fits: (value) => value.length < 10, what: 'no languages' },
  { key: 'description', name: shortNames, fits: isShort, what: long },
  {
    key: 'page',
    name: longNames,
    not: /short|summary|tagline|brief|intro|name$|title$/,
    fits: () => true,
    what: '',
  },
  { key: 'description', name: /desc|about/, not: longNames, fits: isShort, what: long },
  { key: 'page', name: /desc|about/, not: shortNames, fits: () => true, what: '' },
];

/** Returns the last part of a path in lower case, letters only; of what has an id the name. */
function toFieldName(path: string): string {
  const name = path.replace(/\.id$/i, '').split('.').at(-1) ?? '';
  return name.toLowerCase().replaceAll(/[^a-z]/g, '');
}

function findCategory(value: string, categories: readonly string[]): string {
  const name = value.toLowerCase();
  const isSame = (category: string): boolean => category.startsWith(name) || name.startsWith(category);
  return (
    (name.length > 2 ? categories.find(isSame) : undefined) ?? findNearestName(name, categories, 2) ?? 'other'
  );
}
