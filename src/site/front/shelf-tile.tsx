import type { VNode } from 'preact';
import type { BotListElement, Category } from '../../../schemas/types.ts';
import { type Locale, directionOf } from '../../bot/locale.ts';
import type { AuthorIndex } from '../../catalogue/lists/authors.ts';
import { type IndexedBot, parseListElement } from '../../catalogue/store/bot-index.ts';
import { toCollectionPath } from '../page/addresses.ts';
import { listNamedAuthors, toCategoryClass } from '../page/elements.tsx';
import { useLanguage } from '../page/page-context.tsx';
import { Ledge } from './card.tsx';
import { type LinkedCollection, showCollection } from './collections.ts';

/** A category or a collection, with the avatars of its first bots on a plank. */
export interface ShelfTileProps {
  readonly path: string;
  readonly title: string;
  /** The language of the title and the line, if it may not be that of the page. */
  readonly locale?: Locale;
  readonly line?: string;
  /** The number of bots. */
  readonly count: number;
  /** The name of the person who chose the bots. */
  readonly by?: string | undefined;
  /** The category whose colour the tile has. */
  readonly category: Category;
  /** The first of the bots. */
  readonly bots: readonly BotListElement[];
}

interface ShelvesProps {
  /** With a path of its own each. */
  readonly tiles: readonly ShelfTileProps[];
  /** The level of the headings. */
  readonly heading: 'h2' | 'h3';
  /** Whether the tiles are small, with the number of bots next to the title. */
  readonly isSmall?: boolean;
}

/** Links to categories or collections as tiles. */
export function Shelves({ tiles, heading, isSmall = false }: ShelvesProps): VNode {
  return (
    <ul class={isSmall ? 'shelves small' : 'shelves'}>
      {tiles.map((tile) => (
        <li key={tile.path}>
          <ShelfTile {...tile} {...{ heading, isSmall }} />
        </li>
      ))}
    </ul>
  );
}

function ShelfTile(props: ShelfTileProps & Omit<ShelvesProps, 'tiles'>): VNode {
  const { path, title, locale, line, count, by, category, bots, heading: Heading, isSmall } = props;
  const { t, href, integer } = useLanguage();
  const own = locale && { lang: locale, dir: directionOf(locale) };
  return (
    <a class={toCategoryClass(category)} href={href(path)}>
      <Ledge bots={bots} size={isSmall ? 46 : 64} />
      <Heading>
        <span {...own}>{title}</span>
        {isSmall && <span class="of-many">{integer(count)}</span>}
      </Heading>
      {line && (
        <p class={isSmall ? undefined : 'about'} {...own}>
          {line}
        </p>
      )}
      {!isSmall && (
        <p>
          {t('list.found', { count })}
          {by !== undefined && <> · {t('collections.by', { name: <bdi>{by}</bdi> })}</>}
        </p>
      )}
    </a>
  );
}

const maxAvatars = 5;

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

/** Returns the most frequent category of bots; of several, the first. */
export function findMainCategory(bots: readonly Pick<IndexedBot, 'facts'>[]): Category {
  const counts = new Map<Category, number>();
  for (const { facts } of bots) counts.set(facts.category, (counts.get(facts.category) ?? 0) + 1);
  const [first] = [...counts].toSorted(([, a], [, b]) => b - a);
  return first?.[0] ?? 'other';
}
