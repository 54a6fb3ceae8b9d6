import { type AccountId, parseAccountId } from '../../bot/account.ts';
import type { ProfileFile } from '../../bot/schema-types.ts';
import { createFileFault } from './fault.ts';
import { type Parsed, parseJsonFile } from './json-file.ts';

/** The folder of the profiles of authors, beside `bots/`. */
export const peopleFolder = 'people';

/** What an author is called on the site. */
export type Profile = Required<ProfileFile>;

/** Returns the account that the name of a file in `people/` is of; undefined where it is no such name. */
export function parseProfileName(name: string): AccountId | undefined {
  return name.endsWith('.json') ? parseAccountId(name.slice(0, -'.json'.length)) : undefined;
}

/** Parses the profile at `people/<name>`. Finds all faults at once; never throws. */
export function parseProfile(name: string, bytes: Buffer): Parsed<Profile> {
  const path = `${peopleFolder}/${name}`;
  if (parseProfileName(name) === undefined) {
    const message = `this is not a profile: name it ${peopleFolder}/<account>.json, or remove it`;
    return { faults: [createFileFault(path, 'stray-file', message)] };
  }
  const parsed = parseJsonFile<ProfileFile>('profile', path, bytes, maxProfileSize);
  if ('faults' in parsed) return parsed;
  return { value: { website: null, description: {}, ...parsed.value.data } };
}

/** Bytes: a hundred descriptions, and more. */
const maxProfileSize = 128 * 1024;
