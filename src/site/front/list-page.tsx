import type { VNode, ComponentChildren } from 'preact';
import type { Category } from '../../../schemas/types.ts';
import type { Locale } from '../../bot/locale.ts';
import { findLanguages } from '../language/locales.ts';
import { type PageLanguage, useLanguage } from '../language/page-language.tsx';
import { toAuthorPath, listLanguages, toFeedPath } from '../page/addresses.ts';
import { PageLinks } from '../page/elements.tsx';
import { createBreadcrumbData, createSiteData, type PageMeta } from '../page/head.tsx';
import { Layout, type PageProps, type Site } from '../page/layout.tsx';
import { Cards, CompareForm, type ListedBot } from './card.tsx';
import type { FrontList } from './front-list.ts';
import {
  type FrontQuery,
  formatFrontPath,
  isNarrowed,
  noQuery,
  sortOf,
  toggleNames,
  pageFilters,
  type SortName,
  sorts,
} from './front-query.ts';

interface ListPageProps extends PageProps, Omit<FrontList, 'bots' | 'matched'> {
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

/** Narrows and orders a list. All of them are links, which are folded away on a phone but for the order. */
function ListFilters(props: ListPageProps): VNode {
  const { t } = useLanguage();
  const { filters, category } = props.query;
  const { author: _, ...others } = filters;
  const on = [category, ...Object.values(others)].filter((value) => value !== undefined).length;
  return (
    <div class="list-filters">
      <details>
        <summary class={on > 0 ? 'chip on' : 'chip'}>
          {t('list.filters')} {on > 0 && <Number of={on} />}
        </summary>
        <CategoryChips {...props} current={category} />
        <FilterChips {...props} />
      </details>
      <SortLinks {...props} />
    </div>
  );
}

/**
 * Leads to the same list in each category, where it has several.
 * @param props.current what is shown now, undefined for all; null for a page that is none of these lists
 */
function CategoryChips({
  query,
  categories,
  current,
}: Pick<ListPageProps, 'query' | 'categories'> & {
  readonly current: Category | undefined | null;
}): VNode | null {
  const { t, text, categories: known, categoryName } = useLanguage();
  const all = [...categories.values()].reduce((sum, bots) => sum + bots, 0);
  const shown = known.filter((name) => categories.has(name) || name === current);
  if (shown.length < 2) return null;
  return (
    <nav aria-label={text('list.categories')}>
      <ul class="chips row">
        <Chip to={{ ...query, category: undefined, sort: sortOf(query) }} current={current === undefined}>
          {t('list.all')} <Number of={all} />
        </Chip>
        {shown.map((category) => (
          <Chip key={category} to={{ ...query, category }} current={category === current}>
            {categoryName(category)} <Number of={categories.get(category) ?? 0} />
          </Chip>
        ))}
      </ul>
    </nav>
  );
}

function FilterChips(props: ListPageProps): VNode {
  const { query, languages } = props;
  const { t, text, locale } = useLanguage();
  const { filters } = query;
  const [own] = languages.length > 1 ? findLanguages([locale], languages) : [];
  return (
    <nav aria-label={text('list.filters')}>
      <ul class="chips">
        {toggleNames.map((name) => {
          const isOn = filters[name] !== undefined;
          const others = { ...filters, [name]: isOn ? undefined : pageFilters[name].value };
          const to = { ...query, filters: others, sort: sortOf(query) };
          return (
            <Chip key={name} {...{ to, current: isOn }}>
              {t(`filter.${name}`)}
            </Chip>
          );
        })}
        {own !== undefined && (
          <Chip
            to={withLanguage(query, filters.locale === own ? undefined : own)}
            current={filters.locale === own}
          >
            {t('filter.ownLanguage')}
          </Chip>
        )}
        {(languages.length > 1 || filters.locale !== undefined) && (
          <li>
            <LanguageMenu {...props} />
          </li>
        )}
      </ul>
    </nav>
  );
}

function LanguageMenu({ query, languages }: ListPageProps): VNode {
  const { t, languageName } = useLanguage();
  const language = query.filters.locale;
  const name = language && languageName(language);
  return (
    <details class="menu">
      <summary class={language === undefined ? 'chip' : 'chip on'}>
        {name === undefined ? t('filter.language') : t('filter.inLanguage', { language: name })}
      </summary>
      <ul>
        <Choice to={withLanguage(query, undefined)} current={language === undefined}>
          {t('filter.anyLanguage')}
        </Choice>
        {languages.slice(0, maxLanguages).map((other) => (
          <Choice key={other} to={withLanguage(query, other)} current={other === language}>
            {languageName(other)}
          </Choice>
        ))}
      </ul>
    </details>
  );
}

function withLanguage(query: FrontQuery, locale: Locale | undefined): FrontQuery {
  return { ...query, filters: { ...query.filters, locale }, sort: sortOf(query) };
}

/** Those of most bots; others are found by search. */
const maxLanguages = 40;

function SortLinks({ query }: ListPageProps): VNode {
  const { t, text } = useLanguage();
  const names = (Object.keys(sorts) as SortName[]).filter((name) => name !== 'relevance' || query.q !== '');
  return (
    <nav class="sort" aria-label={text('search.sort')}>
      <ul>
        {names.map((sort) => (
          <Choice key={sort} to={{ ...query, sort }} current={sort === sortOf(query)}>
            {t(`sort.${sort}`)}
          </Choice>
        ))}
      </ul>
    </nav>
  );
}

interface ChoiceProps {
  readonly to: FrontQuery;
  readonly current: boolean;
  readonly children: ComponentChildren;
  readonly class?: string;
}

function Chip(props: ChoiceProps): VNode {
  return <Choice {...props} class="chip" />;
}

/** A link to another list, from its first page. */
function Choice({ to, current, children, ...others }: ChoiceProps): VNode {
  const { publicPath } = useLanguage();
  const href = publicPath(formatFrontPath({ ...to, page: 1 }));
  return (
    <li>
      <a {...others} href={href} aria-current={current ? 'true' : undefined}>
        {children}
      </a>
    </li>
  );
}

function Number({ of: value }: { readonly of: number }): VNode {
  const { integer } = useLanguage();
  return <small>{integer(value)}</small>;
}

/** Describes the front page or a list of bots. @param title that of the page */
export function createListMeta(options: {
  readonly site: Site;
  readonly query: FrontQuery;
  readonly title: string;
  readonly description: string;
  readonly language: PageLanguage;
}): PageMeta {
  const { site, query, title, description } = options;
  const { canonicalUrl, settings } = site;
  const { text, categoryName, locale, locales, requested } = options.language;
  const { q, category, filters } = query;
  // Without the language of the interface, order and filters.
  const preferred = { ...noQuery, q, category, filters: { author: filters.author }, page: query.page };
  const toAddress = (tag: Locale | undefined): string =>
    canonicalUrl + formatFrontPath({ ...preferred, locale: tag });
  const common = {
    address: toAddress(requested === locale ? locale : undefined),
    title,
    description,
    locale,
    languages: listLanguages(locales, toAddress),
    isAdult: filters.adult === true,
    isListed: q === '' && filters.author === undefined,
  };
  if (category === undefined)
    return { ...common, data: [createSiteData(canonicalUrl, settings.name, description)] };
  const name = text('list.category', { category: categoryName(category) });
  return {
    ...common,
    feed: { title: name, path: toFeedPath('category', category) },
    data: [createBreadcrumbData(site, { name, address: `${canonicalUrl}/categories/${category}` })],
  };
}
