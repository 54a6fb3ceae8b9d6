import { createReadStream, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, parse as parsePath, relative } from 'node:path';
import { finished } from 'node:stream/promises';
import { type Options, parse as createParser } from 'csv-parse';
import { parse as parseYaml } from 'yaml';
import { createSizeFault, maxFileSize, splitFrontMatter } from '../catalogue/page/page.ts';
import { messageOf, UserError } from '../lib/errors.ts';

/** The fields of a record by their names, with anything in them. */
export type SourceFields = Readonly<Record<string, unknown>>;

/** A record of a list. */
export interface SourceRecord {
  /** Where it is in the source, such as `bots.csv:12`. */
  readonly place: string;
  /** A text says why it cannot be read. */
  readonly fields: SourceFields | string;
}

/**
 * Reads the records of a list. Of CSV and NDJSON a piece is in memory, of JSON the whole document.
 * @throws {UserError} for what is no list
 */
export async function* readRecords(path: string): AsyncGenerator<SourceRecord> {
  let names: readonly string[] | undefined;
  if (statSync(path).isDirectory()) yield* readPageFolder(path);
  else if (/\.json$/i.test(path)) yield* readDocument(path);
  else if (/\.(?:ndjson|jsonl)$/i.test(path))
    // A character that is nowhere in JSON.
    yield* readRows(path, { delimiter: '\u0001', quote: null }, (values) =>
      toFields(() => [parseJson(values.join('?'))]),
    );
  else if (/\.[ct]sv$/i.test(path))
    yield* readRows(path, {}, (values) => {
      if (names !== undefined) return toCells(names, values);
      names = values.map((name) => name.trim());
      return undefined;
    });
  else
    throw new UserError(`${path} is of an unknown kind: pass .csv, .tsv, .json, .ndjson, .jsonl or a folder`);
}

function toCells(names: readonly string[], values: readonly string[]): SourceRecord['fields'] {
  if (values.length !== names.length)
    return `there are ${values.length} values for ${names.length} columns: quote those with a separator in them`;
  if (values.some((value) => value.includes('\uFFFD'))) return 'this is not UTF-8: save the file as UTF-8';
  return Object.fromEntries(names.map((name, i) => [name, values[i]]));
}

/** Reads rows of values. The last record may say why the rest cannot be read. @param parse undefined is no record */
async function* readRows(
  path: string,
  options: Options,
  parse: (values: readonly string[]) => SourceRecord['fields'] | undefined,
): AsyncGenerator<SourceRecord> {
  const rows: SourceRecord[] = [];
  let parser: ReturnType<typeof createParser> | undefined;
  let [end, extra] = [0, 0];
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    parser ??= createParser({
      bom: true,
      delimiter: findDelimiter(chunk.toString()),
      record_delimiter: ['\r\n', '\n', '\r'],
      ltrim: true,
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: maxRecordLength,
      on_record: (values: string[], { lines }) => {
        const [text, fields] = [values.join(''), parse(values)];
        // The parser counts these as two lines where they are in quotes.
        extra += text.split('\r\n').length - 1;
        end = lines - extra;
        const place = `${basename(path)}:${end - text.split(lineBreak).length + 1}`;
        if (fields !== undefined) rows.push({ place, fields });
        return null;
      },
      ...options,
    })
      .on('error', () => {})
      .resume();
    parser.write(chunk);
    yield* rows.splice(0);
    if (parser.errored) break;
  }
  await (parser && finished(parser.end()).catch(() => {}));
  yield* rows;
  if (!parser?.errored) return;
  const fields = `${parser.errored.message}: look for a quote that is not closed from here on, the rest was not read`;
  yield { place: `${basename(path)}:${end + 1}`, fields };
}

/** The largest row, in characters: a line of an export has all pages of a bot. */
const maxRecordLength = 16 * 1024 * 1024;

const lineBreak = /\r\n|\n|\r/;

/** Returns what is most often between the names of the columns. */
function findDelimiter(text: string): string {
  const [head = ''] = text.replaceAll(/"[^"]*"/g, '').split(lineBreak, 1);
  const count = (delimiter: string): number => head.split(delimiter).length;
  return [',', ';', '\t'].reduce((a, b) => (count(b) > count(a) ? b : a));
}

/** Reads a list of records, an object whose values are records, or an object with one list. @throws {UserError} */
function* readDocument(path: string): Generator<SourceRecord> {
  const read = toFields(() => [{ document: parseJson(readFileSync(path, 'utf8')) }]);
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
function* readPageFolder(path: string): Generator<SourceRecord> {
  const files = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /.\.(?:md|ya?ml|json)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.toSorted())
    yield { place: relative(dirname(path), file), fields: toFields(() => readRecordFile(file)) };
}

function readRecordFile(path: string): readonly [fields: unknown, others: SourceFields] {
  if (statSync(path).size > maxFileSize) throw new Error(createSizeFault(path).message);
  const { name: file, ext } = parsePath(path);
  const text = readFileSync(path, 'utf8');
  const { frontMatter, markdown: body } =
    ext === '.md' ? splitFrontMatter(text) : { frontMatter: text, markdown: undefined };
  if (/^\s*\{/.test(frontMatter)) return [parseJson(frontMatter), { file, body }];
  // Keys that are compared with each other take quadratic time.
  const options = { intAsBigInt: true, uniqueKeys: false, logLevel: 'error' } as const;
  return [parseYaml(frontMatter, options), { file, body }];
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

/** Parses JSON. An integer that would lose digits becomes a text. @throws {SyntaxError} */
function parseJson(text: string): unknown {
  return JSON.parse(text.replace(/^\uFEFF/, '').replace(stringOrNumber, quoteLongInteger));
}

const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/gs;

function quoteLongInteger(token: string): string {
  return /^-?\d{16,}$/.test(token) ? `"${token}"` : token;
}
