import type { SchemaName } from '../../bot/schemas.ts';
import { createLocator } from '../../lib/edit-json.ts';
import { UserError } from '../../lib/errors.ts';
import { readStrictJson } from '../../lib/strict-json.ts';
import { createFileFault, type Fault, findPosition } from './fault.ts';
import { findEncodingFault, type Page } from './page.ts';
import { formatPlace } from './rules.ts';
import { validate } from './schema.ts';

/** A file that was read: its value, or what is wrong with it. */
export type Parsed<T> = { readonly value: T } | { readonly faults: readonly Fault[] };

/** Returns the content of the file. @throws {UserError} where it has faults */
export function ensureValid<T>(parsed: Parsed<T>): T {
  if ('value' in parsed) return parsed.value;
  const faults = parsed.faults.map(
    ({ path, line, column, message }) => `${path}:${line}:${column} ${message}`,
  );
  throw new UserError(faults.join('\n'));
}

/** A file that is JSON and fits its schema. */
export interface JsonFile<T> {
  readonly data: T;
  readonly text: string;
  /** Returns a fault at the value, or the key, that a path of keys and indices leads to. The message names it. */
  readonly faultAt: Page['faultAt'];
}

/**
 * Parses a file by its schema. Finds all faults at once; never throws.
 * @param path what faults name
 * @param reading its bytes, or why it cannot be read
 */
export function parseJsonFile<T>(
  schema: SchemaName,
  path: string,
  reading: Buffer | string,
  maxSize: number,
): Parsed<JsonFile<T>> {
  const refuse = (rule: string, message: string) => ({ faults: [createFileFault(path, rule, message)] });
  if (typeof reading === 'string') return refuse('regular-file', reading);
  if (reading.length > maxSize)
    return refuse('file-size', `the file has more than ${maxSize} bytes: shorten it`);
  const fault = findEncodingFault(path, reading);
  if (fault !== undefined) return { faults: [fault] };
  const text = reading.toString();
  const at = (offset: number, rule: string, message: string): Fault => {
    return { path, ...findPosition(text, offset), rule, message };
  };
  const read = readStrictJson(text, 'the file');
  if ('faults' in read)
    return { faults: read.faults.map(({ offset, rule, message }) => at(offset, rule, message)) };
  const offsetOf = createLocator(text);
  const faultAt: JsonFile<T>['faultAt'] = (place, rule, message, atKey) =>
    at(offsetOf([...place], atKey), rule, `${formatPlace(place)}${message}`);
  const faults = validate(schema, read.data).map(({ place, keyword, atKey, message }) =>
    faultAt(place, keyword, message, atKey),
  );
  return faults.length > 0 ? { faults } : { value: { data: read.data as T, text, faultAt } };
}
