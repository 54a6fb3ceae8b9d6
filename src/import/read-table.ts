import { basename } from 'node:path';
import { UserError } from '../lib/errors.ts';
import { quoteValue } from '../lib/quote-value.ts';
import { type SourceLine, maxRecordLength, readLines } from './read-lines.ts';
import type { ReportNote, SourceRecord } from './read-records.ts';

/**
 * Reads the records of a table in CSV (RFC 4180) with any separator. A value that begins with a quote ends with a quote
 * and a separator: of other rows, and of all lines that they may have swallowed, each line is refused.
 * @throws {UserError} for faulty names of columns
 */
export async function* readTable(path: string, note: ReportNote): AsyncGenerator<SourceRecord> {
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
