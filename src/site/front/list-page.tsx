import type { VNode } from 'preact';
import type { Locale } from '../../bot/locale.ts';
import { type PageLanguage, useLanguage } from '../language/page-language.tsx';
import { Layout, type PageProps } from '../page/layout.tsx';
import { Cards, type ListedBot } from './card.tsx';
import type { FrontList } from './front-list.ts';
import { type FrontQuery, formatFrontPath, isNarrowed, sortOf, toggles } from './front-query.ts';
import { ListFilters } from './list-filters.tsx';
import { createListMeta } from './list-meta.ts';
import { NothingFound } from './nothing-found.tsx';
import { PageLinks } from './page-links.tsx';

export interface ListPageProps extends PageProps, Omit<FrontList, 'entries' | 'suggestions'> {
  readonly query: FrontQuery;
  /** The bots of this page of the list. */
  readonly bots: readonly ListedBot[];
  /** What is nearest to the search, where nothing was found. */
  readonly suggestions: readonly ListedBot[];
}

/** A list of bots to search and filter: all bots, or those of a category. */
export function ListPage(props: ListPageProps): VNode {
  const { site, viewer, query, bots, total, pages, corrected, unmatched, hidden } = props;
  const language = useLanguage();
  const { t, text, publicPath } = language;
  const { q, filters } = query;
  const title = formatHeading(props, language);
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
        <Cards bots={bots} heading="h2" atOnce={cardsAtOnce} />
      )}
      <PageLinks page={query.page} pages={pages} pathOf={pathOf} />
    </Layout>
  );
}

/** The cards that a large screen shows without scrolling. */
const cardsAtOnce = 8;

/** Returns what a list shows: the order or the words, then the filters that are on. */
function formatHeading({ query, total, corrected }: ListPageProps, language: PageLanguage): string {
  const { text, languageName } = language;
  const { locale, ...others } = query.filters;
  const filters = toggles.filter((name) => others[name] !== undefined).map((name) => text(`heading.${name}`));
  if (locale !== undefined) filters.push(text('heading.language', { language: languageName(locale) }));
  return filters.reduce(
    (heading, filter) => text('heading.filtered', { heading, filter }),
    formatUnfilteredHeading(query, total, corrected, language),
  );
}

function formatUnfilteredHeading(
  { q, category, filters: { author }, sort }: FrontQuery,
  count: number,
  corrected: string | undefined,
  { text, categoryName }: PageLanguage,
): string {
  if (q !== '') return text('list.foundFor', { count, query: corrected ?? q });
  if (category !== undefined) return text('list.category', { category: categoryName(category) });
  if (author !== undefined) return text('feed.byAuthor', { author });
  return text(
    sort === 'growing' || sort === 'newest' || sort === 'edited' ? `shelf.${sort}` : 'shelf.popular',
  );
}
