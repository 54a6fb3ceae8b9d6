import type { VNode } from 'preact';
import type { Category } from '../../../schemas/types.ts';
import type { Locale } from '../../bot/locale.ts';
import type { CatalogueSizes } from '../../catalogue/lists/lists.ts';
import { directionOf } from '../language/locales.ts';
import { useLanguage } from '../language/page-language.tsx';
import { collectionsPath } from '../page/addresses.ts';
import { Layout, type PageProps, SearchForm } from '../page/layout.tsx';
import { Cards, type ListedBot } from './card.tsx';
import { type FrontQuery, formatFrontPath, noQuery } from './front-query.ts';
import { createListMeta } from './list-page.tsx';

/** With the sizes of the catalogue without the bots for adults. */
interface FrontPageProps extends PageProps, CatalogueSizes {
  readonly query: FrontQuery;
  readonly shelves: readonly ShownShelf[];
  readonly hasCollections: boolean;
  /** Searches that find bots. */
  readonly examples: readonly string[];
}

/** Some bots of a list or a collection. */
interface ShownShelf {
  readonly id: string;
  readonly title: string;
  /** The language of the title, where that is not the one of the page. */
  readonly locale?: Locale;
  /** The public path of the whole list; undefined if all is shown. */
  readonly path: string | undefined;
  readonly bots: readonly ListedBot[];
}

/** What a visitor sees first: a search, the largest categories, and shelves of bots. */
export function FrontPage(props: FrontPageProps): VNode {
  const { site, viewer, query, total, locales, shelves, hasCollections } = props;
  const language = useLanguage();
  const { t, text, href } = language;
  const { name, tagline, language: standard } = site.settings;
  const pathIn = (locale: Locale): string => formatFrontPath({ ...query, locale });
  const description = tagline ?? text('front.title');
  const meta = createListMeta({ site, query: noQuery, title: name, description, language });
  return (
    <Layout {...{ site, viewer, pathIn, isFront: true, meta }}>
      <div class="hero">
        {tagline === null ? (
          <h1>{t('front.title')}</h1>
        ) : (
          <h1 lang={standard} dir={directionOf(standard)}>
            {tagline}
          </h1>
        )}
        <p>{t('front.line', { count: total, languages: locales.size })}</p>
        <SearchForm q="" />
        <Examples {...props} />
      </div>
      <Tiles {...props} />
      {shelves.map(({ id, title, locale, path, bots }, i) => (
        <section key={id} class="shelf" aria-labelledby={id}>
          <div class="shelf-head">
            <h2 id={id} lang={locale} dir={locale && directionOf(locale)}>
              {title}
            </h2>
            {path !== undefined && (
              <a href={path}>
                {t('shelf.seeAll')}
                <span class="out-of-sight">
                  : <bdi lang={locale}>{title}</bdi>
                </span>
              </a>
            )}
          </div>
          <Cards bots={bots} heading="h3" atOnce={i === 0 ? cardsAtOnce : 0} />
        </section>
      ))}
      {hasCollections && (
        <p class="shelf">
          <a href={href(collectionsPath)}>{t('collections.all')}</a>
        </p>
      )}
      {total === 0 && (
        <div class="empty">
          <h2>{t('list.empty')}</h2>
          <p>{t('list.emptyAdvice')}</p>
          {site.hasForms && (
            <a class="button" href={href('/add')}>
              {t('layout.add')}
            </a>
          )}
        </div>
      )}
    </Layout>
  );
}

/** The cards that a screen shows without scrolling. */
const cardsAtOnce = 3;

function Examples({ query, examples }: FrontPageProps): VNode | null {
  const { t, publicPath } = useLanguage();
  if (examples.length < minExamples) return null;
  return (
    <ul class="examples">
      <li>{t('front.examples')}</li>
      {examples.map((q) => (
        <li key={q}>
          <a href={publicPath(formatFrontPath({ ...noQuery, locale: query.locale, q }))}>{q}</a>
        </li>
      ))}
    </ul>
  );
}

const minExamples = 3;

/** The categories with most bots. */
function Tiles({ query, categories }: FrontPageProps): VNode | null {
  const { t, text, publicPath, categories: known, categoryName } = useLanguage();
  const named = [...categories].filter(([id]) => id !== 'other' && known.includes(id));
  const largest = named.toSorted(([, a], [, b]) => b - a);
  if (largest.length === 0) return null;
  return (
    <nav aria-label={text('list.categories')}>
      <ul class="tiles">
        {largest.slice(0, maxTiles).map(([category, count]) => (
          <li key={category}>
            <a href={publicPath(formatFrontPath({ ...query, category }))}>
              <CategoryIcon category={category} />
              <strong>{categoryName(category)}</strong>
              <small>{t('list.found', { count })}</small>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

const maxTiles = 6;

/** A sign of a category; its name is next to it. */
function CategoryIcon({ category }: { readonly category: Category }): VNode {
  return (
    <svg class="icon" width="24" height="24" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths.get(category) ?? paths.get('other')} />
    </svg>
  );
}

/** Lines in a square of 24 units. */
const paths: ReadonlyMap<Category, string> = new Map(
  Object.entries({
    education: 'M2 9l10-5 10 5-10 5zM6 11v5c3 3 9 3 12 0v-5',
    entertainment: 'M3 6h18v12H3zM3 10h18M8 6l-2 4M14 6l-2 4M20 6l-2 4',
    fun: 'M12 3a9 9 0 100 18 9 9 0 000-18M8 14c2 3 6 3 8 0M9 9v1M15 9v1',
    games: 'M3 7h18v10H3zM8 10v4M6 12h4M15 12h.1M18 12h.1',
    image: 'M3 5h18v14H3zM3 16l5-5 5 5 3-3 5 5M15 9h.1',
    moderation: 'M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6z',
    music: 'M9 18V5l11-2v13M9 18a3 3 0 11-6 0 3 3 0 016 0zM20 16a3 3 0 11-6 0 3 3 0 016 0z',
    news: 'M4 4h13v16H6a2 2 0 01-2-2zM17 9h3v9a2 2 0 01-3 2M8 8h5M8 12h5M8 16h5',
    notifications: 'M6 16V10a6 6 0 0112 0v6l2 2H4zM10 21h4',
    other: 'M5 12h.1M12 12h.1M19 12h.1',
    productivity: 'M4 4h16v16H4zM8 12l3 3 5-6',
    utility: 'M12 4v16M4 12h16',
  }),
);
