import type { VNode } from 'preact';
import type { Locale } from '../../bot/locale.ts';
import type { CatalogueSizes } from '../../catalogue/lists/bot-lists.ts';
import { directionOf } from '../language/locales.ts';
import { useLanguage } from '../language/page-language.tsx';
import { Layout, type PageProps } from '../page/layout.tsx';
import { SearchForm } from '../page/search-form.tsx';
import { Cards, type ListedBot } from './card.tsx';
import { CategoryIcon } from './category-icon.tsx';
import type { ShelfName } from './front-list.ts';
import { type FrontQuery, formatFrontPath, noQuery } from './front-query.ts';
import { createListMeta } from './list-meta.ts';

/** With the sizes of the catalogue without the bots for adults. */
export interface FrontPageProps extends PageProps, CatalogueSizes {
  readonly query: FrontQuery;
  readonly shelves: readonly { readonly sort: ShelfName; readonly bots: readonly ListedBot[] }[];
  /** Searches that find bots. */
  readonly examples: readonly string[];
}

/** What a visitor sees first: a search, the largest categories, and shelves of bots. */
export function FrontPage(props: FrontPageProps): VNode {
  const { site, viewer, query, total, locales, shelves } = props;
  const language = useLanguage();
  const { t, text, publicPath } = language;
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
      {shelves.map(({ sort, bots }, i) => (
        <section key={sort} class="shelf" aria-labelledby={sort}>
          <div class="shelf-head">
            <h2 id={sort}>{t(`shelf.${sort}`)}</h2>
            {bots.length < total && (
              <a href={publicPath(formatFrontPath({ ...query, sort }))}>
                {t('shelf.seeAll')}
                <span class="out-of-sight">: {t(`shelf.${sort}`)}</span>
              </a>
            )}
          </div>
          <Cards bots={bots} heading="h3" atOnce={i === 0 ? cardsAtOnce : 0} />
        </section>
      ))}
      {total === 0 && (
        <div class="empty">
          <h2>{t('list.empty')}</h2>
          <p>{t('list.emptyAdvice')}</p>
          <a class="button" href={language.href('/add')}>
            {t('layout.add')}
          </a>
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
