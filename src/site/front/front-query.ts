import type { Category } from '../../../schemas/types.ts';
import { parseBotId } from '../../bot/id.ts';
import { toCanonicalLocale } from '../../bot/locale.ts';
import {
  daysPerWeek,
  type FilterValues,
  maxQueryLength,
  type Sort,
} from '../../catalogue/lists/parameters.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { ProblemError } from '../../http/problem.ts';

/** The query of a page that lists bots. */
export interface FrontQuery {
  /** The search text; empty without a search. */
  readonly q: string;
  /** The chosen order; undefined for the default. */
  readonly sort: SortName | undefined;
  readonly category: Category | undefined;
  readonly filters: PageFilters;
  /** The form of the list; undefined for cards. */
  readonly view: 'rows' | undefined;
  /** Counted from 1. */
  readonly page: number;
}

/** Order name → order; undefined is best match first. */
export const sorts = {
  relevance: undefined,
  popular: { key: 'count', descending: true },
  growing: { key: 'growth', descending: true },
  newest: { key: 'created', descending: true },
  edited: { key: 'edited', descending: true },
  name: { key: 'name', descending: false },
} as const satisfies Readonly<Record<string, Sort | undefined>>;

export type SortName = keyof typeof sorts;

/** The filters of a page. A list leaves out bots for adults unless `adult` is on, and weak matches unless `weaker` is. */
export type PageFilters = Omit<FilterValues, 'category' | 'nsfw'> & {
  readonly adult?: true | undefined;
  readonly weaker?: true | undefined;
};

/** The form of a filter in the address of a page. */
interface PageFilter {
  /** The name of the parameter. */
  readonly name: string;
  /** Returns the value of a text; undefined for an invalid text. */
  readonly read: (text: string) => unknown;
  /** For a filter that is either on or off: the text and the value when it is on. */
  readonly text?: string;
  readonly value?: boolean | number;
}

/** In the order of addresses. A category is in the path, and `adult` stands for `nsfw`. */
export const pageFilters: Readonly<Record<keyof PageFilters, PageFilter>> = {
  author: { name: 'author', read: parseBotId },
  locale: { name: 'language', read: toCanonicalLocale },
  administrator: toggle('administrator', 'false', false),
  openSource: toggle('source', 'open', true),
  verified: toggle('verified', 'true', true),
  active: toggle('active', `${daysPerWeek}d`, daysPerWeek),
  adult: toggle('nsfw', 'true', true),
  weaker: toggle('weaker', 'true', true),
};

function toggle(name: string, text: string, value: boolean | number): PageFilter {
  return { name, read: (given) => (given === text ? value : undefined), text, value };
}

/** The filters that readers turn on and off. */
export const toggleNames = ['administrator', 'openSource', 'verified', 'active', 'adult'] as const;

/** Reads the query of a page. Ignores invalid values, so that a damaged link still shows a page. */
export function readFrontQuery(params: URLSearchParams, category: Category | undefined): FrontQuery {
  const q = (params.get('q') ?? '').trim().slice(0, maxQueryLength);
  const sort = params.get('sort') ?? '';
  const isKnown = Object.hasOwn(sorts, sort) && (sort !== 'relevance' || q !== '');
  const page = /^[1-9]\d{0,5}$/.test(params.get('page') ?? '') ? Number(params.get('page')) : 1;
  const found = Object.entries(pageFilters).map(([filter, { name, read }]) => {
    const text = params.get(name);
    return [filter, text === null ? undefined : read(text)] as const;
  });
  return {
    q,
    sort: isKnown ? (sort as SortName) : undefined,
    category,
    filters: Object.fromEntries(found.filter(([, value]) => value !== undefined)),
    view: params.get('view') === 'rows' ? 'rows' : undefined,
    page,
  };
}

/** Returns the category of a path. @throws {ProblemError} not-found */
export function parseCategory(text: string, { categories }: Pick<CatalogueSettings, 'categories'>): Category {
  const category = categories.find((id) => id === text);
  if (category !== undefined) return category;
  throw new ProblemError(
    'not-found',
    `there is no category ${JSON.stringify(text.slice(0, 60))}: the categories are ${categories.join(', ')}`,
  );
}

/** Whether a query is that of the front page, without a search, a filter or an order. */
export function isFront(query: FrontQuery): boolean {
  return query.q === '' && !isNarrowed(query) && query.sort === undefined && query.page === 1;
}

/** Whether a query leaves out bots that match its words. */
export function isNarrowed({ category, filters }: FrontQuery): boolean {
  return [category, ...Object.values(filters)].some((value) => value !== undefined);
}

/** Returns a query without the filters that a reader chose. */
export function withoutFilters(query: FrontQuery): FrontQuery {
  const { author, adult, weaker } = query.filters;
  return {
    ...query,
    filters: { ...(author && { author }), ...(adult && { adult }), ...(weaker && { weaker }) },
    page: 1,
  };
}

/** Returns the order of a list: the chosen one, or by default the best match first for a search, and otherwise most servers first. */
export function sortOf({ q, sort }: Pick<FrontQuery, 'q' | 'sort'>): SortName {
  return sort ?? (q === '' ? 'popular' : 'relevance');
}

/** Returns the address of the front page or of a list, without parameters at their default. */
export function formatFrontPath(query: FrontQuery): string {
  const { q, sort, category, filters, view, page } = query;
  const params = new URLSearchParams();
  if (q !== '') params.set('q', q);
  // The list of all bots names its order, because the path alone is the front page.
  const isUsual = sort === sortOf({ q, sort: undefined }) && !isFront({ ...query, sort: undefined });
  if (sort !== undefined && !isUsual) params.set('sort', sort);
  for (const [filter, { name, text }] of Object.entries(pageFilters)) {
    const value = filters[filter as keyof PageFilters];
    if (value !== undefined) params.set(name, text ?? String(value));
  }
  if (view !== undefined) params.set('view', view);
  if (page > 1) params.set('page', String(page));
  const path = category === undefined ? '/' : `/categories/${category}`;
  return params.size === 0 ? path : `${path}?${params.toString()}`;
}

/** The query of the front page. */
export const noQuery: FrontQuery = {
  q: '',
  sort: undefined,
  category: undefined,
  filters: {},
  view: undefined,
  page: 1,
};
