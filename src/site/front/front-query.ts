import { toCanonicalLocale, type Locale } from '../../bot/locale.ts';
import type { Category } from '../../bot/schema-types.ts';
import type { Sort } from '../../catalogue/lists/selection.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { ProblemError } from '../../http/problem.ts';

/** The query of a page that lists bots. */
export interface FrontQuery {
  /** The search text; empty where there is none. */
  readonly q: string;
  /** The chosen order; undefined for the usual one. */
  readonly sort: SortName | undefined;
  readonly category: Category | undefined;
  /** The account's ID of one of the bots' authors. */
  readonly author: string | undefined;
  /** A language that the bots have a page in. */
  readonly language: Locale | undefined;
  /** The filters that are on. */
  readonly filters: readonly FilterName[];
  /** Counted from 1. */
  readonly page: number;
  /** The language in the address, in its canonical case. */
  readonly locale: string | undefined;
}

export type SortName = 'relevance' | 'popular' | 'growing' | 'newest' | 'edited' | 'name';

/** The order of each name; undefined is best match first. */
export const sorts: Readonly<Record<SortName, Sort | undefined>> = {
  relevance: undefined,
  popular: { key: 'count', descending: true },
  growing: { key: 'growth', descending: true },
  newest: { key: 'created', descending: true },
  edited: { key: 'edited', descending: true },
  name: { key: 'name', descending: false },
};

/** The filters that are on or off. */
export const filterNames = ['openSource', 'verified', 'active', 'adult'] as const;

export type FilterName = (typeof filterNames)[number];

/** Reads the query of a page. Ignores invalid values, so that a reader with a damaged link still gets a page. */
export function readFrontQuery(params: URLSearchParams, category: Category | undefined): FrontQuery {
  const q = (params.get('q') ?? '').trim().slice(0, 200);
  const sort = params.get('sort') ?? '';
  const isKnown = Object.hasOwn(sorts, sort) && (sort !== 'relevance' || q !== '');
  const page = /^[1-9]\d{0,5}$/.test(params.get('page') ?? '') ? Number(params.get('page')) : 1;
  return {
    q,
    sort: isKnown ? (sort as SortName) : undefined,
    category,
    author: /^\d{1,20}$/.exec(params.get('author') ?? '')?.[0],
    language: toCanonicalLocale(params.get('language') ?? ''),
    filters: filterNames.filter((name) => {
      const [parameter, value] = parameters[name];
      const text = params.get(parameter);
      // Links of earlier versions have the days.
      return text === value || (name === 'active' && text === '30d');
    }),
    page,
    locale: toCanonicalLocale(params.get('locale') ?? ''),
  };
}

/** Returns the category that a path names. @throws {ProblemError} not-found */
export function parseCategory(text: string, { categories }: Pick<CatalogueSettings, 'categories'>): Category {
  const category = categories.find((id) => id === text);
  if (category !== undefined) return category;
  throw new ProblemError(
    'not-found',
    `there is no category ${JSON.stringify(text.slice(0, 60))}: the categories are ${categories.join(', ')}`,
  );
}

/** Whether a query is that of the front page: nothing is searched for, chosen or sorted. */
export function isFront(query: FrontQuery): boolean {
  return query.q === '' && !isNarrowed(query) && query.sort === undefined && query.page === 1;
}

/** Whether a query leaves out bots that its words alone find. */
export function isNarrowed({ category, author, language, filters }: FrontQuery): boolean {
  return filters.length > 0 || [category, author, language].some((value) => value !== undefined);
}

/** Returns the order of a list: the chosen one, else the best match first for a search and most servers first for others. */
export function sortOf({ q, sort }: Pick<FrontQuery, 'q' | 'sort'>): SortName {
  return sort ?? (q === '' ? 'popular' : 'relevance');
}

/** Returns the address of the front page or of a list, without parameters that have their default. */
export function formatFrontPath(query: FrontQuery): string {
  const { q, sort, category, author, language, filters, page, locale } = query;
  const params = new URLSearchParams();
  if (q !== '') params.set('q', q);
  // The list of all bots names its order, as the path alone is the front page.
  const isUsual = sort === sortOf({ q, sort: undefined }) && !isFront({ ...query, sort: undefined });
  if (sort !== undefined && !isUsual) params.set('sort', sort);
  if (author !== undefined) params.set('author', author);
  if (language !== undefined) params.set('language', language);
  for (const name of filters) params.set(...parameters[name]);
  if (page > 1) params.set('page', String(page));
  if (locale !== undefined) params.set('locale', locale);
  const path = category === undefined ? '/' : `/categories/${category}`;
  return params.size === 0 ? path : `${path}?${params.toString()}`;
}

/** Returns the query that search engines list for a page: without the language of the interface, order and filters. */
export function toPreferredQuery({ q, category, author, page }: FrontQuery): FrontQuery {
  return { ...noQuery, q, category, author, page };
}

/** The query of the front page. */
export const noQuery: FrontQuery = {
  q: '',
  sort: undefined,
  category: undefined,
  author: undefined,
  language: undefined,
  filters: [],
  page: 1,
  locale: undefined,
};

/** The parameter that turns each filter on, and its value. For how many days a bot is active is in the settings. */
const parameters: Readonly<Record<FilterName, readonly [name: string, value: string]>> = {
  openSource: ['source', 'open'],
  verified: ['verified', 'true'],
  active: ['active', 'true'],
  adult: ['nsfw', 'true'],
};
