import type { BotId } from '../../bot/id.ts';
import { type Locale, parseLocale } from '../../bot/locale.ts';
import type { CollectionFile } from '../../bot/schema-types.ts';
import { createFileFault, type Fault } from './fault.ts';
import { parsePage } from './page.ts';
import type { Parsed } from './json-file.ts';
import { formatPlace } from './rules.ts';
import { validate } from './schema.ts';

/** The folder of the collections, beside `bots/`. */
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
 * Returns the collection and the language that a name of a file in `collections/` is of; undefined where it is no such name,
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
