import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import matter from 'gray-matter';
import { BotshelfError } from '../../lib/errors.ts';
import { editedTimeAfter } from '../../bot/clock.ts';
import { readKeyOrder, readSchema, resolveProperties, type SchemaDocument } from '../../bot/schemas.ts';
import { validate } from '../../bot/validate.ts';
import { createLocator, setKeys, type JsonFault, readStrictJson, printJson } from '../../lib/json.ts';
import { type Fault, createFileFault, findPosition } from './fault.ts';

/** The front matter of a page file. */
export type PageData = Readonly<Record<string, unknown>>;

/** The largest size of a page file, in bytes. */
export const maxFileSize = 256 * 1024;

/** A parsed page file: the data of its front matter, not yet validated, and its markdown. */
export interface Page {
  readonly data: Record<string, unknown>;
  readonly page: string;
  /** Returns a fault at a value of the front matter, or with `atKey` at its key. */
  faultAt(place: readonly (string | number)[], rule: string, message: string, atKey?: boolean): Fault;
}

/** A page file as parsed: its page, or its faults. */
export type ParsedPage =
  | { readonly page: Page; readonly faults: readonly [] }
  | { readonly page: undefined; readonly faults: readonly Fault[] };

/**
 * Parses a page file strictly. gray-matter splits it, with our JSON reader as its only engine. Everything that
 * gray-matter would execute, guess or ignore is refused first.
 */
export function parsePage(path: string, bytes: Buffer): ParsedPage {
  const refused = bytes.length > maxFileSize ? createSizeFault(path) : findEncodingFault(path, bytes);
  if (refused) return { page: undefined, faults: [refused] };

  const text = bytes.toString('utf8');
  const found = findConflict(text) ?? splitPage(text);
  const split = 'rule' in found ? found : (findBlankRun(text, found) ?? found);
  if ('rule' in split) {
    const { offset, rule, message } = split;
    return { page: undefined, faults: [{ path, ...findPosition(text, offset), rule, message }] };
  }
  const at = ({ offset, rule, message }: JsonFault): Fault => {
    return { path, ...findPosition(text, split.start + offset), rule, message };
  };

  const json = text.slice(split.start, split.end);
  const frontMatter = readStrictJson(json, 'the front matter');
  if ('faults' in frontMatter)
    return { page: undefined, faults: describeFrontMatter(json, frontMatter.faults).map(at) };
  const engine = { parse: () => frontMatter.data };
  const offsetOf = createLocator(json);
  // gray-matter copies a text, but not bytes.
  const { data, content } = matter(bytes, { language: 'json', engines: { json: engine } });
  return {
    faults: [],
    page: {
      data,
      page: trimMarkdown(content),
      faultAt: (place, rule, message, atKey) => at({ offset: offsetOf([...place], atKey), rule, message }),
    },
  };
}

/** Returns the faults of front matter, or one fault that explains them all: YAML, or trailing commas. */
function describeFrontMatter(
  json: string,
  faults: readonly [JsonFault, ...JsonFault[]],
): readonly JsonFault[] {
  const { offset, rule } = faults[0];
  if (rule !== 'json') return faults;
  if ('data' in readStrictJson(json.replaceAll(/,(?=\s*[\]}])/g, ''), '')) {
    const message =
      'a comma comes after the last value, which Prettier puts there: remove it or run "botshelf format", and add this folder to .prettierignore';
    return [{ offset, rule: 'trailing-comma', message }];
  }
  const isYaml = /^[\w-]+:(?:\s|$)/m.test(json) && !json.trimStart().startsWith('{');
  const message = 'the front matter is YAML: write JSON between the lines ---, such as {"name": "Homer"}';
  return isYaml ? [{ offset, rule, message }] : faults;
}

/**
 * Splits a file from another list into the text of its front matter (JSON or YAML) and its markdown.
 * @throws {Error} for front matter in any other language
 */
export function splitFrontMatter(text: string): { readonly frontMatter: string; readonly markdown: string } {
  if (longBlank.test(text.slice(0, text.indexOf('\n---', 3))))
    throw new Error('it has more than 200 blank characters in a row');
  const engines = { json: () => ({}), yaml: () => ({}) };
  const { matter: frontMatter, content } = matter(text, { engines });
  return { frontMatter, markdown: trimMarkdown(content) };
}

/** Normalises markdown: LF line ends, without empty lines at the start and white space at the end. */
export function trimMarkdown(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd();
}

/**
 * Sets top-level keys in a page file's front matter and keeps every other byte.
 * @throws {Error} when the text is not a page file
 */
export function editPage(text: string, values: Readonly<Record<string, unknown>>): string {
  const { before, json, after } = cutPage(text);
  return before + setKeys(json, values) + after;
}

/**
 * Splits a page file's text before and after the JSON of its front matter.
 * @throws {Error} when the text is not a page file
 */
export function cutPage(text: string): Readonly<Record<'before' | 'json' | 'after', string>> {
  const split = splitPage(text);
  if ('rule' in split) throw new Error(split.message);
  return {
    before: text.slice(0, split.start),
    json: text.slice(split.start, split.end),
    after: text.slice(split.end),
  };
}

/** Returns the fault of a page file of more than maxFileSize bytes. */
export function createSizeFault(path: string): Fault {
  return createFileFault(path, 'file-size', `the file has more than ${maxFileSize} bytes: shorten the page`);
}

/** Finds an unresolved merge conflict: its three kinds of marker lines, in order. */
function findConflict(text: string): JsonFault | undefined {
  const offset = findLine(text, '<<<<<<< ', 0);
  const middle = findLine(text, '=======', offset);
  if (findLine(text, '>>>>>>> ', middle) === -1) return undefined;
  const message = 'a merge conflict begins here: resolve it and remove the markers';
  return { offset, rule: 'merge-conflict', message };
}

/** Returns the start and end of a page file's front matter, or the fault of its `---` lines. */
function splitPage(text: string): { readonly start: number; readonly end: number } | JsonFault {
  const opener = /^---(?:json)?\r?\n/.exec(text)?.[0];
  if (opener === undefined) return { offset: 0, rule: 'opener', message: describeOpener(text) };
  const newline = text.indexOf('\n---', opener.length - 1);
  if (newline === -1) {
    const message = 'the front matter has no end: put a line --- after its last }';
    return { offset: 0, rule: 'closer', message };
  }
  if (!/^---(?:\r?\n|\r?$)/.test(text.slice(newline + 1, newline + 6))) {
    const message = 'this line ends the front matter but is not ---: write --- alone on it';
    return { offset: newline + 1, rule: 'closer', message };
  }
  return { start: opener.length, end: Math.max(newline + 1, opener.length) };
}

/** Finds a long run of blanks in front matter, which `parsePage` refuses. */
function findBlankRun(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
): JsonFault | undefined {
  const blank = longBlank.exec(text.slice(start, end));
  const message = 'more than 200 blank characters in a row: remove them';
  return blank ? { offset: start + blank.index, rule: 'blank-run', message } : undefined;
}

/** Returns the offset of the next line that begins with `start`; -1 if not found, or if `from` is -1. */
function findLine(text: string, start: string, from: number): number {
  if (from === -1 || text.startsWith(start, from)) return from;
  const newline = text.indexOf(`\n${start}`, from);
  return newline === -1 ? -1 : newline + 1;
}

/** Refused, because gray-matter takes quadratic time over long runs of blanks in front matter. */
const longBlank = /\s{201}/;

function describeOpener(text: string): string {
  if (text.startsWith('<<<<<<<'))
    return 'the file begins with a merge conflict: resolve it and remove the markers';
  const line = text.slice(0, 40).split(/\r?\n/, 1)[0] ?? '';
  return line.startsWith('---')
    ? `the first line is ${JSON.stringify(line)}: write --- alone, the front matter is JSON`
    : 'the file does not begin with front matter: make its first line ---';
}

// gray-matter evaluates a file that begins with `---js`. Without these engines, no caller can make it.
const { engines } = matter as unknown as { engines: Record<string, unknown> };
for (const name of Object.keys(engines)) if (name !== 'json') delete engines[name];

/** Returns the fault of a file that is not plain UTF-8; undefined if it is. */
export function findEncodingFault(path: string, bytes: Buffer): Fault | undefined {
  if (bytes.length >= 3 && bytes.readUIntBE(0, 3) === 0xefbbbf) {
    const message = 'the file begins with a byte order mark: save it as UTF-8 without BOM';
    return createFileFault(path, 'byte-order-mark', message);
  }
  const at = (offset: number, rule: string, message: string): Fault => {
    const before = bytes.toString('utf8', 0, offset);
    return { path, ...findPosition(before, before.length), rule, message };
  };
  const nul = bytes.indexOf(0);
  if (nul !== -1)
    return at(nul, 'nul', 'there is a NUL character here: remove it, and save the file as UTF-8');
  if (!isUtf8(bytes)) return at(findInvalidByte(bytes), 'utf-8', 'this is not UTF-8: save the file as UTF-8');
  return undefined;
}

/** Returns the offset of the first line that is not UTF-8. */
function findInvalidByte(bytes: Buffer): number {
  for (let start = 0; ;) {
    const end = bytes.indexOf(0x0a, start);
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return start;
    start = end + 1;
  }
}

/** Returns a copy of a main page's front matter with the schema's defaults for missing keys. */
export function withDefaults(data: PageData): Record<string, unknown> {
  return fillDefaults(data, mainPageDefaults);
}

/** Key → its default, and the defaults inside that object. */
type Defaults = ReadonlyMap<string, { readonly value: unknown; readonly within: Defaults }>;

const mainPageDefaults = readDefaults(readSchema('main-page'));

function readDefaults(schema: SchemaDocument): Defaults {
  const keys = Object.entries(resolveProperties(schema)).filter(([, property]) => 'default' in property);
  return new Map(
    keys.map(([key, property]) => [key, { value: property['default'], within: readDefaults(property) }]),
  );
}

function fillDefaults(data: PageData, defaults: Defaults): Record<string, unknown> {
  const all: Record<string, unknown> = { ...data };
  for (const [key, { value, within }] of defaults) {
    if (all[key] === undefined) all[key] = structuredClone(value);
    if (within.size > 0) all[key] = fillDefaults(all[key] as PageData, within);
  }
  return all;
}

/**
 * Returns a page file in its canonical form: keys in the order of the schema, two spaces, LF, between two lines `---`.
 * Unknown keys come last, in their own order. Digits of numbers, characters of texts and bytes of the markdown stay as
 * they are, so a canonical file does not change.
 * @throws {Error} when the text is not a page file that can be parsed
 */
export function toCanonicalForm(
  text: string,
  schema: 'main-page' | 'collection' | 'profile' = 'main-page',
): string {
  const { json, after } = cutPage(text);
  return `---\n${printJson(json, keyOrders[schema])}\n${after.replace(/^---\r?\n?/, '---\n')}`;
}

/** Returns a JSON file in canonical form, like toCanonicalForm. @throws {Error} when the text is not JSON */
export function toCanonicalJson(text: string, schema: 'settings' | 'profile'): string {
  return `${printJson(text, keyOrders[schema])}\n`;
}

const keyOrders = {
  'main-page': readKeyOrder(readSchema('main-page')),
  collection: readKeyOrder(readSchema('collection')),
  profile: readKeyOrder(readSchema('profile')),
  settings: readKeyOrder(readSchema('settings')),
};

/**
 * Returns a main page's text with `values` and `edited`; the same text if it already has the values. `edited` is
 * `now`, or just after the previous one if the clock was set back a little: in a merge, the later post wins.
 * @throws {BotshelfError} unavailable, when the committed file is not a page that can be edited
 */
export function withValues(
  path: string,
  text: string | null,
  values: Readonly<Record<string, unknown>>,
  now: number,
): string {
  if (text === null) throw createFaultyError(path, 'it is not in the last commit');
  const { page, faults } = parsePage(path, Buffer.from(text));
  const [fault = validate('main-page', page?.data)[0]] = faults;
  if (page === undefined || fault !== undefined)
    throw createFaultyError(path, fault?.message ?? 'it cannot be read');

  const known = withDefaults(page.data);
  const changed = Object.entries(values).filter(([key, value]) => !isDeepStrictEqual(known[key], value));
  if (changed.length === 0) return text;
  return editPage(text, { ...Object.fromEntries(changed), edited: editedTimeAfter(page.data, now) });
}

/**
 * Returns a page's text with this markdown and, unless it is left out, this description; the same text if it has both.
 * @throws {BotshelfError} unavailable, when the text cannot be parsed
 */
export function withPage(path: string, text: string, page: string, description?: string): string {
  const { page: former, faults } = parsePage(path, Buffer.from(text));
  if (former === undefined) throw createFaultyError(path, faults[0]?.message ?? 'it cannot be read');
  const isKept = description === undefined || description === former.data['description'];
  const described = isKept ? text : editPage(text, { description });
  if (former.page === page) return described;
  const { before, json, after } = cutPage(described);
  return before + json + formatMarkdown(page, after);
}

/** Returns the end of a page file with another markdown, and the line ends that it had. @param after as of `cutPage` */
export function formatMarkdown(page: string, after: string): string {
  const text = `---\n\n${page}${page === '' ? '' : '\n'}`;
  return after.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text;
}

function createFaultyError(path: string, why: string): BotshelfError {
  return new BotshelfError(
    'faulty-page',
    `${path} is faulty (${why}): a maintainer has to fix it before the bot can be changed`,
  );
}

/** Returns the addresses of the first hundred HTTPS images in a Markdown text, without duplicates. */
export function findImages(markdown: string): string[] {
  const addresses = new Set<string>();
  for (const [, inMarkdown, inHtml = ''] of markdown.matchAll(imagePattern)) {
    addresses.add(inMarkdown ?? inHtml.replaceAll('&amp;', '&'));
    if (addresses.size === maxImages) break;
  }
  return [...addresses];
}

const imagePattern =
  /!\[[^[\]\n]{0,500}\]\(\s*<?(https:\/\/[^\s<>()"']{1,2000})|<img\b[^<>]{0,500}?\bsrc\s*=\s*["']?(https:\/\/[^\s<>"']{1,2000})/gi;

const maxImages = 100;
