import type { BotId } from '../../bot/id.ts';
import { type Locale, chooseLocale } from '../../bot/locale.ts';
import type { Collection, CollectionText } from '../../catalogue/page/side-file.ts';
import type { AuthorIndex } from '../../catalogue/lists/authors.ts';
import { type BotIndex, type IndexedBot, parseListElement } from '../../catalogue/store/bot-index.ts';
import { ProblemError } from '../../http/problem.ts';
import { withoutBidiControls } from '../../lib/text.ts';
import { toCollectionPath } from '../page/addresses.ts';
import { listNamedAuthors } from '../page/elements.tsx';
import type { PageParts } from '../page/page-context.tsx';
import { findMainCategory, type ShelfTileProps } from './card.tsx';

/** The parts of the service that pages with collections depend on. */
export type CollectionParts = Pick<PageParts, 'bots' | 'collections'>;

/** A collection in a reader's language. */
export interface ShownCollection extends CollectionText {
  readonly name: string;
  readonly locale: Locale;
}

/** A collection that pages link to, with its bots. */
export interface LinkedCollection {
  readonly collection: Collection;
  readonly listed: readonly IndexedBot[];
}

/** Returns the collection of a path. @throws {ProblemError} not-found */
export function findCollection({ all }: CollectionParts['collections'], name: string): Collection {
  const collection = all.get(name);
  if (collection !== undefined) return collection;
  throw new ProblemError('not-found', `there is no collection ${JSON.stringify(name.slice(0, 60))}`);
}

/** Returns the bots of a collection that are listed and not for adults, in its order. */
export function findListedBots(collection: Collection, bots: BotIndex): IndexedBot[] {
  return collection.bots.flatMap((id) => bots.get(id) ?? []).filter(({ facts }) => !facts.nsfw);
}

/** Returns the collections that pages link to: those with enough bots to show. @param having a bot that each of them has */
export function listLinkedCollections(
  { collections, bots }: CollectionParts,
  having?: BotId,
): LinkedCollection[] {
  return [...collections.all.values()]
    .filter((collection) => having === undefined || collection.bots.includes(having))
    .map((collection) => ({ collection, listed: findListedBots(collection, bots) }))
    .filter(({ listed }) => listed.length >= minListed);
}

/** Pages do not link to a collection with fewer bots. */
export const minListed = 2;

/** Shows a collection in the best of the wanted languages, or else in its main language. */
export function showCollection({ name, contents }: Collection, wanted: readonly string[]): ShownCollection {
  const locale = chooseLocale([...contents.keys()], wanted) as Locale;
  const { title, description, page } = contents.get(locale) as CollectionText;
  const visible = { title: withoutBidiControls(title), description: withoutBidiControls(description) };
  return { name, locale, ...visible, page };
}

/** Returns the tile of a collection, in the colour that most of its bots have. @param wanted languages, best first */
export function toCollectionTile(
  { collection, listed }: LinkedCollection,
  wanted: readonly string[],
  authors: AuthorIndex,
): ShelfTileProps {
  const { name, locale, title, description } = showCollection(collection, wanted);
  return {
    path: toCollectionPath(name),
    title,
    locale,
    line: description,
    count: listed.length,
    by: listNamedAuthors(authors, [collection.by ?? ''])[0]?.name,
    category: findMainCategory(listed),
    bots: listed.slice(0, maxAvatars).map(parseListElement),
  };
}

const maxAvatars = 5;
