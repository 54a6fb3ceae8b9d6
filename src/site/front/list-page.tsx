import type { Context } from 'koa';
import type { VNode, ComponentChildren } from 'preact';
import { type Locale, findLanguages } from '../../bot/locale.ts';
import { ProblemError } from '../../http/problem.ts';
import { formatCount } from '../../lib/text.ts';
import type { PageLanguage } from '../language/languages.ts';
import { sitePaths, toAuthorPath, toFeedPath } from '../page/addresses.ts';
import { FollowLinks, PageLinks } from '../page/elements.tsx';
import { createBreadcrumbData, createOwnMeta, createSiteData, type PageMeta } from '../page/head.tsx';
import type { PageView } from '../page/html-response.ts';
import { Layout } from '../page/layout.tsx';
import { type Site, useLanguage, useVisit } from '../page/page-context.tsx';
import { Cards, type ListedBot } from './card.tsx';
import {
  findReaderLanguages,
  type FrontList,
  type FrontLists,
  showIn,
  toKey,
  type Wider,
} from './front-list.ts';
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
  withoutFilters,
} from './front-query.ts';

/**
 * Returns the view of a list.
 * @throws {BotshelfError} queue-full
 * @throws {ProblemError} not-found for a page past the last one
 */
export async function createListView(
  ctx: Context,
  site: Site,
  lists: FrontLists,
  query: FrontQuery,
): Promise<PageView> {
  const { bots, matched, nearest, ...numbers } = await lists.get(query, ctx.ip);
  const { pages } = numbers;
  if (query.page > Math.max(1, pages))
    throw new ProblemError(
      'not-found',
      `the list has ${formatCount(pages, 'page')}, there is no page ${query.page}`,
    );
  const languages = findReaderLanguages(ctx, site.languages.of(ctx), numbers.languages);
  const shown = showIn(languages, bots, matched, query.filters.locale);
  const near = showIn(languages, nearest);
  return {
    key: { query, shown: shown.map(toKey), near: near.map(toKey) },
    render: async () => {
      const listed = { bots: lists.toListed(shown), nearest: lists.toListed(near) };
      return <ListPage {...{ ...numbers, ...listed, query }} />;
    },
  };
}

interface ListPageProps extends Omit<FrontList, 'bots' | 'matched' | 'nearest'> {
  readonly query: FrontQuery;
  readonly bots: readonly ListedBot[];
  readonly nearest: readonly ListedBot[];
}

/** A list of bots to search and filter: all bots, or those of a category. */
function ListPage(props: ListPageProps): VNode {
  const { query, bots, total, pages, corrected, suggested, unmatched, hidden, filtered, weaker } = props;
  const language = useLanguage();
  const { site } = useVisit();
  const { t, text, href } = language;
  const { q, filters } = query;
  const title = formatHeading(props, language);
  const hidesAuthors = filters.author !== undefined;
  const found = text('list.found', { count: total });
  const description = `${found}. ${text('front.title')}`;
  const meta = createListMeta({ site, query, title, description, language });
  const pathOf = (page: number): string => href(formatFrontPath({ ...query, sort: sortOf(query), page }));
  return (
    <Layout {...{ meta, q }}>
      <div class="list-head">
        <h1>{title}</h1>
        {q === '' && total > 0 && <p class="muted">{found}</p>}
        {corrected !== undefined && <p>{t('list.corrected', { corrected, query: q })}</p>}
        {suggested !== undefined && (
          <p>
            <a href={href(formatFrontPath({ ...query, q: suggested, page: 1 }))}>
              {t('list.suggested', { query: suggested })}
            </a>
          </p>
        )}
        {total > 0 && unmatched.length > 0 && <p>{t('list.unmatched', { words: unmatched.join(' ') })}</p>}
        {filtered > 0 && (
          <p class="muted">
            {t('list.filtered', { count: filtered })}{' '}
            <a href={href(formatFrontPath({ ...withoutFilters(query), sort: sortOf(query) }))}>
              {t('list.showFiltered')}
            </a>
          </p>
        )}
        {hidden > 0 && (
          <p>
            <a href={href(formatFrontPath({ ...query, filters: { ...filters, adult: true }, page: 1 }))}>
              {t('list.hidden', { count: hidden })}
            </a>
          </p>
        )}
      </div>
      {(bots.length > 0 || isNarrowed(query)) && <ListFilters {...props} />}
      {bots.length === 0 ? (
        <NothingFound {...props} />
      ) : (
        <Cards {...{ bots, hidesAuthors }} heading="h2" atOnce={cardsAtOnce} canBeTicked />
      )}
      {weaker > 0 && (
        <p class="links">
          <a href={href(formatFrontPath({ ...query, filters: { ...filters, weaker: true }, page: 1 }))}>
            {t('list.weaker', { count: weaker })}
          </a>
        </p>
      )}
      <PageLinks page={query.page} pages={pages} pathOf={pathOf} />
      <div class="on-phones">
        <Follow {...props} />
      </div>
    </Layout>
  );
}

/** The number of cards that a large screen shows without scrolling. */
export const cardsAtOnce = 8;

/** The content of an empty list: the filter to drop, or another suggestion, and the nearest bots. */
function NothingFound(props: ListPageProps): VNode {
  const { query, languages, wider, nearest, isNear } = props;
  const { site } = useVisit();
  const { t, text, href, categoryName, languageName } = useLanguage();
  const { q, category, filters } = query;
  const [first] = wider;
  const nameOf = (dropped: NonNullable<Wider['dropped']>): string => {
    if (dropped === 'category') return categoryName(category ?? 'other');
    if (dropped === 'locale') return languageName(filters.locale ?? '', languages);
    return text(`filter.${dropped}`);
  };
  const nothing = q === '' ? t('list.nothing') : t('list.nothingFor', { query: q });
  return (
    <>
      <div class="empty">
        <svg class="drawing" width="204" height="76" viewBox="0 0 204 76" aria-hidden="true">
          <path d="M1 56h202M15 56v17M189 56v17M19 56V6h19v50M23 17h11M23 26h11M38 15h14v41M159 56V1h17v55M163 12h9" />
          <path d="M68 56V8h39v48" stroke-dasharray="5 4" />
          <path class="solid" d="M120 56l17-53 15 5-17 48z" />
        </svg>
        {first?.dropped === undefined ? (
          <h2>{nothing}</h2>
        ) : (
          <h2>
            {t('list.without', {
              filter: nameOf(first.dropped),
              found: text('list.found', { count: first.total }),
            })}
          </h2>
        )}
        {q !== '' && (
          <p class="muted">
            {!isNear && t('list.nothingNear')} {t('list.nothingAdvice')}
          </p>
        )}
        <ul class="actions">
          {wider.slice(0, maxWider).map(({ dropped, query: to, total }, i) => (
            <li key={dropped}>
              <a
                class={i === 0 ? 'button' : 'button quiet'}
                href={href(formatFrontPath({ ...to, sort: sortOf(to) }))}
              >
                {dropped === undefined
                  ? text('list.withoutFilters')
                  : text('list.drop', { filter: nameOf(dropped) })}{' '}
                ({text('list.found', { count: total })})
              </a>
            </li>
          ))}
          {wider.length < maxWider && site.hasForms && (
            <li>
              <a class="button quiet" href={href('/add')}>
                {t('list.suggest')}
              </a>
            </li>
          )}
        </ul>
      </div>
      {nearest.length > 0 && (
        <section class="shelf" aria-labelledby="nearest">
          <div class="shelf-head">
            <h2 id="nearest">{t(isNear ? 'list.nearest' : 'sort.popular')}</h2>
          </div>
          <Cards bots={nearest} heading="h3" atOnce={0} />
        </section>
      )}
    </>
  );
}

const maxWider = 2;

/** The feed of a list, if it has one. */
function Follow({ query }: Pick<ListPageProps, 'query'>): VNode | null {
  const { q, category, filters } = query;
  const { author, ...others } = filters;
  if (q !== '' || Object.keys(others).length > 0 || (author && category)) return null;
  const ofAuthor = author === undefined ? sitePaths.newBots : toFeedPath('author', author);
  const path = category === undefined ? ofAuthor : toFeedPath('category', category);
  return <FollowLinks path={path} />;
}

/** Returns the heading of a list: the order or the words, then the active filters. */
function formatHeading(props: ListPageProps, language: PageLanguage): string {
  const { text, languageName } = language;
  const { query, languages } = props;
  const { locale, ...others } = query.filters;
  const filters = toggleNames
    .filter((name) => others[name] !== undefined)
    .map((name) => text(`heading.${name}`));
  if (locale !== undefined)
    filters.push(text('heading.language', { language: languageName(locale, languages) }));
  return filters.reduce(
    (heading, filter) => text('heading.filtered', { heading, filter }),
    formatUnfilteredHeading(props, language),
  );
}

function formatUnfilteredHeading(
  { query, total, corrected, bots }: ListPageProps,
  { text, categoryTitle }: PageLanguage,
): string {
  const { q, category, sort, filters } = query;
  if (q !== '') return text('list.foundFor', { count: total, query: corrected ?? q });
  if (category !== undefined) return categoryTitle(category);
  if (filters.author !== undefined) {
    const path = toAuthorPath(filters.author);
    const named = bots[0]?.authors.find((author) => author.path === path);
    return text('feed.byAuthor', { author: named?.name ?? filters.author });
  }
  return text(
    sort === 'growing' || sort === 'newest' || sort === 'edited' ? `shelf.${sort}` : 'shelf.popular',
  );
}

/** Filters and orders of a list. All of them are links; on a phone, all but the order are folded. */
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
        <FilterChips {...props} />
      </details>
      <SortLinks {...props} />
      <div class="from-tablet">
        <Follow {...props} />
      </div>
    </div>
  );
}

/** Links to the same list in each category, if it has several. */
function CategoryMenu({ query, categories }: ListPageProps): VNode | null {
  const { t, categories: known, categoryName } = useLanguage();
  const { category: current } = query;
  const shown = known.filter((name) => categories.has(name) || name === current);
  if (shown.length < 2 && current === undefined) return null;
  const all = [...categories.values()].reduce((sum, bots) => sum + bots, 0);
  return (
    <li>
      <details class="menu">
        <summary class={current === undefined ? 'chip' : 'chip on'}>
          {current === undefined ? t('list.allCategories') : categoryName(current)}
        </summary>
        <ul>
          <Choice to={{ ...query, category: undefined, sort: sortOf(query) }} current={current === undefined}>
            {t('list.allCategories')} <Number of={all} />
          </Choice>
          {shown.map((category) => (
            <Choice key={category} to={{ ...query, category }} current={category === current}>
              {categoryName(category)} <Number of={categories.get(category) ?? 0} />
            </Choice>
          ))}
        </ul>
      </details>
    </li>
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
        <CategoryMenu {...props} />
        {toggleNames.map((name) => {
          const isOn = filters[name] !== undefined;
          const others = { ...filters, [name]: isOn ? undefined : pageFilters[name].value };
          const to = { ...query, filters: others, sort: sortOf(query) };
          return (
            <Choice key={name} {...{ to, current: isOn }} class="chip">
              {t(`filter.${name}`)}
              {isOn && <span aria-hidden="true">✕</span>}
            </Choice>
          );
        })}
        {own !== undefined && (
          <Choice
            class="chip"
            to={withLanguage(query, filters.locale === own ? undefined : own)}
            current={filters.locale === own}
          >
            {t('filter.ownLanguage')}
          </Choice>
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
  const { t, text, languageName } = useLanguage();
  const language = query.filters.locale;
  const name = language && languageName(language, languages);
  return (
    <details class="menu">
      <summary class={language === undefined ? 'chip' : 'chip on'}>
        {name === undefined ? t('filter.language') : text('filter.inLanguage', { language: name })}
      </summary>
      <ul>
        <Choice to={withLanguage(query, undefined)} current={language === undefined}>
          {t('filter.anyLanguage')}
        </Choice>
        {languages.slice(0, maxLanguages).map((other) => (
          <Choice key={other} to={withLanguage(query, other)} current={other === language}>
            {languageName(other, languages)}
          </Choice>
        ))}
      </ul>
    </details>
  );
}

function withLanguage(query: FrontQuery, locale: Locale | undefined): FrontQuery {
  return { ...query, filters: { ...query.filters, locale }, sort: sortOf(query) };
}

/** The most frequent ones; others are found by search. */
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

/** A link to the first page of another list. */
function Choice({ to, current, children, ...others }: ChoiceProps): VNode {
  const { href: toHref } = useLanguage();
  const href = toHref(formatFrontPath({ ...to, page: 1 }));
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

/** Describes the front page or a list of bots. @param title the title of the page */
export function createListMeta(options: {
  readonly site: Site;
  readonly query: FrontQuery;
  readonly title: string;
  readonly description: string;
  readonly language: PageLanguage;
}): PageMeta {
  const { site, query, title, description } = options;
  const { canonicalUrl, settings } = site;
  const { categoryTitle } = options.language;
  const { q, category, filters } = query;
  // Without the language of the interface, the order and the filters.
  const preferred = { ...noQuery, q, category, filters: { author: filters.author }, page: query.page };
  const address = canonicalUrl + formatFrontPath(preferred);
  const common = {
    ...createOwnMeta(address, options.language, { title, description }),
    isAdult: filters.adult === true,
    isListed: q === '' && filters.author === undefined,
  };
  if (category === undefined)
    return { ...common, data: [createSiteData(canonicalUrl, settings.name, description)] };
  const name = categoryTitle(category);
  return {
    ...common,
    feed: { title: name, path: toFeedPath('category', category) },
    data: [createBreadcrumbData(site, { name, address: `${canonicalUrl}/categories/${category}` })],
  };
}
