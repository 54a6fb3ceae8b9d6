import type { VNode } from 'preact';
import type { Category } from '../../bot/schema-types.ts';
import { Card, type CardProps } from './card.tsx';
import { listMeta, type PageMeta } from '../head/page-meta.ts';
import { type FrontQuery, frontPath, preferredPath, type SortName, sorts } from './front-query.ts';
import { Layout, type Site, type Viewer } from '../page/layout.tsx';
import { categoryNames, integer, interfaceLanguage, messages } from '../page/messages.ts';

export interface FrontPageProps {
  readonly site: Site;
  readonly viewer: Viewer | null;
  readonly query: FrontQuery;
  /** The bots of this page of the list. */
  readonly cards: readonly CardProps[];
  /** How many bots the list has on all of its pages. */
  readonly total: number;
  readonly pages: number;
  /** How many bots of each category match the rest of the query. */
  readonly categories: ReadonlyMap<Category, number>;
  /** The public address, without a slash at its end. */
  readonly baseUrl: string;
}

/** A list of bots to search and browse: all bots, or those of a category. */
export function FrontPage(props: FrontPageProps): VNode {
  const { site, viewer, query, cards, total } = props;
  const { q, category } = query;
  const heading = category === undefined ? messages.tagline : messages.categoryTitle(category);
  const title = q === '' ? (category === undefined ? undefined : heading) : messages.foundFor(total, q);
  return (
    <Layout site={site} viewer={viewer} {...(title !== undefined && { title })} meta={metaOf(props, title)}>
      <div class="hero">
        <h1>{heading}</h1>
      </div>
      <SearchForm query={query} />
      <Chips {...props} />
      <section aria-labelledby="result">
        <div class="result">
          <h2 id="result">{q === '' ? messages.found(total) : messages.foundFor(total, q)}</h2>
        </div>
        {cards.length === 0 ? (
          <Nothing query={query} />
        ) : (
          <ul class="cards">
            {cards.map((card, i) => (
              <Card key={card.bot.id} {...card} lazy={i >= cardsAtOnce} />
            ))}
          </ul>
        )}
        <Pages {...props} />
      </section>
    </Layout>
  );
}

/** The cards that a large screen shows without scrolling. */
const cardsAtOnce = 9;

function metaOf({ query, total, baseUrl }: FrontPageProps, title: string | undefined): PageMeta {
  const { q, category, nsfw } = query;
  const isFront = q === '' && category === undefined;
  return listMeta({
    path: preferredPath(query),
    title: title ?? messages.product,
    description: isFront ? messages.tagline : `${messages.found(total)}. ${messages.tagline}`,
    category: category && { id: category, name: messages.categoryTitle(category) },
    isSearch: q !== '',
    isAdult: nsfw,
    baseUrl,
    product: messages.product,
    locale: interfaceLanguage,
    languages: [],
  });
}

/** Works without a script, as a GET form. */
function SearchForm({ query }: { readonly query: FrontQuery }): VNode {
  const { q, sort, category, nsfw, locale } = query;
  const names = (Object.keys(sorts) as SortName[]).filter((name) => name !== 'relevance' || q !== '');
  return (
    <form class="search" role="search" action={category === undefined ? '/' : `/categories/${category}`}>
      <div class="query">
        <label class="out-of-sight" for="q">
          {messages.searchLabel}
        </label>
        <input
          id="q"
          type="search"
          name="q"
          value={q}
          maxLength={200}
          placeholder={messages.searchPlaceholder}
        />
      </div>
      <div class="sort">
        <label class="out-of-sight" for="sort">
          {messages.sortLabel}
        </label>
        <select id="sort" name="sort">
          {names.map((name) => (
            <option key={name} value={name} selected={name === sort}>
              {messages.sorts[name]}
            </option>
          ))}
        </select>
      </div>
      {locale !== undefined && <input type="hidden" name="locale" value={locale} />}
      <button type="submit">{messages.searchButton}</button>
      <label class="check">
        <input type="checkbox" name="nsfw" value="true" checked={nsfw} />
        {messages.showAdult}
      </label>
    </form>
  );
}

function Chips({ query, categories }: FrontPageProps): VNode {
  const all = [...categories.values()].reduce((sum, bots) => sum + bots, 0);
  const names = Object.keys(categoryNames) as Category[];
  const shown = names.filter((name) => categories.has(name) || name === query.category);
  return (
    <nav aria-label={messages.categoriesLabel}>
      <ul class="chips">
        <Chip query={query} category={undefined} bots={all} />
        {shown.map((category) => (
          <Chip key={category} query={query} category={category} bots={categories.get(category) ?? 0} />
        ))}
      </ul>
    </nav>
  );
}

interface ChipProps {
  readonly query: FrontQuery;
  readonly category: Category | undefined;
  readonly bots: number;
}

function Chip({ query, category, bots }: ChipProps): VNode {
  return (
    <li>
      <a
        class="chip"
        href={frontPath({ ...query, category, page: 1 })}
        aria-current={category === query.category ? 'page' : undefined}
      >
        {category === undefined ? messages.allBots : categoryNames[category]} <small>{integer(bots)}</small>
      </a>
    </li>
  );
}

/** What an empty list shows: why, and a link that helps. */
function Nothing({ query }: { readonly query: FrontQuery }): VNode {
  const isEmpty = query.q === '' && query.category === undefined && query.page === 1;
  return (
    <div class="empty">
      <h3>
        {isEmpty
          ? messages.emptyCatalogue
          : query.q === ''
            ? messages.nothingFound
            : messages.nothingFoundFor(query.q)}
      </h3>
      <p>{isEmpty ? messages.emptyCatalogueAdvice : messages.nothingFoundAdvice}</p>
      <a class="button" href={isEmpty ? '/add' : '/'}>
        {isEmpty ? messages.add : messages.seeAll}
      </a>
    </div>
  );
}

function Pages({ query, pages }: FrontPageProps): VNode | null {
  const { page } = query;
  if (pages <= 1) return null;
  return (
    <nav class="pages" aria-label={messages.pagesLabel}>
      {page > 1 && (
        <a class="button quiet" rel="prev" href={frontPath({ ...query, page: Math.min(page - 1, pages) })}>
          {messages.previousPage}
        </a>
      )}
      <span class="muted">{messages.pageOf(page, pages)}</span>
      {page < pages && (
        <a class="button quiet" rel="next" href={frontPath({ ...query, page: page + 1 })}>
          {messages.nextPage}
        </a>
      )}
    </nav>
  );
}
