import { isUtf8 } from 'node:buffer';
import { readdirSync, readFileSync, statSync, createReadStream } from 'node:fs';
import { basename, dirname, join, parse as parsePath, relative } from 'node:path';
import { isScalar, parseDocument, visit } from 'yaml';
import { createSizeFault, maxFileSize, splitFrontMatter } from '../catalogue/page/page.ts';
import { messageOf, UserError } from '../lib/errors.ts';
import { findDuplicateKey } from '../lib/json.ts';
import { quoteValue } from '../lib/text.ts';

/** The fields of a record by their names, with anything in them. */
export type SourceFields = Readonly<Record<string, unknown>>;

/** A record of a list. */
export interface SourceRecord {
  /** Where it is in the source, such as `bots.csv:12`. */
  readonly place: string;
  /** A text says why it cannot be read. */
  readonly fields: SourceFields | string;
}

/** Receives something in a source that is no record, in the plural, and its place. */
export type ReportNote = (text: string, place: string, count?: number) => void;

/**
 * Reads the records of a list. Of CSV and NDJSON a piece is in memory, of JSON the whole document.
 * @throws {UserError} for what is no list
 */
export async function* readRecords(path: string, note: ReportNote = () => {}): AsyncGenerator<SourceRecord> {
  if (statSync(path).isDirectory()) yield* readPageFolder(path, note);
  else if (/\.json$/i.test(path)) yield* readDocument(path);
  else if (/\.(?:ndjson|jsonl)$/i.test(path)) yield* readJsonLines(path, note);
  else if (/\.[ct]sv$/i.test(path)) yield* readTable(path, note);
  else
    throw new UserError(`${path} is of an unknown kind: pass .csv, .tsv, .json, .ndjson, .jsonl or a folder`);
}

async function* readJsonLines(path: string, note: ReportNote): AsyncGenerator<SourceRecord> {
  for await (const { number, text, fault } of readLines(path)) {
    const place = `${basename(path)}:${number}`;
    if (fault !== undefined) yield { place, fields: fault };
    else if (text.trim() === '') note('blank rows were skipped', place);
    else yield { place, fields: toFields(() => [parseJson(text)]) };
  }
}

/** Reads a list of records, an object whose values are records, or an object with one list. @throws {UserError} */
function* readDocument(path: string): Generator<SourceRecord> {
  const read = toFields(() => [{ document: parseJson(decodeText(readFileSync(path))) }]);
  if (typeof read === 'string') throw new UserError(`${path}: ${read}`);
  const document = read['document'] as object | null;
  const lists = Object.values(document ?? {}).filter((value) => Array.isArray(value));
  const records = !Array.isArray(document) && lists.length === 1 ? lists[0] : document;
  for (const [key, value] of Object.entries(records ?? {}))
    yield { place: `${basename(path)}[${key}]`, fields: toFields(() => [value, { key }]) };
}

/**
 * Reads a folder that has a record in each file, at any depth; of markdown the front matter, in YAML or JSON. Beside its
 * fields a record has `file`, the name without its ending, and `body`, the markdown. No link is followed.
 */
function* readPageFolder(path: string, note: ReportNote): Generator<SourceRecord> {
  const files = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => ({ file: join(entry.parentPath, entry.name), isFile: entry.isFile() }))
    .toSorted((a, b) => (a.file < b.file ? -1 : 1));
  for (const { file, isFile } of files) {
    const place = relative(dirname(path), file);
    if (/(?:^|[\\/])\./.test(relative(path, file))) note('hidden files were not read', place);
    else if (!isFile) note('links were not followed', place);
    else if (/\.(?:md|markdown|ya?ml|json)$/i.test(file))
      yield { place, fields: toFields(() => readRecordFile(file)) };
    else note('files with other endings than .md, .markdown, .yml, .yaml and .json were not read', place);
  }
}

function readRecordFile(path: string): readonly [fields: unknown, others: SourceFields] {
  if (statSync(path).size > maxFileSize) throw new Error(createSizeFault(path).message);
  const { name: file, ext } = parsePath(path);
  const text = decodeText(readFileSync(path));
  const { frontMatter, markdown: body } = /^\.(?:md|markdown)$/i.test(ext)
    ? splitFrontMatter(text)
    : { frontMatter: text, markdown: undefined };
  const read = /^\s*\{/.test(frontMatter) ? parseJson : parseYaml;
  return [read(frontMatter), { file, body }];
}

/** Parses YAML. @throws {Error} for text that is not YAML, and for a duplicate key */
function parseYaml(text: string): unknown {
  // The library compares keys with each other, which takes quadratic time.
  const document = parseDocument(text, { intAsBigInt: true, uniqueKeys: false, logLevel: 'error' });
  const [error] = document.errors;
  if (error !== undefined) throw error;
  visit(document, {
    Map: (_, { items }) => {
      const keys = new Set<string>();
      for (const { key } of items) {
        const name = isScalar(key) ? key.source : undefined;
        if (name !== undefined && keys.has(name))
          throw new Error(`the key ${quoteValue(name)} is here twice`);
        if (name !== undefined) keys.add(name);
      }
    },
  });
  return document.toJS() as unknown;
}

/** Returns the fields that a record has, with others next to them, or why it cannot be read. */
function toFields(read: () => readonly [fields: unknown, others?: SourceFields]): SourceRecord['fields'] {
  try {
    const [fields, others] = read();
    if (typeof fields === 'object' && fields !== null && !Array.isArray(fields))
      return { ...others, ...fields };
    return 'this is not an object: put the fields in { }';
  } catch (error) {
    return `it cannot be read (${messageOf(error).split('\n', 1)[0]?.slice(0, 200)}): correct it`;
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
  // Strings are not matched as a whole: of one that is not closed, each quote in it would be tried.
  return text.replaceAll(/\\.|"|-?\d[\d.eE+-]*/gs, (token) => {
    if (token === '"') isInString = !isInString;
    return !isInString && /^-?\d{16,}$/.test(token) ? `"${token}"` : token;
  });
}

/** A line of a text file. */
interface SourceLine {
  /** Counted from 1. */
  readonly number: number;
  /** Without its end; of a line that is too long, nothing. */
  readonly text: string;
  /** Empty at the end of the file. */
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
async function* readLines(path: string): AsyncGenerator<SourceLine> {
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
 * Reads the records of a table in CSV (RFC 4180) with any separator. A value that begins with a quote ends with a quote
 * and a separator: of other rows, and of all lines that they may have swallowed, each line is refused.
 * @throws {UserError} for faulty names of columns
 */
async function* readTable(path: string, note: ReportNote): AsyncGenerator<SourceRecord> {
  let names: readonly string[] | undefined;
  for await (const { line, values, fault } of readRows(path)) {
    const place = `${basename(path)}:${line}`;
    if (fault !== undefined && names === undefined) throw new UserError(`${path}:${line}: ${fault}`);
    if (fault !== undefined) yield { place, fields: fault };
    else if (values.every(isBlank)) note('blank rows were skipped', place);
    else if (names === undefined) {
      names = readNames(path, values);
      if (names.includes(''))
        note('columns without a name were not read', place, names.filter((name) => name === '').length);
    } else if (!values.slice(names.length).every(isBlank))
      yield {
        place,
        fields: `there are ${values.length} values for ${names.length} columns: quote those with a separator in them`,
      };
    else {
      if (values.length < names.length)
        note('rows were shorter than the first: empty cells were added', place);
      const cells = names.map((name, i) => [name, values[i] ?? ''] as const);
      yield { place, fields: Object.fromEntries(cells.filter(([name]) => name !== '')) };
    }
  }
}

function isBlank(value: string): boolean {
  return value.trim() === '';
}

/** @throws {UserError} for two columns of one name; those without a name cannot be mapped */
function readNames(path: string, values: readonly string[]): readonly string[] {
  const names = values.map((name) => name.trim());
  const double = names.find((name, i) => name !== '' && names.indexOf(name) !== i);
  if (double === undefined) return names;
  throw new UserError(`${path} has two columns that are called ${quoteValue(double)}: rename one of them`);
}

/** A row that is read, or why a line is not. */
interface Row {
  /** The line in which it begins. */
  readonly line: number;
  readonly values: readonly string[];
  readonly fault: string | undefined;
}

async function* readRows(path: string): AsyncGenerator<Row> {
  let delimiter: string | undefined;
  let row: OpenRow | undefined;
  for await (const line of readLines(path)) {
    if (delimiter === undefined && !isBlank(line.text)) {
      const separator = /^"?sep=([^"])"?$/i.exec(line.text)?.[1];
      delimiter = separator ?? findDelimiter(line.text);
      if (separator !== undefined) continue;
    }
    row ??= new OpenRow(line.number);
    const state = row.add(line, delimiter ?? ',');
    if (state === 'open') continue;
    yield* state === 'whole' ? [row] : refuseLines(row);
    row = undefined;
  }
  if (row !== undefined) yield* refuseLines(row);
}

/** Yields every line of a row whose quotes are wrong: some may be records of their own. */
function* refuseLines({ line: first, lastLine, fault }: OpenRow): Generator<Row> {
  const reason =
    fault ?? 'there is a quote that is not closed, or one inside quotes that is not doubled (""): correct it';
  for (let line = first; line <= lastLine; line++) {
    const inside = `this is read as part of the value that a quote opens at line ${first}: correct that line`;
    yield { line, values: [], fault: line === first ? reason : inside };
  }
}

/** Returns what is most often between the names of the columns. */
function findDelimiter(text: string): string {
  const head = text.replaceAll(/"[^"]*"?/g, '');
  const count = (delimiter: string): number => head.split(delimiter).length;
  return [',', ';', '\t'].reduce((a, b) => (count(b) > count(a) ? b : a));
}

/** A row that further lines may belong to. */
class OpenRow implements Row {
  readonly line: number;
  readonly values: string[] = [];
  lastLine: number;
  fault: string | undefined;
  #length = 0;
  /** The value in quotes that is not at its end. */
  #open: string | undefined;

  constructor(line: number) {
    this.line = line;
    this.lastLine = line;
  }

  /** Adds the values of a line, and returns whether the row is whole, goes on, or cannot be read. */
  add({ number, text, end, fault }: SourceLine, delimiter: string): 'whole' | 'open' | 'faulty' {
    this.lastLine = number;
    this.fault ??= fault;
    this.#length += text.length;
    if (this.#length > maxRecordLength || (fault !== undefined && text === '')) return 'faulty';
    let at = this.#open === undefined ? 0 : this.#addQuoted(text, 0, delimiter);
    while (at >= 0 && at <= text.length) {
      const start = skipBlanks(text, at, delimiter);
      if (text[start] === '"') {
        this.#open = '';
        at = this.#addQuoted(text, start + 1, delimiter);
      } else {
        const next = text.indexOf(delimiter, at);
        this.values.push(text.slice(at, next === -1 ? undefined : next).trimStart());
        at = next === -1 ? text.length + 1 : next + 1;
      }
    }
    if (at === wrongQuote) return 'faulty';
    if (this.#open === undefined) return 'whole';
    this.#open += end;
    return 'open';
  }

  /** Adds to the open value. Returns where the next one begins: after the text where it has none; or wrongQuote. */
  #addQuoted(text: string, from: number, delimiter: string): number {
    let close = text.indexOf('"', from);
    while (text[close + 1] === '"' && close !== -1) close = text.indexOf('"', close + 2);
    this.#open += text.slice(from, close === -1 ? undefined : close).replaceAll('""', '"');
    if (close === -1) return text.length + 1;
    this.values.push(this.#open ?? '');
    this.#open = undefined;
    const next = skipBlanks(text, close + 1, delimiter);
    return next === text.length || text[next] === delimiter ? next + 1 : wrongQuote;
  }
}

const wrongQuote = -1;

function skipBlanks(text: string, from: number, delimiter: string): number {
  let at = from;
  while (text[at] !== delimiter && (text[at] === ' ' || text[at] === '\t')) at++;
  return at;
}
