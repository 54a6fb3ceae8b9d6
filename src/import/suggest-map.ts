import type { ImportMap, ImportRule } from '../../schemas/types.ts';
import { isServerInvite, parseInvite } from '../bot/invite.ts';
import { toCanonicalLocale } from '../bot/locale.ts';
import { isObject } from '../lib/json.ts';
import { findNearestName, quoteValue } from '../lib/text.ts';
import { readList, readRecords, type SourceFields } from './read-records.ts';
import { convertValue, parseDate, toKeyValue } from './values.ts';

/**
 * Returns a mapping to begin with, from the names and values of the first records of a list.
 * @param categories those that a bot can have
 * @param remark receives unreadable records, unmapped fields, and values that will be left out or refused
 * @throws {UserError} if the source is not a list
 */
export async function suggestMap(
  path: string,
  categories: readonly string[],
  remark: (text: string) => void = () => {},
): Promise<ImportMap> {
  const columns: SourceColumns = new Map();
  const faults: string[] = [];
  let total = 0;
  for await (const { place, fields } of readRecords(path, { isRecord: looksLikeBot })) {
    if (typeof fields === 'object') addFields(columns, fields, ++total);
    else faults.push(`${place}: ${fields}`);
    if (total + faults.length === 1000) break;
  }
  if (faults.length > 0)
    remark(`${faults.length} of ${total + faults.length} records cannot be read, first ${faults[0]}`);
  const pageList = [...columns.keys()].flatMap(
    (path) => /^([^.[\]]+\[\]\.)(?:lang\w*|locale)$/i.exec(path)?.[1] ?? [],
  );
  const other = categories.includes('other') ? 'other' : (categories.at(-1) ?? 'other');
  const map: Record<string, ImportRule> = {};
  const reasons = new Map<string, string>();
  for (const target of targets) {
    const [key, kind, name] = target;
    if (map[key] !== undefined) continue;
    const matches = findMatches(columns, target).filter(
      ({ path }) => !perPage.includes(key) || !path.includes('[].') || isOfPages(path),
    );
    const found = matches.find(
      ({ fits, column }) => fits && (!required.includes(key) || column.records.size >= total / 2),
    );
    const { path, column, strip, bad, first } = found ?? (name && matches[0]) ?? {};
    if (path === undefined || column === undefined) continue;
    const isLeftOut = found !== undefined && first !== undefined && !kept.has(key);
    const wrong = `${path}: ${bad} of ${countValues(column)} values are ${kinds[kind][0]}, first ${quoteValue(first ?? '')}`;
    const rare = `${path}: only ${column.records.size} of ${total} records have it`;
    if (first !== undefined)
      reasons.set(key, isLeftOut ? `${wrong}: what is not allowed is left out` : wrong);
    else if (found === undefined) reasons.set(key, rare);
    else reasons.delete(key);
    if (found === undefined) continue;
    const isPage = pageList.some((list) => path.startsWith(list)) && perPage.includes(key);
    const alike = matches.filter((match) => match.fits && match.strip === strip).map((match) => match.path);
    const paths = key === 'authors' && kind === 'snowflake' ? alike : [path];
    const [from = '', ...more] = key === 'authors' || isPage ? paths : [path.replaceAll('[]', '[0]')];
    const values = [...column.values.keys()];
    const split = key === 'authors' ? /[,;|]/.exec(values.join(' '))?.[0] : undefined;
    const toCategory = (value: string): string => findCategory(value, categories) ?? other;
    const rule: Exclude<ImportRule, string> = {
      ...(kind === 'code' ? { template: `https://discord.gg/{${from}}` } : { from }),
      ...(more.length > 0 && { from: [from, ...more] }),
      ...(strip !== undefined && { strip }),
      ...(split !== undefined && { split }),
      ...(key === 'invite' && (column.records.size < total || isLeftOut) && { template: inviteTemplate }),
      ...(key === 'category' && {
        values: Object.fromEntries(values.slice(0, 1000).map((value) => [value, toCategory(value)])),
        else: other,
      }),
      ...(key === 'created' && { else: 'now' }),
      ...(isLeftOut && { invalid: 'leave out' }),
    };
    // As plain text, it would be the language of a record that does not have the field.
    const isPath = Object.keys(rule).join() === 'from' && more.length === 0 && (key !== 'locale' || isPage);
    map[key] = isPath ? from : rule;
    if (kind === 'repository') map['codehost.repo'] = map[key];
    if (kind !== 'client') for (const used of paths) columns.delete(used);
  }
  for (const [key, reason] of reasons)
    if (map[key] !== undefined || required.includes(key)) remark(`${key}: ${reason}`);
  for (const key of required)
    if (map[key] === undefined && !reasons.has(key)) remark(`${key}: no column looks like it`);
  if (columns.size > 0) remark(`not used: ${[...columns.keys()].join(', ')}`);
  map['category'] ??= { else: other };
  map['created'] ??= { else: 'now' };
  map['invite'] ??= { template: inviteTemplate };
  return { id: 'id', ...map };
}

const inviteTemplate = 'https://discord.com/oauth2/authorize?client_id={id}&scope=bot';

const required = ['id', 'name', 'description', 'authors', 'category', 'created', 'invite'];

/** Whether a field is in a list of pages; in another list, it does not describe the bot. */
function isOfPages(path: string): boolean {
  const [list = '', field = '', ...more] = path.split('[].');
  const isOuter = more.length === 0 && !/[.[]/.test(list + field);
  return isOuter && /content|page|locali|lang|translat|text/i.test(list);
}

/** Keys that each page of a bot has. */
const perPage = ['locale', 'name', 'description', 'page'];

/** Keys of which no value is left out: a record without them would be refused for another reason. */
const kept: ReadonlySet<string> = new Set([...perPage, 'id', 'category']);

/** The values of a field, shortened, with their frequency, and the numbers of the records that have the field. */
interface SourceColumn {
  readonly values: Map<string, number>;
  readonly records: Set<number>;
}

type SourceColumns = Map<string, SourceColumn>;

function countValues({ values }: Pick<SourceColumn, 'values'>): number {
  return [...values.values()].reduce((sum, times) => sum + times, 0);
}

function addFields(columns: SourceColumns, fields: object, record: number, prefix = ''): void {
  for (const [name, value] of Object.entries(fields) as [string, unknown][]) {
    const list = typeof value === 'string' ? readList(value) : value;
    const path = Array.isArray(list) ? `${prefix}${name}[]` : prefix + name;
    for (const entry of Array.isArray(list) ? list.slice(0, 20) : [value]) {
      if (isObject(entry) && path.length < 100) addFields(columns, entry, record, `${path}.`);
      const text = typeof entry === 'object' ? '' : String(entry ?? '').trim();
      const { values, records } = columns.get(path) ?? { values: new Map(), records: new Set() };
      if (text === '' || (columns.size >= 300 && records.size === 0)) continue;
      values.set(text.slice(0, 1000), (values.get(text.slice(0, 1000)) ?? 0) + 1);
      columns.set(path, { values, records: records.add(record) });
    }
  }
}

/** Whether an object is a bot, by its own fields: an object around bots has no id and no authors, or several. */
function looksLikeBot(fields: SourceFields): boolean {
  return hasFieldsOfBot(fields) && !holdsBots(fields, 2);
}

function hasFieldsOfBot(fields: object): boolean {
  const columns: SourceColumns = new Map();
  addFields(columns, fields, 1);
  for (const path of columns.keys()) if (ofOthers.test(path)) columns.delete(path);
  const has = (key: string): boolean =>
    targets.some((target) => target[0] === key && findMatches(columns, target).some(({ fits }) => fits));
  return has('id') && ['authors', 'invite', 'description'].some(has);
}

/** Whether an object, or one in it, has several bots by their ids or names. */
function holdsBots(fields: object, depth: number): boolean {
  const inner = Object.values(fields).filter(isObject);
  return (
    inner.filter(hasFieldsOfBot).length > 1 || (depth > 0 && inner.some((one) => holdsBots(one, depth - 1)))
  );
}

/** The path of a field in a list, in an object by an id, or deep inside: it may be that of another bot. */
const ofOthers = /\[\]\.|(?:^|\.)\d+\.|\..+\..+\./;

/** A field that may have the value of a key. */
interface Match {
  readonly path: string;
  readonly column: SourceColumn;
  /** The text before most ids. */
  readonly strip: string | undefined;
  /** Whether enough of the values are of the right kind, the number of the others, and the first of those. */
  readonly fits: boolean;
  readonly bad: number;
  readonly first: string | undefined;
}

/** Returns the fields that may have the value of a key, the best first. */
function findMatches(columns: SourceColumns, target: Target): readonly Match[] {
  const [key, kind, name, share = name === undefined || key === 'id' ? 0.9 : 0.5] = target;
  const named = [...columns].filter(([path]) => isNamed(path, target)).toSorted(compareColumns);
  return named.map(([path, column]) => {
    const strip = /^(?:id|authors)$/.test(key) ? findPrefix(column) : undefined;
    const isGood = (part: string): boolean =>
      kinds[kind][1](strip && part.startsWith(strip) ? part.slice(strip.length) : part);
    const toParts = (value: string): readonly string[] =>
      key === 'authors' ? value.split(/ ?[,;|] ?/) : [value];
    const values = new Map([...column.values].filter(([value]) => !toParts(value).every(isGood)));
    const [bad, [first]] = [countValues({ values }), [...values.keys()]];
    return { path, column, strip, fits: bad < countValues(column) * (1 - share), bad, first };
  });
}

/** Returns the text before most ids, such as `discord:`; undefined if most have none. */
function findPrefix(column: SourceColumn): string | undefined {
  const prefixes = new Map<string, number>();
  for (const [value, times] of column.values) {
    const prefix = /^[^\d\s/]{1,30}(?=\d)/.exec(value)?.[0];
    if (prefix !== undefined) prefixes.set(prefix, (prefixes.get(prefix) ?? 0) + times);
  }
  return [...prefixes].find(([, times]) => times > countValues(column) / 2)?.[0];
}

/** Whether a field may have the value of a key: an owner's name is not the bot's, nor is an id in a list. */
function isNamed(path: string, [key, kind, name]: Target): boolean {
  const names = path.split('.').map((part) => part.toLowerCase().replaceAll(/[^a-z]/g, ''));
  const whole = names.join('');
  if (key !== 'authors' && names.slice(0, -1).some((part) => people.test(part))) return false;
  if (key === 'authors' && !isOfAuthors(path)) return false;
  if (key === 'id' && (path.includes('[]') || (kind === 'snowflake' && others.test(whole)))) return false;
  const [last = ''] = names.slice(names.length > 1 && names.at(-1) === 'id' ? -2 : -1);
  return name === undefined || name.test(last) || (!/^(?:name|short|any)$/.test(kind) && name.test(whole));
}

/** Whether a field is of the bot or its people, by the names around it: not of a review, a library or another bot. */
function isOfAuthors(path: string): boolean {
  const parts = path.toLowerCase().split('.');
  return parts.every((part, i) => {
    const isInside = i < parts.length - 1;
    const isPlain = !isInside || people.test(part) || (!part.includes('[]') && wrappers.test(part));
    return isPlain && !/last|former|prev|fork|original|server|guild/.test(part);
  });
}

/** Objects that hold the fields of a bot, and lists of its people. */
const wrappers = /^(?:bot|app|application|client|data|attributes|info|meta|details|team|node)$/;
const people = /owner|author|dev|creator|maker/;
const others = /owner|author|dev|creator|maker|guild|server|channel|message|role/;

/** Orders fields by how many records have them, roughly, then by how deep they are, then by the length of their values. */
function compareColumns([a, x]: readonly [string, SourceColumn], [b, y]: readonly [string, SourceColumn]) {
  const measure = ({ values }: SourceColumn): number =>
    [...values.keys()].reduce((sum, text) => sum + text.length, 0) / values.size;
  return (
    Math.round(Math.log2(y.records.size / x.records.size)) ||
    a.split('.').length - b.split('.').length ||
    measure(x) - measure(y)
  );
}

/** A cheap test first, because parsing every other text as an address would take long. */
const isLink = (text: string): boolean => text.startsWith('http');

/** The kinds of values: a noun for values that are of another kind, and the test for one. */
const kinds = {
  snowflake: ['no ids', (text) => /^\d{17,20}$/.test(text)],
  digits: ['no ids', (text) => /^\d{1,20}$/.test(text)],
  client: ['no invites', (text) => isLink(text) && /^\d{17,20}$/.test(String(parseInvite(text)?.clients))],
  invite: ['no invites', (text) => isLink(text) && parseInvite(text) !== undefined],
  address: ['no https addresses', (text) => text.startsWith('https://')],
  server: ['no invites to a server', (text) => isLink(text) && isServerInvite(text)],
  code: ['no codes of an invite', (text) => /^(?!\d+$)[\dA-Za-z-]{2,32}$/.test(text)],
  repository: [
    'no repositories',
    (text) => text.includes('://') && convertValue('codehost.repo', text) !== text,
  ],
  date: ['no dates', (text) => parseDate(text) !== undefined],
  truth: ['neither true nor false', (text) => typeof toKeyValue('nsfw', text) === 'boolean'],
  language: ['no languages', (text) => toCanonicalLocale(text) !== undefined],
  name: ['longer than 32 characters', (text) => text.length <= 32],
  short: ['longer than 200 characters', (text) => text.length <= 200],
  any: ['', () => true],
} satisfies Readonly<Record<string, readonly [what: string, fits: (text: string) => boolean]>>;

/**
 * A key, the kind of its values, and the name of its field, in lower case without other characters; of addresses, dates and ids also
 * with the names around it. The last is the share of values that have to be of the kind.
 */
type Target = readonly [key: string, kind: keyof typeof kinds, name?: RegExp, share?: number];

/** The keys, in the order in which they take fields. */
const targets: readonly Target[] = [
  ['id', 'snowflake', /^(?:bot|user)?id$/],
  ['id', 'snowflake', /id$/],
  ['id', 'client'],
  ['id', 'snowflake'],
  ['id', 'digits', /^(?:bot|client|app|application)?id$/],
  ['invite', 'invite'],
  ['support', 'server'],
  ['invite', 'address', /invite|oauth/],
  // Other addresses are those of pages of the bot with further links.
  ['invite', 'invite', /^(?:link|url)$/, 0.3],
  ['name', 'name', /^(?:bot|page|app)?(?:name|title|username)$/],
  ['authors', 'snowflake', /^(?!.*(?:guild|server)).*(?:owner|author|dev|creator|maker)/],
  ['authors', 'digits', people],
  ['created', 'date', /^(?!.*(?:updat|edit|modif|last)).*(?:created|added|submitted|listed|since|date)/],
  ['category', 'short', /categor|tag$|tags|genre|topic|type/],
  ['images.avatar', 'address', /avatar|icon|logo/],
  ['images.cover', 'address', /cover|banner/],
  ['support', 'address', /support|server|guild/],
  ['support', 'code', /support|server|guild/],
  ['website', 'address', /^(?!.*(?:git|repo|source|image|privacy|terms|donat|vote)).*(?:site|home|web|url)/],
  ['codehost.owner', 'repository', /(?:)/, 0.5],
  ['nsfw', 'truth', /nsfw|adult|mature/],
  ['trigger.prefix', 'name', /prefix/],
  ['locale', 'language', /lang|locale/, 0.9],
  ['description', 'short', /short|summary|tagline|brief|intro/],
  [
    'page',
    'any',
    /^(?!.*(?:short|summary|tagline|brief|intro|name|title)).*(?:long|page|body|cont|read|detail)/,
  ],
  ['description', 'short', /^(?!.*(?:long|page|body|content|readme|detail)).*(?:desc|about)/],
  ['page', 'any', /^(?!.*(?:short|summary|tagline|brief|intro)).*(?:desc|about)/],
];

function findCategory(value: string, categories: readonly string[]): string | undefined {
  const name = value.toLowerCase();
  const isSame = (category: string): boolean => category.startsWith(name) || name.startsWith(category);
  return (name.length > 2 ? categories.find(isSame) : undefined) ?? findNearestName(name, categories, 2);
}
