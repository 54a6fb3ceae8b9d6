import type { ProfileFile, CollectionFile } from '../../../schemas/types.ts';
import { type AccountId, parseAccountId } from '../../bot/commit-message.ts';
import type { BotId } from '../../bot/id.ts';
import { type Locale, parseLocale } from '../../bot/locale.ts';
import type { SchemaName } from '../../bot/schemas.ts';
import { UserError } from '../../lib/errors.ts';
import { createLocator, readStrictJson } from '../../lib/json.ts';
import { createFileFault, type Fault, findPosition, validate, formatPlace } from './fault.ts';
import { findEncodingFault, type Page, parsePage } from './page.ts';

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
interface JsonFile<T> {
  readonly data: T;
  readonly text: string;
  /** Returns a fault at the value, or the key, that a path of keys and indices leads to. The message names it. */
  readonly faultAt: Page['faultAt'];
}

interface JsonFileOptions {
  /** Bytes. */
  readonly maxSize: number;
  /** Levels of objects and lists. */
  readonly maxDepth?: number;
  /** As of validate. */
  readonly former?: unknown;
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
  { maxSize, maxDepth, former }: JsonFileOptions,
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
  const read = readStrictJson(text, 'the file', maxDepth);
  if ('faults' in read)
    return { faults: read.faults.map(({ offset, rule, message }) => at(offset, rule, message)) };
  const offsetOf = createLocator(text);
  const faultAt: JsonFile<T>['faultAt'] = (place, rule, message, atKey) =>
    at(offsetOf([...place], atKey), rule, `${formatPlace(place)}${message}`);
  const faults = validate(schema, read.data, null, former).map(({ place, keyword, atKey, message }) =>
    faultAt(place, keyword, message, atKey),
  );
  return faults.length > 0 ? { faults } : { value: { data: read.data as T, text, faultAt } };
}

/** The folder of the profiles of authors, next to `bots/`. */
export const peopleFolder = 'people';

/** What an author is called on the site. */
export type Profile = Required<ProfileFile>;

/** Returns the account that the name of a file in `people/` is of; undefined if it is no such name. */
export function parseProfileName(name: string): AccountId | undefined {
  return name.endsWith('.json') ? parseAccountId(name.slice(0, -'.json'.length)) : undefined;
}

/** Parses the profile at `people/<name>`. Finds all faults at once; never throws. @param former as of validate */
export function parseProfile(name: string, bytes: Buffer, former?: unknown): Parsed<Profile> {
  const path = `${peopleFolder}/${name}`;
  if (parseProfileName(name) === undefined) {
    const message = `this is not a profile: name it ${peopleFolder}/<account>.json, or remove it`;
    return { faults: [createFileFault(path, 'stray-file', message)] };
  }
  const parsed = parseJsonFile<ProfileFile>('profile', path, bytes, { maxSize: maxProfileSize, former });
  if ('faults' in parsed) return parsed;
  return { value: { website: null, description: {}, ...parsed.value.data } };
}

/** Bytes: a hundred descriptions, and more. */
const maxProfileSize = 128 * 1024;

/** The folder of the collections, next to `bots/`. */
export const collectionsFolder = 'collections';

/** Bots that somebody recommends together. */
export interface Collection {
  /** Lower-case letters, digits and hyphens. */
  readonly name: string;
  /** Those that are listed now and others, in their order. */
  readonly bots: readonly BotId[];
  /** The language of the file that has the bots. */
  readonly locale: Locale;
  /** That language first. */
  readonly contents: ReadonlyMap<Locale, CollectionText>;
}

/** A collection in one language. */
export interface CollectionText {
  readonly title: string;
  readonly description: string;
  /** Markdown; may be empty. */
  readonly page: string;
}

/** One file of a collection. */
export interface CollectionPage extends CollectionText {
  readonly bots: readonly BotId[] | null;
  /** Returns a fault at a bot of the list. */
  faultAt(place: number, rule: string, message: string): Fault;
}

/** Returns the path of a file of a collection, relative to the catalogue's folder. */
export function formatCollectionPath(name: string, locale: Locale): string {
  return `${collectionsFolder}/${name}.${locale}.md`;
}

/**
 * Returns the collection and the language that a name of a file in `collections/` is of; undefined if it is no such name,
 * or one that Windows cannot have.
 */
export function parseCollectionName(
  file: string,
): { readonly name: string; readonly locale: Locale } | undefined {
  const [, name, tag = ''] =
    /^((?!(?:con|prn|aux|nul|com\d|lpt\d)\.)[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?)\.([A-Za-z0-9-]{1,35})\.md$/.exec(
      file,
    ) ?? [];
  const locale = parseLocale(tag);
  return name === undefined || typeof locale !== 'string' ? undefined : { name, locale };
}

/** Parses the file at `collections/<file>`. Finds all faults at once; never throws. */
export function parseCollectionPage(file: string, bytes: Buffer): Parsed<CollectionPage> {
  const path = `${collectionsFolder}/${file}`;
  if (parseCollectionName(file) === undefined) {
    const message = `this is not a collection: name it ${collectionsFolder}/<name>.<locale>.md, the name of lower-case letters, digits and hyphens, or remove it`;
    return { faults: [createFileFault(path, 'stray-file', message)] };
  }
  const { page, faults } = parsePage(path, bytes);
  if (page === undefined) return { faults };
  const all = [
    ...validate('collection', page.data).map(({ place, keyword, atKey, message }) =>
      page.faultAt(place, keyword, `${formatPlace(place)}${message}`, atKey),
    ),
    ...validate('page', page.page).map(({ keyword, message }) =>
      createFileFault(path, keyword, `the text below the front matter: ${message}`),
    ),
  ];
  if (all.length > 0) return { faults: all };
  const { title, description, bots = null } = page.data as unknown as CollectionFile;
  const faultAt: CollectionPage['faultAt'] = (place, rule, message) =>
    page.faultAt(['bots', place], rule, message);
  return { value: { title, description, bots: bots as BotId[] | null, page: page.page, faultAt } };
}

/**
 * Puts the files of collections together. One without exactly one list of bots is left out, and has a fault.
 * @param files by their names
 */
export function assembleCollections(files: ReadonlyMap<string, CollectionPage>): {
  readonly collections: ReadonlyMap<string, Collection>;
  readonly faults: readonly Fault[];
} {
  const groups = new Map<string, Map<Locale, CollectionPage>>();
  for (const [file, page] of [...files].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const place = parseCollectionName(file);
    if (place === undefined) continue;
    const pages = groups.get(place.name) ?? new Map<Locale, CollectionPage>();
    groups.set(place.name, pages.set(place.locale, page));
  }
  const collections = new Map<string, Collection>();
  const faults: Fault[] = [];
  const addFault = (name: string, locale: Locale, message: string): void => {
    faults.push(createFileFault(formatCollectionPath(name, locale), 'one-list-of-bots', message));
  };
  for (const [name, contents] of groups) {
    const [main, ...others] = [...contents]
      .flatMap(([locale, { bots }]) => bots && { locale, bots })
      .filter((list) => list !== null);
    for (const { locale } of others)
      addFault(
        name,
        locale,
        `${formatCollectionPath(name, main?.locale ?? locale)} has "bots" too: keep them in one file`,
      );
    if (main === undefined)
      for (const locale of contents.keys())
        addFault(name, locale, 'no file of this collection has "bots": add the ids to one of them');
    else if (others.length === 0) {
      const mainFirst = [...contents].toSorted(
        ([a], [b]) => Number(b === main.locale) - Number(a === main.locale),
      );
      collections.set(name, { name, ...main, contents: new Map(mainFirst) });
    }
  }
  return { collections, faults };
}
