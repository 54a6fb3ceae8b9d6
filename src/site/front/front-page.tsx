import type { VNode } from 'preact';
import type { Locale } from '../../bot/locale.ts';
import { categories as allCategories } from '../../bot/schemas.ts';
import type { Category } from '../../bot/schema-types.ts';
import { Card, type CardProps } from './card.tsx';
import { listMeta, type PageMeta } from '../head/page-meta.ts';
import { type FrontQuery, frontPath, preferredQuery, type SortName, sorts } from './front-query.ts';
import { productName } from '../page/product-name.ts';
import { Layout, type Site, type Viewer } from '../page/layout.tsx';
import type { MessageKey } from '../language/message-file.ts';
import { KeepLanguage, type PageLanguage, useLanguage } from '../language/page-language.tsx';

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
  const language = useLanguage();
  const { t, text } = language;
  const heading = category === undefined ? undefined : { category: text(`category.${category}`) };
  const found = { count: total, query: q };
  const title = q === '' ? heading && text('list.category', heading) : text('list.foundFor', found);
  const pathIn = (locale: Locale): string => frontPath({ ...query, locale });
  const meta = metaOf(props, title, language);
  return (
    <Layout {...{ site, viewer, pathIn, meta }} {...(title !== undefined && { title })}>
      <div class="hero">
        <h1>{heading === undefined ? t('list.tagline') : t('list.category', heading)}</h1>
      </div>
      <SearchForm query={query} />
      <Chips {...props} />
      <section aria-labelledby="result">
        <div class="result">
          <h2 id="result">{t(q === '' ? 'list.found' : 'list.foundFor', found)}</h2>
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

function metaOf(
  { query, total, baseUrl }: FrontPageProps,
  title: string | undefined,
  { text, locale, locales, asked }: PageLanguage,
): PageMeta {
  const { q, category, nsfw } = query;
  const preferred = preferredQuery(query);
  const pathIn = (locale: Locale): string => frontPath({ ...preferred, locale });
  const tagline = text('list.tagline');
  const isFront = q === '' && category === undefined;
  return listMeta({
    path: asked === locale ? pathIn(locale) : frontPath(preferred),
    title: title ?? productName,
    description: isFront ? tagline : `${text('list.found', { count: total })}. ${tagline}`,
    category: category && {
      id: category,
      name: text('list.category', { category: text(`category.${category}`) }),
    },
    isSearch: q !== '',
    isAdult: nsfw,
    baseUrl,
    product: productName,
    locale,
    languages: [
      ...locales.map((language) => ({ language, address: baseUrl + pathIn(language) })),
      { language: 'x-default', address: baseUrl + frontPath(preferred) },
    ],
  });
}

/** Works without a script, as a GET form. */
function SearchForm({ query }: { readonly query: FrontQuery }): VNode {
  const { t, text } = useLanguage();
  const { q, sort, category, nsfw } = query;
  const names = (Object.keys(sorts) as SortName[]).filter((name) => name !== 'relevance' || q !== '');
  return (
    <form class="search" role="search" action={category === undefined ? '/' : `/categories/${category}`}>
      <div class="query">
        <label class="out-of-sight" for="q">
          {t('search.label')}
        </label>
        <input
          id="q"
          type="search"
          name="q"
          value={q}
          maxLength={200}
          placeholder={text('search.placeholder')}
        />
      </div>
      <div class="sort">
        <label class="out-of-sight" for="sort">
          {t('search.sort')}
        </label>
        <select id="sort" name="sort">
          {names.map((name) => (
            <option key={name} value={name} selected={name === sort}>
              {text(`sort.${name}`)}
            </option>
          ))}
        </select>
      </div>
      <KeepLanguage />
      <button type="submit">{t('search.button')}</button>
      <label class="check">
        <input type="checkbox" name="nsfw" value="true" checked={nsfw} />
        {t('list.adult')}
      </label>
    </form>
  );
}

function Chips({ query, categories }: FrontPageProps): VNode {
  const { text } = useLanguage();
  const all = [...categories.values()].reduce((sum, bots) => sum + bots, 0);
  const shown = allCategories.filter((name) => categories.has(name) || name === query.category);
  return (
    <nav aria-label={text('list.categories')}>
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
  const { t, integer } = useLanguage();
  return (
    <li>
      <a
        class="chip"
        href={frontPath({ ...query, category, page: 1 })}
        aria-current={category === query.category ? 'page' : undefined}
      >
        {t(category === undefined ? 'list.all' : `category.${category}`)} <small>{integer(bots)}</small>
      </a>
    </li>
  );
}

/** What an empty list shows: why, and a link that helps. */
function Nothing({ query }: { readonly query: FrontQuery }): VNode {
  const isEmpty = query.q === '' && query.category === undefined && query.page === 1;
  const { t, href } = useLanguage();
  const nothing: MessageKey = query.q === '' ? 'list.nothing' : 'list.nothingFor';
  const headingKey = isEmpty ? 'list.empty' : nothing;
  return (
    <div class="empty">
      <h3>{t(headingKey, { query: query.q })}</h3>
      <p>{t(isEmpty ? 'list.emptyAdvice' : 'list.nothingAdvice')}</p>
      <a class="button" href={href(isEmpty ? '/add' : '/')}>
        {t(isEmpty ? 'layout.add' : 'list.seeAll')}
      </a>
    </div>
  );
}

function Pages({ query, pages }: FrontPageProps): VNode | null {
  const { t, text } = useLanguage();
  const { page } = query;
  if (pages <= 1) return null;
  return (
    <nav class="pages" aria-label={text('list.pages')}>
      {page > 1 && (
        <a class="button quiet" rel="prev" href={frontPath({ ...query, page: Math.min(page - 1, pages) })}>
          {t('list.previous')}
        </a>
      )}
      <span class="muted">{t('list.page', { page, pages })}</span>
      {page < pages && (
        <a class="button quiet" rel="next" href={frontPath({ ...query, page: page + 1 })}>
          {t('list.next')}
        </a>
      )}
    </nav>
  );
}
