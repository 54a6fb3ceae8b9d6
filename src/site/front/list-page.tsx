import type { VNode } from 'preact';
import type { Locale } from '../../bot/locale.ts';
import { type PageLanguage, useLanguage } from '../language/page-language.tsx';
import { Layout, type PageProps } from '../page/layout.tsx';
import { toAuthorPath } from '../page/addresses.ts';
import { Cards, CompareForm, type ListedBot } from './card.tsx';
import type { FrontList } from './front-list.ts';
import { type FrontQuery, formatFrontPath, isNarrowed, noQuery, sortOf, toggleNames } from './front-query.ts';
import { CategoryChips, ListFilters } from './list-filters.tsx';
import { createListMeta } from './list-meta.ts';
import { PageLinks } from './page-links.tsx';

export interface ListPageProps extends PageProps, Omit<FrontList, 'bots' | 'matched'> {
  readonly query: FrontQuery;
  /** The bots of this page of the list. */
  readonly bots: readonly ListedBot[];
}

/** A list of bots to search and filter: all bots, or those of a category. */
export function ListPage(props: ListPageProps): VNode {
  const { site, viewer, query, bots, total, pages, corrected, unmatched, hidden, weaker } = props;
  const language = useLanguage();
  const { t, text, publicPath } = language;
  const { q, filters } = query;
  const title = formatHeading(props, language);
  const hidesAuthors = filters.author !== undefined;
  const found = text('list.found', { count: total });
  const description = `${found}. ${text('front.title')}`;
  const meta = createListMeta({ site, query, title, description, language });
  const pathOf = (page: number): string =>
    publicPath(formatFrontPath({ ...query, sort: sortOf(query), page }));
  const pathIn = (locale: Locale): string => formatFrontPath({ ...query, locale });
  return (
    <Layout {...{ site, viewer, title, meta, pathIn, q }}>
      <div class="list-head">
        <h1>{title}</h1>
        {q === '' && <p class="muted">{found}</p>}
        {corrected !== undefined && <p>{t('list.corrected', { corrected, query: q })}</p>}
        {total > 0 && unmatched.length > 0 && <p>{t('list.unmatched', { words: unmatched.join(' ') })}</p>}
        {hidden > 0 && (
          <p>
            <a
              href={publicPath(formatFrontPath({ ...query, filters: { ...filters, adult: true }, page: 1 }))}
            >
              {t('list.hidden', { count: hidden })}
            </a>
          </p>
        )}
      </div>
      {(bots.length > 0 || isNarrowed(query)) && <ListFilters {...props} />}
      {bots.length === 0 ? (
        <NothingFound {...props} />
      ) : (
        <>
          <Cards {...{ bots, hidesAuthors }} heading="h2" atOnce={cardsAtOnce} canBeTicked />
          <CompareForm />
        </>
      )}
      {weaker > 0 && (
        <p class="links">
          <a href={publicPath(formatFrontPath({ ...query, filters: { ...filters, weaker: true }, page: 1 }))}>
            {t('list.weaker', { count: weaker })}
          </a>
        </p>
      )}
      <PageLinks page={query.page} pages={pages} pathOf={pathOf} />
    </Layout>
  );
}

/** The cards that a large screen shows without scrolling. */
export const cardsAtOnce = 8;

/** What an empty list shows: what to try, the same search without its filters, and the categories. */
function NothingFound(props: ListPageProps): VNode {
  const { site, query, allCategories, withoutFilters } = props;
  const { t, href, publicPath } = useLanguage();
  const { q, locale } = query;
  const all: FrontQuery = { ...noQuery, locale, q, sort: q === '' ? 'popular' : undefined };
  return (
    <>
      <div class="empty">
        <p>
          <strong>{q === '' ? t('list.nothing') : t('list.nothingFor', { query: q })}</strong>{' '}
          {t('list.nothingAdvice')}
        </p>
        {withoutFilters > 0 && (
          <a class="button quiet" href={publicPath(formatFrontPath(all))}>
            {t('list.withoutFilters')} ({t('list.found', { count: withoutFilters })})
          </a>
        )}
        {site.hasForms && (
          <a class="button quiet" href={href('/add')}>
            {t('list.suggest')}
          </a>
        )}
      </div>
      <CategoryChips query={{ ...noQuery, locale }} categories={allCategories} current={null} />
    </>
  );
}

/** Returns what a list shows: the order or the words, then the filters that are on. */
function formatHeading(props: ListPageProps, language: PageLanguage): string {
  const { text, languageName } = language;
  const { locale, ...others } = props.query.filters;
  const filters = toggleNames
    .filter((name) => others[name] !== undefined)
    .map((name) => text(`heading.${name}`));
  if (locale !== undefined) filters.push(text('heading.language', { language: languageName(locale) }));
  return filters.reduce(
    (heading, filter) => text('heading.filtered', { heading, filter }),
    formatUnfilteredHeading(props, language),
  );
}

function formatUnfilteredHeading(
  { query, total, corrected, bots }: ListPageProps,
  { text, categoryName }: PageLanguage,
): string {
  const { q, category, sort, filters } = query;
  if (q !== '') return text('list.foundFor', { count: total, query: corrected ?? q });
  if (category !== undefined) return text('list.category', { category: categoryName(category) });
  if (filters.author !== undefined) {
    const path = toAuthorPath(filters.author);
    const named = bots[0]?.authors?.find((author) => author.path === path);
    return text('feed.byAuthor', { author: named?.name ?? filters.author });
  }
  return text(
    sort === 'growing' || sort === 'newest' || sort === 'edited' ? `shelf.${sort}` : 'shelf.popular',
  );
}
