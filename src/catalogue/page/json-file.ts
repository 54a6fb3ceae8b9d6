import type { SchemaName } from '../../bot/schemas.ts';
import { createLocator } from '../../lib/edit-json.ts';
import { UserError } from '../../lib/errors.ts';
import { readStrictJson } from '../../lib/strict-json.ts';
import { createFileFault, type Fault, findPosition } from './fault.ts';
import { findEncodingFault } from './page.ts';
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
  /** Returns a fault at the value, or the key, that a path of keys and indices leads to. */
  readonly faultAt: (
    place: readonly (string | number)[],
    rule: string,
    message: string,
    atKey?: boolean,
  ) => Fault;
}

/**
 * Parses a file by its schema. Finds all faults at once; never throws.
 * @param path what faults name
 */
export function parseJsonFile<T>(
  schema: SchemaName,
  path: string,
  bytes: Buffer,
  maxSize: number,
): Parsed<JsonFile<T>> {
  const sizeMessage = `the file has more than ${maxSize} bytes: shorten it`;
  const fault =
    bytes.length > maxSize ? createFileFault(path, 'file-size', sizeMessage) : findEncodingFault(path, bytes);
  if (fault !== undefined) return { faults: [fault] };
  const text = bytes.toString();
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
