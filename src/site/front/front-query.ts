import { toCanonicalLocale } from '../../bot/locale.ts';
import type { Category } from '../../bot/schema-types.ts';
import {
  daysPerWeek,
  filters,
  type FilterValues,
  InvalidValueError,
  type ListParameter,
  type ListSettings,
} from '../../catalogue/lists/filters.ts';
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
  readonly filters: PageFilters;
  /** Counted from 1. */
  readonly page: number;
  /** The language in the address, in its canonical case. */
  readonly locale: string | undefined;
}

/** The order of each name; undefined is best match first. */
export const sorts = {
  relevance: undefined,
  popular: { key: 'count', descending: true },
  growing: { key: 'growth', descending: true },
  newest: { key: 'created', descending: true },
  edited: { key: 'edited', descending: true },
  name: { key: 'name', descending: false },
} as const satisfies Readonly<Record<string, Sort | undefined>>;

export type SortName = keyof typeof sorts;

/** The filters of a page. A list leaves out bots for adults where `adult` is off, and weak matches where `weaker` is. */
export type PageFilters = Omit<FilterValues, 'category' | 'nsfw'> & {
  readonly adult?: true | undefined;
  readonly weaker?: true | undefined;
};

/** The filters that are on or off, with their value where they are on. */
export const toggles = {
  administrator: false,
  openSource: true,
  verified: true,
  active: daysPerWeek,
  adult: true,
} as const satisfies PageFilters;

export const toggleNames = Object.keys(toggles) as (keyof typeof toggles)[];

/** How pages write a filter, where they differ from the API. */
interface PageForm {
  /** The name of the parameter. */
  readonly name?: string;
  readonly parse?: (text: string) => unknown;
  /** The text where it is on. */
  readonly on?: string;
}

const pageForms: Readonly<Record<string, PageForm>> = {
  locale: { name: 'language', parse: toCanonicalLocale },
  administrator: { parse: (text) => (text === 'false' ? false : undefined) },
  openSource: { name: 'source', parse: (text) => text === 'open' || undefined, on: 'open' },
  verified: { parse: (text) => text === 'true' || undefined },
  active: { parse: (text) => (text === '7d' ? daysPerWeek : undefined), on: '7d' },
  adult: { name: 'nsfw', parse: (text) => text === 'true' || undefined },
  weaker: { parse: (text) => text === 'true' || undefined },
};

const listFilters = new Map<string, ListParameter<unknown>>(Object.entries(filters));

/** In the order that addresses have. A category is in the path, and `adult` stands for `nsfw`. */
const pageFilters = [
  ...[...listFilters.keys()].filter(
    (name) => !['category', 'nsfw', ...Object.keys(pageForms)].includes(name),
  ),
  ...Object.keys(pageForms),
] as (keyof PageFilters)[];

/** Reads the query of a page. Ignores invalid values, so that a reader with a damaged link still gets a page. */
export function readFrontQuery(
  params: URLSearchParams,
  category: Category | undefined,
  settings: ListSettings,
): FrontQuery {
  const q = (params.get('q') ?? '').trim().slice(0, 200);
  const sort = params.get('sort') ?? '';
  const isKnown = Object.hasOwn(sorts, sort) && (sort !== 'relevance' || q !== '');
  const page = /^[1-9]\d{0,5}$/.test(params.get('page') ?? '') ? Number(params.get('page')) : 1;
  const found = pageFilters.map((name) => [name, parseFilter(name, params, settings)] as const);
  return {
    q,
    sort: isKnown ? (sort as SortName) : undefined,
    category,
    filters: Object.fromEntries(found.filter(([, value]) => value !== undefined)),
    page,
    locale: toCanonicalLocale(params.get('locale') ?? ''),
  };
}

function parseFilter(filter: keyof PageFilters, params: URLSearchParams, settings: ListSettings): unknown {
  const { name = filter, parse } = pageForms[filter] ?? {};
  const text = params.get(name);
  if (text === null) return undefined;
  if (parse !== undefined) return parse(text);
  try {
    return listFilters.get(filter)?.parse([text], settings);
  } catch (error) {
    if (error instanceof InvalidValueError) return undefined;
    throw error;
  }
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
export function isNarrowed({ category, filters }: FrontQuery): boolean {
  return [category, ...Object.values(filters)].some((value) => value !== undefined);
}

/** Returns the order of a list: the chosen one, else the best match first for a search and most servers first for others. */
export function sortOf({ q, sort }: Pick<FrontQuery, 'q' | 'sort'>): SortName {
  return sort ?? (q === '' ? 'popular' : 'relevance');
}

/** Returns the address of the front page or of a list, without parameters that have their default. */
export function formatFrontPath(query: FrontQuery): string {
  const { q, sort, category, filters, page, locale } = query;
  const params = new URLSearchParams();
  if (q !== '') params.set('q', q);
  // The list of all bots names its order, as the path alone is the front page.
  const isUsual = sort === sortOf({ q, sort: undefined }) && !isFront({ ...query, sort: undefined });
  if (sort !== undefined && !isUsual) params.set('sort', sort);
  for (const filter of pageFilters) {
    const { name = filter, on } = pageForms[filter] ?? {};
    if (filters[filter] !== undefined) params.set(name, on ?? String(filters[filter]));
  }
  if (page > 1) params.set('page', String(page));
  if (locale !== undefined) params.set('locale', locale);
  const path = category === undefined ? '/' : `/categories/${category}`;
  return params.size === 0 ? path : `${path}?${params.toString()}`;
}

/** The query of the front page. */
export const noQuery: FrontQuery = {
  q: '',
  sort: undefined,
  category: undefined,
  filters: {},
  page: 1,
  locale: undefined,
};
