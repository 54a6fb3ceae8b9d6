import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, parse as parsePath, relative } from 'node:path';
import { isScalar, parseDocument, visit } from 'yaml';
import { createSizeFault, maxFileSize, splitFrontMatter } from '../catalogue/page/page.ts';
import { messageOf, UserError } from '../lib/errors.ts';
import { quoteValue } from '../lib/quote-value.ts';
import { findDuplicateKey } from '../lib/strict-json.ts';
import { decodeText, readLines } from './read-lines.ts';
import { readTable } from './read-table.ts';

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

/** Parses YAML. @throws {Error} for text that is none, and for a key that is there twice */
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

/** Returns the fields that a record has, with others beside them, or why it cannot be read. */
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
