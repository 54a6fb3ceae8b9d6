import { isUtf8 } from 'node:buffer';
import { readdirSync, readFileSync, statSync, createReadStream } from 'node:fs';
import { basename, dirname, join, parse as parsePath, relative } from 'node:path';
import { isScalar, parseDocument, visit } from 'yaml';
import { createSizeFault, maxFileSize, splitFrontMatter } from '../catalogue/page/page.ts';
import { messageOf, UserError } from '../lib/errors.ts';
import { findDuplicateKey, isObject } from '../lib/json.ts';
import { quoteValue } from '../lib/text.ts';

/** The fields of a record by their names, with anything in them. */
export type SourceFields = Readonly<Record<string, unknown>>;

/** A record of a list. */
export interface SourceRecord {
  /** The place in the source, such as `bots.csv:12`. */
  readonly place: string;
  /** A text is the reason why the record cannot be read. */
  readonly fields: SourceFields | string;
}

/** The options for reading a list. */
export interface SourceOptions {
  /**
   * Whether an object is a record, of a list inside another object or by itself. Without it, all are, and cells stay as they are:
   * in exports.
   */
  readonly isRecord?: ((fields: SourceFields, isInner: boolean) => boolean) | undefined;
  /** Receives rows of a source that are not records, as a noun in the plural, and their place. */
  readonly note?: (text: string, place: string, count?: number) => void;
}

/**
 * Reads the records of a list. Of CSV and NDJSON a piece is in memory, of other forms a whole file. A file or a line is
 * a record, or has one list of records, at any depth.
 * @throws {UserError} if the source is not a list
 */
export async function* readRecords(path: string, options: SourceOptions = {}): AsyncGenerator<SourceRecord> {
  if (statSync(path).isDirectory()) yield* readFolder(path, options);
  else if (/\.(?:json|ya?ml)$/i.test(path)) yield* readDocument(path, options);
  else if (/\.(?:ndjson|jsonl)$/i.test(path)) yield* readJsonLines(path, options);
  else if (/\.[ct]sv$/i.test(path)) yield* readTable(path, options);
  else
    throw new UserError(
      `${path} is of an unknown kind: pass .csv, .tsv, .json, .ndjson, .jsonl, .yml, .yaml or a folder`,
    );
}

async function* readJsonLines(path: string, options: SourceOptions): AsyncGenerator<SourceRecord> {
  const pages = new Set<string>();
  for await (const { number, text, fault } of readLines(path)) {
    const place = `${basename(path)}:${number}`;
    if (fault !== undefined) yield { place, fields: fault };
    else if (text.trim() === '') options.note?.('blank rows were skipped', place);
    else yield* findRecords(place, options, pages, () => [parseJson(text)]);
  }
}

/** @throws {UserError} for a document that cannot be read */
function* readDocument(path: string, options: SourceOptions): Generator<SourceRecord> {
  const whole = basename(path);
  for (const record of findRecords(whole, options, new Set(), () => [readFile(path)[0]])) {
    const { place, fields } = record;
    if (place === whole && typeof fields === 'string') throw new UserError(`${path}: ${fields}`);
    yield record;
  }
}

/**
 * Reads a folder that has records in each file, at any depth; of markdown the front matter, in YAML or JSON. Next to its fields a
 * record has `file`, the name without its ending, and `body`, the markdown. No link is followed.
 */
function* readFolder(path: string, options: SourceOptions): Generator<SourceRecord> {
  const files = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => ({ file: join(entry.parentPath, entry.name), isFile: entry.isFile() }))
    .toSorted((a, b) => (a.file < b.file ? -1 : 1));
  const pages = new Set<string>();
  for (const { file, isFile } of files) {
    const place = relative(dirname(path), file);
    const note = (text: string): void => options.note?.(text, place);
    if (/(?:^|[\\/])\./.test(relative(path, file))) note('hidden files were not read');
    else if (!isFile) note('links were not followed');
    else if (/\.(?:md|markdown|ya?ml|json)$/i.test(file))
      yield* findRecords(place, options, pages, () => readFile(file));
    else note('files with other endings than .md, .markdown, .yml, .yaml and .json were not read');
  }
}

/** @throws {Error} for a file that is too large, or neither JSON nor YAML */
function readFile(path: string): readonly [fields: unknown, others: SourceFields] {
  const { name: file, ext } = parsePath(path);
  const [isMarkdown, isJson] = [/^\.(?:md|markdown)$/i.test(ext), /^\.json$/i.test(ext)];
  const { size } = statSync(path);
  if (isMarkdown && size > maxFileSize) throw new Error(createSizeFault(path).message);
  if (!isJson && size > maxRecordLength) throw new Error(longLineFault);
  const text = decodeText(readFileSync(path));
  const { frontMatter, markdown: body } = isMarkdown
    ? splitFrontMatter(text)
    : { frontMatter: text, markdown: undefined };
  const read = isJson || /^\s*\{/.test(frontMatter) ? parseJson : parseYaml;
  return [read(frontMatter), { file, body }];
}

/** Parses YAML, with scalars as they are written. @throws {Error} for text that is not YAML, and for a duplicate key */
function parseYaml(text: string): unknown {
  const document = parseDocument(text, {
    schema: 'failsafe',
    customTags: ['null'],
    resolveKnownTags: false,
    // The library compares keys with each other, which takes quadratic time.
    uniqueKeys: false,
    logLevel: 'error',
  });
  const [error] = document.errors;
  if (error !== undefined) throw error;
  visit(document, {
    Map: (_, { items }) => {
      const double = findDouble(items.map(({ key }) => (isScalar(key) ? key.source : undefined)));
      if (double !== undefined) throw new Error(`the key ${quoteValue(double)} is here twice`);
    },
  });
  return document.toJS() as unknown;
}

/**
 * Yields a value as a record, its entries, or those of the one list of records inside it; or the reason for no record.
 * @param pages paths of the lists in earlier values: an empty list there is an empty page
 * @param read returns the value, and fields that its records have in addition
 */
function* findRecords(
  place: string,
  { isRecord = () => true }: SourceOptions,
  pages: Set<string>,
  read: () => readonly [value: unknown, others?: SourceFields],
): Generator<SourceRecord> {
  try {
    const [value, others] = read();
    const fields = isObject(value) ? { ...others, ...value } : notObject;
    const lists =
      typeof fields === 'object' && isRecord(fields, false)
        ? []
        : findLists(value, pages, (entry) => isObject(entry) && isRecord(entry, true));
    if (lists.length > 1)
      throw new Error(`it has the lists ${lists.map(({ path }) => path).join(' and ')}: keep one of them`);
    for (const { path } of lists) pages.add(path);
    if (lists.length === 0) yield { place, fields };
    for (const [key, entry] of Object.entries(lists[0]?.list ?? []))
      yield { place: `${place}[${key}]`, fields: isObject(entry) ? { ...others, key, ...entry } : notObject };
  } catch (error) {
    const reason = messageOf(error).split('\n', 1)[0]?.slice(0, 200);
    yield { place, fields: `it cannot be read (${reason}): correct it` };
  }
}

const notObject = 'this is not an object: put the fields in { }';

/** Returns the outermost arrays and objects whose entries are records, each with the keys of its path. */
function findLists(
  value: unknown,
  pages: ReadonlySet<string>,
  isRecord: (entry: unknown) => boolean,
  path = '',
): readonly { readonly path: string; readonly list: object }[] {
  if (Array.isArray(value)) {
    const isList = path === '' || value.some(isRecord) || (value.length === 0 && pages.has(path));
    return isList ? [{ path, list: value }] : [];
  }
  const entries = isObject(value) ? Object.entries(value) : [];
  const records = entries.filter(([key, entry]) => isObject(entry) && isRecord({ key, ...entry }));
  if (records.length > entries.length / 2) return [{ path, list: Object(value) as object }];
  return entries.flatMap(([key, entry]) =>
    findLists(entry, pages, isRecord, path === '' ? key : `${path}.${key}`),
  );
}

/** Returns the first text that a list repeats; undefined if all differ. */
export function findDouble(texts: readonly (string | undefined)[]): string | undefined {
  const seen = new Set<string | undefined>([undefined]);
  return texts.find((text) => text !== undefined && seen.size === seen.add(text).size);
}

/** Parses a list in the form of JSON (`["1","2"]`) or PostgreSQL (`{1,2}`); undefined for any other text. */
export function readList(text: string): readonly unknown[] | undefined {
  const [, open, values = ''] = /^\s*([[{])(.*)[\]}]\s*$/s.exec(text) ?? [];
  if (open === undefined) return undefined;
  let isInString = false;
  const toJson = (token: string): string => {
    if (token === '"') isInString = !isInString;
    if (isInString || /^["\\]/.test(token)) return token;
    return token === 'NULL' ? 'null' : JSON.stringify(token);
  };
  try {
    const list =
      open === '[' ? parseJson(text) : JSON.parse(`[${values.replaceAll(/\\.|"|[^\\",]+/gs, toJson)}]`);
    return Array.isArray(list) ? list : undefined;
  } catch {
    return undefined;
  }
}

/** Parses JSON. An integer that would lose digits becomes a text. @throws {Error} for a key that is there twice, too */
function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(quoteLongIntegers(text));
  const duplicate = findDuplicateKey(text, value);
  if (duplicate !== undefined) throw new Error(duplicate);
  return value;
}

function quoteLongIntegers(text: string): string {
  let isInString = false;
  // Strings are not matched as a whole, because each quote in an unclosed one would be tried.
  return text.replaceAll(/\\.|"|-?\d[\d.eE+-]*/gs, (token) => {
    if (token === '"') isInString = !isInString;
    return !isInString && /^-?\d{16,}$/.test(token) ? `"${token}"` : token;
  });
}

/** A line of a text file. */
interface SourceLine {
  /** Counted from 1. */
  readonly number: number;
  /** The line without its end; empty if it is too long. */
  readonly text: string;
  /** The end of the line; empty at the end of the file. */
  readonly end: string;
  /** Why the text cannot be used. */
  readonly fault: string | undefined;
}

/** The largest record, in bytes: a line of an export has all pages of a bot. */
const maxRecordLength = 16 * 1024 * 1024;

/**
 * Reads the lines of a file in UTF-8, or in UTF-16 if it begins with a byte order mark. LF, CRLF and CR end a line.
 * @throws {UserError} for faulty UTF-16
 */
async function* readLines(path: string): AsyncGenerator<SourceLine, undefined> {
  // A character for each byte of UTF-8, so that the characters of a line are decoded together.
  let [line, number, isLong, heldBack] = ['', 0, false, ''];
  const finish = (end: string): SourceLine => {
    const bytes = Buffer.from(line, 'latin1');
    const text = bytes.toString().replace(number++ === 0 ? /^\uFEFF/ : /$^/, '');
    const fault = isLong ? longLineFault : findTextFault(bytes);
    [line, isLong] = ['', false];
    return { number, text, end, fault };
  };
  for await (const piece of readPieces(path)) {
    const bytes = heldBack + piece;
    // LF may follow it.
    heldBack = bytes.endsWith('\r') && piece !== '' ? '\r' : '';
    const parts = bytes.slice(0, bytes.length - heldBack.length).split(/(\r\n|\n|\r)/);
    for (let i = 0; i < parts.length; i += 2) {
      line += parts[i];
      isLong ||= line.length > maxRecordLength;
      if (isLong) line = '';
      const end = parts[i + 1];
      if (end !== undefined) yield finish(end);
    }
  }
  if (line !== '' || isLong) yield finish('');
}

/** Reads a text that is decoded as lines are. @throws {Error} for a text that cannot be decoded */
function decodeText(bytes: Buffer): string {
  const encoding = findUtf16(bytes);
  if (encoding !== undefined) return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  const fault = findTextFault(bytes);
  if (fault !== undefined) throw new Error(fault);
  return bytes.toString().replace(/^\uFEFF/, '');
}

/** Yields the bytes of a file in UTF-8 as Latin-1, and an empty text at the end. */
async function* readPieces(path: string): AsyncGenerator<string> {
  let decoder: TextDecoder | null | undefined;
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      const encoding = decoder === undefined ? findUtf16(chunk) : undefined;
      decoder ??= encoding === undefined ? null : new TextDecoder(encoding, { fatal: true });
      const bytes = decoder === null ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }));
      if (bytes.length > 0) yield bytes.toString('latin1');
    }
    decoder?.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UserError(`${path} is not UTF-16, which its first bytes say: save it as UTF-8`);
  }
  yield '';
}

function findUtf16([first, second]: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

function findTextFault(bytes: Buffer): string | undefined {
  if (!isUtf8(bytes)) return 'this is not UTF-8: save the file as UTF-8';
  if (!bytes.includes(0)) return undefined;
  return 'this has NUL characters, as UTF-16 without a byte order mark has: save the file as UTF-8';
}

const longLineFault = `this has more than ${maxRecordLength} bytes: shorten it, or look for a line break that is missing`;

/**
 * Reads the records of a table in CSV (RFC 4180) with any separator. A value that begins with a quote ends with a quote and a
 * separator: of other rows, and of all lines that they may have swallowed, each line is refused.
 * @throws {UserError} for faulty names of columns
 */
async function* readTable(path: string, { isRecord, note = () => {} }: SourceOptions) {
  let names: readonly string[] | undefined;
  for await (const { line, values, fault } of readRows(path)) {
    const place = `${basename(path)}:${line}`;
    if (fault !== undefined && names === undefined) throw new UserError(`${path}:${line}: ${fault}`);
    if (fault !== undefined) yield { place, fields: fault };
    else if (values.every(isBlank)) note('blank rows were skipped', place);
    else if (names === undefined) {
      names = values.map((name) => name.trim());
      const double = findDouble(names.filter((name) => name !== ''));
      if (double !== undefined)
        throw new UserError(
          `${path} has two columns that are called ${quoteValue(double)}: rename one of them`,
        );
      const unnamed = names.filter((name) => name === '').length;
      if (unnamed > 0) note('columns without a name were not read', place, unnamed);
    } else if (!values.slice(names.length).every(isBlank))
      yield {
        place,
        fields: `there are ${values.length} values for ${names.length} columns: quote those with a separator in them`,
      };
    else {
      if (values.length < names.length)
        note('rows were shorter than the first: empty cells were added', place);
      // Databases write NULL or \N for a missing value.
      const empty = isRecord ? /^\s*(?:NULL|\\N)\s*$/ : /^$/;
      const cells = names.map((name, i) => [name, (values[i] ?? '').replace(empty, '')] as const);
      yield { place, fields: Object.fromEntries(cells.filter(([name]) => name !== '')) };
    }
  }
}

function isBlank(value: string): boolean {
  return value.trim() === '';
}

/** A row, or the reason why a line cannot be read. */
interface Row {
  /** The line in which it begins. */
  readonly line: number;
  readonly values: readonly string[];
  readonly fault: string | undefined;
}

async function* readRows(path: string): AsyncGenerator<Row> {
  const lines = readLines(path);
  let delimiter: string | undefined;
  for await (const line of lines) {
    if (delimiter === undefined && !isBlank(line.text)) {
      const separator = /^"?sep=([^"])"?$/i.exec(line.text)?.[1];
      delimiter = separator ?? findDelimiter(line.text);
      if (separator !== undefined) continue;
    }
    yield* await readRow(line, lines, delimiter ?? ',');
  }
}

/** Returns the most frequent separator between the names of the columns. */
function findDelimiter(text: string): string {
  const head = text.replaceAll(/"[^"]*"?/g, '');
  const count = (delimiter: string): number => head.split(delimiter).length;
  return [',', ';', '\t'].reduce((a, b) => (count(b) > count(a) ? b : a));
}

/** Returns the row that begins in a line, and goes on in further ones inside quotes; or each of its lines, if it is faulty. */
async function readRow(first: SourceLine, lines: AsyncGenerator<SourceLine, undefined>, delimiter: string) {
  const values: string[] = [];
  let { number: last, fault } = first;
  let length = 0;
  // The value in quotes that is not at its end.
  let open: string | undefined;
  for (let line: SourceLine | undefined = first; line; line = (await lines.next()).value) {
    const { text } = line;
    last = line.number;
    fault ??= line.fault;
    length += text.length;
    if (length > maxRecordLength || (line.fault !== undefined && text === '')) break;
    for (let at = 0; at <= text.length; at++) {
      const start = open === undefined ? skipBlanks(text, at, delimiter) : at - 1;
      if (open === undefined && text[start] !== '"') {
        const next = indexOrEnd(text, delimiter, at);
        values.push(text.slice(at, next).trimStart());
        at = next;
        continue;
      }
      let close = indexOrEnd(text, '"', start + 1);
      while (text[close + 1] === '"') close = indexOrEnd(text, '"', close + 2);
      open = (open ?? '') + text.slice(start + 1, close).replaceAll('""', '"');
      at = close;
      if (close === text.length) continue;
      values.push(open);
      open = undefined;
      at = skipBlanks(text, close + 1, delimiter);
      if (at < text.length && text[at] !== delimiter) return refuseLines(first.number, last, fault);
    }
    if (open === undefined) return [{ line: first.number, values, fault }];
    open += line.end;
  }
  return refuseLines(first.number, last, fault);
}

function indexOrEnd(text: string, part: string, from: number): number {
  const index = text.indexOf(part, from);
  return index === -1 ? text.length : index;
}

function skipBlanks(text: string, from: number, delimiter: string): number {
  let at = from;
  while (text[at] !== delimiter && (text[at] === ' ' || text[at] === '\t')) at++;
  return at;
}

/** Returns every line of a row whose quotes are wrong: some may be records of their own. */
function refuseLines(
  first: number,
  last: number,
  fault = 'there is a quote that is not closed, or one inside quotes that is not doubled (""): correct it',
): readonly Row[] {
  const inside = `this is read as part of the value that a quote opens at line ${first}: correct that line`;
  return Array.from({ length: last - first + 1 }, (_, i) => ({
    line: first + i,
    values: [],
    fault: i === 0 ? fault : inside,
  }));
}
