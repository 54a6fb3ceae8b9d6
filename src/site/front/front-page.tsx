import type { VNode } from 'preact';
import type { Locale } from '../../bot/locale.ts';
import type { CatalogueSizes } from '../../catalogue/lists/bot-lists.ts';
import { directionOf } from '../language/locales.ts';
import { useLanguage } from '../language/page-language.tsx';
import { collectionsPath } from '../page/addresses.ts';
import { Layout, type PageProps } from '../page/layout.tsx';
import { SearchForm } from '../page/search-form.tsx';
import { Cards, type ListedBot } from './card.tsx';
import { CategoryIcon } from './category-icon.tsx';
import { type FrontQuery, formatFrontPath, noQuery } from './front-query.ts';
import { createListMeta } from './list-meta.ts';

/** With the sizes of the catalogue without the bots for adults. */
export interface FrontPageProps extends PageProps, CatalogueSizes {
  readonly query: FrontQuery;
  readonly shelves: readonly ShownShelf[];
  readonly hasCollections: boolean;
  /** Searches that find bots. */
  readonly examples: readonly string[];
}

/** Some bots of a list or a collection. */
export interface ShownShelf {
  readonly id: string;
  readonly title: string;
  /** The language of the title, where that is not the one of the page. */
  readonly locale?: Locale;
  /** The public path of the whole list; undefined where all is shown. */
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
