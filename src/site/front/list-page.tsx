import type { Context } from 'koa';
import type { VNode, ComponentChildren } from 'preact';
import { type Locale, findLanguages } from '../../bot/locale.ts';
import { ProblemError } from '../../http/problem.ts';
import { formatCount } from '../../lib/text.ts';
import { forEachInSlices } from '../../lib/time-slice.ts';
import type { PageLanguage } from '../language/languages.ts';
import { categoriesPath, sitePaths, toAuthorPath, toFeedPath } from '../page/addresses.ts';
import { BackLink, FollowLinks } from '../page/elements.tsx';
import { createBreadcrumbData, createOwnMeta, createSiteData, type PageMeta } from '../page/head.tsx';
import type { PageView } from '../page/html-response.ts';
import { Layout, PageLinks } from '../page/layout.tsx';
import { type PageContext, type PageParts, usePage } from '../page/page-context.tsx';
import { Cards, Ledge, type ListedBot, showIn, toKey, toListed } from './card.tsx';
import type { FrontList, FrontLists, Wider } from './front-list.ts';
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
import { EmptyShelf } from './error-pages.tsx';
import { findMention, type Mention } from './mentions.ts';

/**
 * Returns the view of a list.
 * @throws {BotshelfError} queue-full
 * @throws {ProblemError} not-found for a page past the last one
 */
export async function createListView(
  ctx: Context,
  parts: PageParts,
  lists: FrontLists,
  query: FrontQuery,
): Promise<PageView> {
  const { bots, matched, mentioning, nearest, ...facts } = await lists.get(query, ctx.ip);
  const { pages } = facts;
  if (query.page > Math.max(1, pages))
    throw new ProblemError(
      'not-found',
      `the list has ${formatCount(pages, 'page')}, there is no page ${query.page}`,
    );
  const languages = parts.site.languages.of(ctx).findAmong(facts.languages);
  const shown = showIn(languages, bots, matched, query.filters.locale);
  const near = showIn(languages, nearest);
  return {
    key: { query, shown: shown.map(toKey), near: near.map(toKey) },
    render: async () => {
      const mentions = new Map<string, Mention | null>();
      await forEachInSlices(shown, ({ bot, locale }) => {
        if (mentioning.has(bot)) mentions.set(bot.id, findMention(bot, locale, facts.splitWords) ?? null);
      });
      const listed = toListed(parts, shown).map((each) => ({ ...each, mention: mentions.get(each.bot.id) }));
      return <ListPage {...{ ...facts, query }} bots={listed} nearest={toListed(parts, near)} />;
    },
  };
}

interface ListPageProps extends Omit<FrontList, 'bots' | 'matched' | 'mentioning' | 'nearest'> {
  readonly query: FrontQuery;
  readonly bots: readonly ListedBot[];
  readonly nearest: readonly ListedBot[];
}

/** A list of bots to search and filter: all bots, or those of a category. */
function ListPage(props: ListPageProps): VNode {
  const { query, bots, total, pages, mentions, nearest, isNear, splitWords, weaker } = props;
  const context = usePage();
  const { t, text, href } = context;
  const { q, filters } = query;
  const title = formatHeading(props, context);
  const description = `${text('list.found', { count: total })}. ${text('front.title')}`;
  const meta = createListMeta(context, query, { title, description });
  const pathOf = (page: number): string => href(formatFrontPath({ ...query, sort: sortOf(query), page }));
  const ledge = isWholeCategory(query) && <Ledge bots={bots.map(({ bot }) => bot)} size={72} />;
  const dividesMentions = sortOf(query) === 'relevance' && mentions < total;
  return (
    <Layout
      {...{ meta, q }}
      {...(query.category && { category: query.category })}
      head={<ListHead {...{ ...props, title }} />}
      beside={bots.length === 0 ? <EmptyShelf /> : ledge}
    >
      {(bots.length > 0 || isNarrowed(query)) && <ListFilters {...props} />}
      {bots.length > 0 && (
        <Cards
          bots={dividesMentions ? bots.toSorted((a, b) => rankMention(a) - rankMention(b)) : bots}
          {...{ splitWords, dividesMentions }}
          hidesAuthors={filters.author !== undefined}
          areRows={query.view === 'rows'}
          heading="h2"
          atOnce={cardsAtOnce}
          canBeTicked
        />
      )}
      {nearest.length > 0 && (
        <section class="shelf" aria-labelledby="nearest">
          <div class="shelf-head">
            <h2 id="nearest">{t(isNear ? 'list.nearest' : 'sort.popular')}</h2>
          </div>
          <Cards bots={nearest} heading="h3" atOnce={0} />
        </section>
      )}
      {weaker > 0 && (
        <p class="links">
          <ListLink to={{ ...query, filters: { ...filters, weaker: true }, page: 1 }}>
            {t('list.weaker', { count: weaker })}
          </ListLink>
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
export const cardsAtOnce = 9;

function rankMention({ mention }: ListedBot): number {
  return Number(mention !== undefined);
}

/** Whether a list has all bots of a category, so that its wall says more about it. */
function isWholeCategory({ category, ...query }: FrontQuery): boolean {
  return category !== undefined && query.q === '' && !isNarrowed({ ...query, category: undefined });
}

/** The heading of a list, and the bots that it has and leaves out. */
function ListHead(props: ListPageProps & { readonly title: string }): VNode {
  const { title, query, total, mentions, corrected, suggested, unmatched, hidden, filtered } = props;
  const { t, text, categoryText } = usePage();
  const { q, category, filters } = query;
  const line = category && isWholeCategory(query) && categoryText(category);
  return (
    <>
      {isWholeCategory(query) && <BackLink path={categoriesPath} name={text('list.categories')} />}
      <h1>{title}</h1>
      {q === '' && total > 0 && <p>{t('list.found', { count: total })}</p>}
      {mentions > 0 && mentions < total && <p>{t('list.mentions', { count: mentions })}</p>}
      {filtered > 0 && (
        <p>
          {t('list.filtered', { count: filtered })}{' '}
          <ListLink to={withoutFilters(query)}>{t('list.showFiltered')}</ListLink>
        </p>
      )}
      {hidden > 0 && (
        <p>
          <ListLink to={{ ...query, filters: { ...filters, adult: true }, page: 1 }}>
            {t('list.hidden', { count: hidden })}
          </ListLink>
        </p>
      )}
      {line && <p class="whole">{line}</p>}
      {corrected !== undefined && <p class="whole">{t('list.corrected', { corrected, query: q })}</p>}
      {suggested !== undefined && (
        <p class="whole">
          <ListLink to={{ ...query, q: suggested, page: 1 }}>
            {t('list.suggested', { query: suggested })}
          </ListLink>
        </p>
      )}
      {total > 0 && unmatched.length > 0 && (
        <p class="whole">{t('list.unmatched', { words: unmatched.join(' ') })}</p>
      )}
      {total === 0 && <NothingFound {...props} />}
    </>
  );
}

/** The way out of an empty list: the filter to drop, or another suggestion. */
function NothingFound({ query, languages, wider, isNear }: ListPageProps): VNode {
  const { site, t, text, href, categoryName, languageName } = usePage();
  const { q, category, filters } = query;
  const [first] = wider;
  const nameOf = (dropped: NonNullable<Wider['dropped']>): string => {
    if (dropped === 'category') return categoryName(category ?? 'other');
    if (dropped === 'locale') return languageName(filters.locale ?? '', languages);
    return text(`filter.${dropped}`);
  };
  return (
    <>
      {first?.dropped === undefined ? (
        q === '' && <p class="whole">{t('list.nothing')}</p>
      ) : (
        <p class="whole">
          {t('list.without', {
            filter: nameOf(first.dropped),
            found: text('list.found', { count: first.total }),
          })}
        </p>
      )}
      {q !== '' && (
        <p class="whole">
          {!isNear && t('list.nothingNear')} {t('list.nothingAdvice')}
        </p>
      )}
      <ul class="actions whole">
        {wider.slice(0, maxWider).map(({ dropped, query: to, total }, i) => (
          <li key={dropped}>
            <ListLink to={to} class={i === 0 ? 'button' : 'button quiet'}>
              {dropped === undefined
                ? text('list.withoutFilters')
                : text('list.drop', { filter: nameOf(dropped) })}{' '}
              ({text('list.found', { count: total })})
            </ListLink>
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
  { query, total, mentions, corrected, bots }: ListPageProps,
  { text, categoryTitle }: PageLanguage,
): string {
  const { q, category, sort, filters } = query;
  if (q !== '' && total === 0) return text('list.nothingFor', { query: q });
  if (q !== '') return text('list.foundFor', { count: total - mentions || total, query: corrected ?? q });
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
  const { t } = usePage();
  const { filters, category } = props.query;
  const { author: _, ...others } = filters;
  const on = [category, ...Object.values(others)].filter((value) => value !== undefined).length;
  return (
    <div class="list-filters">
      <details>
        <summary class={on > 0 ? 'chip on' : 'chip'}>
          {t('list.filters')} {on > 0 && <Amount of={on} />}
        </summary>
        <FilterChips {...props} />
      </details>
      <SortLinks {...props} />
      <div class="at-end">
        <Follow {...props} />
        <ViewSwitch {...props} />
      </div>
    </div>
  );
}

/** Links to the same page as cards and as rows. */
function ViewSwitch({ query }: ListPageProps): VNode {
  const { t, text } = usePage();
  return (
    <div class="switch" role="group" aria-label={text('list.view')}>
      {([undefined, 'rows'] as const).map((view) => (
        <ListLink key={view} class="chip" to={{ ...query, view }} current={view === query.view}>
          {t(`list.${view ?? 'cards'}`)}
        </ListLink>
      ))}
    </div>
  );
}

/** Links to the same list in each category, if it has several. */
function CategoryMenu({ query, categories }: ListPageProps): VNode | null {
  const { t, categories: known, categoryName } = usePage();
  const { category: current } = query;
  const shown = known.filter((name) => categories.has(name) || name === current);
  if (shown.length < 2 && current === undefined) return null;
  const all = [...categories.values()].reduce((sum, bots) => sum + bots, 0);
  return (
    <li>
      <details class="menu" name="menu">
        <summary class={current === undefined ? 'chip' : 'chip on'}>
          {current === undefined ? t('list.allCategories') : categoryName(current)}
        </summary>
        <ul>
          <Choice to={{ ...query, category: undefined }} current={current === undefined}>
            {t('list.allCategories')} <Amount of={all} />
          </Choice>
          {shown.map((category) => (
            <Choice key={category} to={{ ...query, category }} current={category === current}>
              {categoryName(category)} <Amount of={categories.get(category) ?? 0} />
            </Choice>
          ))}
        </ul>
      </details>
    </li>
  );
}

function FilterChips(props: ListPageProps): VNode {
  const { query, languages } = props;
  const { t, text, locale } = usePage();
  const { filters } = query;
  const [own] = languages.length > 1 ? findLanguages([locale], languages) : [];
  return (
    <nav aria-label={text('list.filters')}>
      <ul class="chips">
        <CategoryMenu {...props} />
        {toggleNames.map((name) => {
          const isOn = filters[name] !== undefined;
          const others = { ...filters, [name]: isOn ? undefined : pageFilters[name].value };
          const to = { ...query, filters: others };
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
  const { t, text, languageName } = usePage();
  const language = query.filters.locale;
  const name = language && languageName(language, languages);
  return (
    <details class="menu" name="menu">
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
  return { ...query, filters: { ...query.filters, locale } };
}

/** The most frequent ones; others are found by search. */
const maxLanguages = 40;

function SortLinks({ query }: ListPageProps): VNode {
  const { t, text } = usePage();
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

interface ListLinkProps {
  readonly to: FrontQuery;
  readonly current?: boolean;
  readonly children: ComponentChildren;
  readonly class?: string;
}

/** A link to another list, which is never the front page. */
function ListLink({ to, current = false, ...others }: ListLinkProps): VNode {
  const { href } = usePage();
  const path = formatFrontPath({ ...to, sort: sortOf(to) });
  return <a {...others} href={href(path)} aria-current={current ? 'true' : undefined} />;
}

/** A list item with a link to the first page of another list. */
function Choice({ to, ...others }: ListLinkProps): VNode {
  return (
    <li>
      <ListLink to={{ ...to, page: 1 }} {...others} />
    </li>
  );
}

function Amount({ of: value }: { readonly of: number }): VNode {
  const { integer } = usePage();
  return <small>{integer(value)}</small>;
}

/** Describes the front page or a list of bots. */
export function createListMeta(
  context: Omit<PageContext, 'viewer'>,
  query: FrontQuery,
  texts: Pick<PageMeta, 'title' | 'description'>,
): PageMeta {
  const { site, categoryTitle } = context;
  const { canonicalUrl, settings } = site;
  const { q, category, filters } = query;
  // Without the language of the interface, the order and the filters.
  const preferred = { ...noQuery, q, category, filters: { author: filters.author }, page: query.page };
  const address = canonicalUrl + formatFrontPath(preferred);
  const common = {
    ...createOwnMeta(address, context, texts),
    isAdult: filters.adult === true,
    isListed: q === '' && filters.author === undefined,
  };
  if (category === undefined)
    return { ...common, data: [createSiteData(canonicalUrl, settings.name, texts.description)] };
  const name = categoryTitle(category);
  return {
    ...common,
    feed: { title: name, path: toFeedPath('category', category) },
    data: [createBreadcrumbData(site, { name, address: `${canonicalUrl}/categories/${category}` })],
  };
}
