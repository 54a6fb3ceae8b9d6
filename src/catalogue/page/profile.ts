import { type AccountId, parseAccountId } from '../../bot/account.ts';
import type { ProfileFile } from '../../bot/schema-types.ts';
import { createLocator } from '../../lib/edit-json.ts';
import { readStrictJson } from '../../lib/strict-json.ts';
import { createFileFault, type Fault, findPosition } from './fault.ts';
import { findEncodingFault } from './page.ts';
import { formatPlace } from './rules.ts';
import { validate } from './schema.ts';

/** The folder of the profiles of authors, beside `bots/`. */
export const peopleFolder = 'people';

/** What an author is called on the site. */
export type Profile = Required<ProfileFile>;

/** A file that was read: its value, or what is wrong with it. */
export type Parsed<T> = { readonly value: T } | { readonly faults: readonly Fault[] };

/** Returns the account that the name of a file in `people/` is of; undefined where it is no such name. */
export function parseProfileName(name: string): AccountId | undefined {
  return name.endsWith('.json') ? parseAccountId(name.slice(0, -'.json'.length)) : undefined;
}

/** Parses the profile at `people/<name>`. Finds all faults at once; never throws. */
export function parseProfile(name: string, bytes: Buffer): Parsed<Profile> {
  const path = `${peopleFolder}/${name}`;
  const refuse = (rule: string, message: string): Parsed<Profile> => {
    return { faults: [createFileFault(path, rule, message)] };
  };
  if (parseProfileName(name) === undefined)
    return refuse(
      'stray-file',
      `this is not a profile: name it ${peopleFolder}/<account>.json, or remove it`,
    );
  if (bytes.length > maxProfileSize)
    return refuse('file-size', `the file has more than ${maxProfileSize} bytes: shorten it`);
  const fault = findEncodingFault(path, bytes);
  if (fault !== undefined) return { faults: [fault] };
  const text = bytes.toString();
  const at = (offset: number, rule: string, message: string): Fault => {
    return { path, ...findPosition(text, offset), rule, message };
  };
  const read = readStrictJson(text, 'the file');
  if ('faults' in read)
    return { faults: read.faults.map(({ offset, rule, message }) => at(offset, rule, message)) };
  const offsetOf = createLocator(text);
  const faults = validate('profile', read.data).map(({ place, keyword, atKey, message }) =>
    at(offsetOf([...place], atKey), keyword, `${formatPlace(place)}${message}`),
  );
  if (faults.length > 0) return { faults };
  return { value: { website: null, description: {}, ...(read.data as unknown as ProfileFile) } };
}

/** Bytes: a hundred descriptions, and more. */
const maxProfileSize = 128 * 1024;
