import { parseInvite } from '../bot/invite.ts';
import type { ImportMap, ImportRule } from '../bot/schema-types.ts';
import { findNearestName } from '../lib/nearest-name.ts';
import { parseDate } from './parse-date.ts';
import type { SourceRecord } from './read-records.ts';

/**
 * Returns a mapping to begin with, from the names and values of the first records of a list.
 * @param categories those that a bot can have
 */
export async function suggestMap(
  records: AsyncIterable<SourceRecord>,
  categories: readonly string[],
): Promise<ImportMap> {
  const columns: Columns = new Map();
  let left = 1000;
  for await (const { fields } of records) {
    if (typeof fields === 'object') addFields(columns, fields);
    if (--left === 0) break;
  }
  const map: Record<string, ImportRule> = {};
  for (const [key, name, fits] of targets) {
    const fitting = [...columns].filter(([, values]) => values.filter(fits).length > values.length * 0.9);
    const found = fitting.find(([path]) => name.test(toFieldName(path))) ?? fitting.find(() => name.test(''));
    if (found === undefined || map[key] !== undefined) continue;
    const [path, values] = found;
    columns.delete(path);
    const [split] = /[,;|]/.exec(values.join(' ')) ?? [];
    if (key === 'category') {
      const known = values.map((value) => [value, findCategory(value, categories)]);
      map[key] = { from: path.replace(/\[\]$/, '[0]'), values: Object.fromEntries(known), else: 'other' };
    } else if (key === 'created') map[key] = { from: path, else: 'now' };
    else map[key] = key === 'authors' && split !== undefined ? { from: path, split } : path;
  }
  map['created'] ??= { else: 'now' };
  map['invite'] ??= { template: 'https://discord.com/oauth2/authorize?client_id={id}&scope=bot' };
  return { id: 'id', ...map };
}

/** The path of a field → its first different values, shortened. */
type Columns = Map<string, string[]>;

type SourceValue = object | string | number | null;

function addFields(columns: Columns, fields: object, prefix = ''): void {
  for (const [name, value] of Object.entries(fields) as [string, SourceValue | SourceValue[]][]) {
    const path = Array.isArray(value) ? `${prefix}${name}[]` : prefix + name;
    for (const entry of Array.isArray(value) ? value.slice(0, 20) : [value]) {
      const isInner = typeof entry === 'object' && entry !== null;
      if (isInner && path.length < 100) addFields(columns, entry, `${path}.`);
      const whole = isInner ? '' : String(entry ?? '').trim();
      const text = whole.slice(0, 1000);
      const values = columns.get(path) ?? [];
      if (text !== '' && values.length < 100 && !values.includes(text)) values.push(text);
      if (values.length > 0 && columns.size < 300) columns.set(path, values);
    }
  }
}

const isShort = (value: string): boolean => value.length <= 200;
const isAddress = (value: string): boolean => /^https?:\/\//.test(value);

/** In the order in which fields are taken: the key, what its field is called, and what all of its values are. An empty name is any. */
const targets: readonly (readonly [key: string, name: RegExp, fits: (value: string) => boolean])[] = [
  ['id', /^(?:bot|client|app|application)?id$/, (value) => /^\d{1,20}$/.test(value)],
  ['id', /^$|id$/, (value) => /^\d{17,20}$/.test(value)],
  ['invite', /^$|invite/, (value) => parseInvite(value) !== undefined],
  ['invite', /invite|oauth/, isAddress],
  ['name', /^(?:bot)?(?:name|title|username)$/, isShort],
  ['authors', /owner|author|dev|creator|maker/, (value) => /^\d[\d\s,;|]*$/.test(value)],
  ['created', /created|added|submitted|listed|since|date/, (value) => parseDate(value) !== undefined],
  ['category', /categor|tag|genre|topic|type/, isShort],
  ['images.avatar', /avatar|icon|logo/, isAddress],
  ['images.cover', /cover|banner/, isAddress],
  ['support', /support|server|guild/, isAddress],
  ['website', /site|home|web|url/, isAddress],
  ['nsfw', /nsfw|adult|mature/, (value) => value.length < 6],
  ['trigger.prefix', /prefix/, (value) => value.length < 33],
  ['locale', /lang|locale/, (value) => value.length < 10],
  ['description', /short|summary|tagline|brief|intro|desc|about/, isShort],
  ['page', /long|page|body|content|readme|detail|desc|about/, () => true],
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
