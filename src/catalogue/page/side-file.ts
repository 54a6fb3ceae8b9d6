import type { ProfileFile, CollectionFile } from '../../../schemas/types.ts';
import { type AccountId, parseAccountId } from '../../bot/commit-message.ts';
import type { BotId } from '../../bot/id.ts';
import { type Locale, parseLocale } from '../../bot/locale.ts';
import { type SchemaName } from '../../bot/schemas.ts';
import { validate, formatPlace } from '../../bot/validate.ts';
import { UserError } from '../../lib/errors.ts';
import { createLocator, readStrictJson } from '../../lib/json.ts';
import { createFileFault, type Fault, findPosition } from './fault.ts';
import { findEncodingFault, type Page, parsePage } from './page.ts';

/** A parsed file: its value or its faults. */
export type Parsed<T> = { readonly value: T } | { readonly faults: readonly Fault[] };

/** Returns the value of a file. @throws {UserError} when the file has faults */
export function ensureValid<T>(parsed: Parsed<T>): T {
  if ('value' in parsed) return parsed.value;
  const faults = parsed.faults.map(
    ({ path, line, column, message }) => `${path}:${line}:${column} ${message}`,
  );
  throw new UserError(faults.join('\n'));
}

/** A JSON file that is valid by its schema. */
interface JsonFile<T> {
  readonly data: T;
  readonly text: string;
  /** Returns a fault at a value, or at its key. The message begins with the path of keys and indices. */
  readonly faultAt: Page['faultAt'];
}

/**
 * Parses a JSON file of the catalogue, such as the settings or a profile, by its schema and finds all faults; never throws.
 * @param path the path in faults
 * @param reading the bytes, or why the file cannot be read
 * @param options the maximum number of bytes, and of levels of objects and lists; the previous value, as in `validate`
 */
export function parseJsonFile<T>(
  schema: SchemaName,
  path: string,
  reading: Buffer | string,
  { maxSize, maxDepth, former }: { maxSize: number; maxDepth?: number; former?: unknown },
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

/** A profile, with defaults for missing keys. */
export type Profile = Required<ProfileFile>;

/** Returns the account of a profile from the name of its file in `people/`; undefined for other names. */
export function parseProfileName(name: string): AccountId | undefined {
  return name.endsWith('.json') ? parseAccountId(name.slice(0, -'.json'.length)) : undefined;
}

/** Parses the profile at `people/<name>` and finds all faults; never throws. @param former as in `validate` */
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

/** In bytes; enough for a hundred descriptions. */
const maxProfileSize = 128 * 1024;

/** The folder of the collections, next to `bots/`. */
export const collectionsFolder = 'collections';

/** A list of recommended bots. */
export interface Collection {
  /** Lower-case letters, digits and hyphens. */
  readonly name: string;
  /** In their order; some may no longer be listed. */
  readonly bots: readonly BotId[];
  /** The account that chose the bots; undefined if the file does not name it. */
  readonly by: AccountId | undefined;
  /** The language of the file that lists the bots. */
  readonly locale: Locale;
  /** The texts by language; `locale` comes first. */
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
export interface CollectionPage extends CollectionText, Pick<Collection, 'by'> {
  readonly bots: readonly BotId[] | null;
  /** Returns a fault at one bot of the list. */
  faultAt(place: number, rule: string, message: string): Fault;
}

/** Returns the path of a file of a collection, relative to the catalogue's folder. */
export function formatCollectionPath(name: string, locale: Locale): string {
  return `${collectionsFolder}/${name}.${locale}.md`;
}

/**
 * Returns the collection and language of a file in `collections/` from its name; undefined for other names, and for
 * names that Windows does not allow.
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

/** Parses the file at `collections/<file>` and finds all faults; never throws. */
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
  const { title, description, bots = null, by } = page.data as unknown as CollectionFile;
  const faultAt: CollectionPage['faultAt'] = (place, rule, message) =>
    page.faultAt(['bots', place], rule, message);
  const chosen = { bots: bots as BotId[] | null, by: by as AccountId | undefined };
  return { value: { title, description, ...chosen, page: page.page, faultAt } };
}

/**
 * Groups files to collections. Of each, exactly one file must list the bots; else the collection is left out and has a
 * fault.
 * @param files by name
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
      .flatMap(([locale, { bots, by }]) => bots && { locale, bots, by })
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
