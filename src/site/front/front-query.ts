import { canonicalLocale } from '../../bot/locale.ts';
import type { Category } from '../../bot/schema-types.ts';
import type { Sort } from '../../catalogue/lists/selection.ts';

/** The query of a page that lists bots. */
export interface FrontQuery {
  /** The search text; empty where there is none. */
  readonly q: string;
  readonly sort: SortName;
  readonly category: Category | undefined;
  /** Whether 18+ bots are included. */
  readonly nsfw: boolean;
  /** Counted from 1. */
  readonly page: number;
  /** The language in the address, in its canonical case. */
  readonly locale: string | undefined;
}

export type SortName = 'relevance' | 'popular' | 'newest' | 'edited' | 'name' | 'shuffled';

/** The order of each name; undefined is best match first. */
export const sorts: Readonly<Record<SortName, Sort | undefined>> = {
  relevance: undefined,
  popular: { key: 'count', descending: true },
  newest: { key: 'created', descending: true },
  edited: { key: 'edited', descending: true },
  name: { key: 'name', descending: false },
  shuffled: { key: 'random', descending: false },
};

/** Reads the query of a page. Ignores invalid values, so that a reader with a damaged link still gets a page. */
export function readFrontQuery(params: URLSearchParams, category: Category | undefined): FrontQuery {
  const q = (params.get('q') ?? '').trim().slice(0, 200);
  const asked = params.get('sort') ?? '';
  const known = Object.hasOwn(sorts, asked) && (asked !== 'relevance' || q !== '');
  const page = /^[1-9]\d{0,5}$/.test(params.get('page') ?? '') ? Number(params.get('page')) : 1;
  return {
    q,
    sort: known ? (asked as SortName) : defaultSort(q),
    category,
    nsfw: params.get('nsfw') === 'true',
    page,
    locale: canonicalLocale(params.get('locale') ?? ''),
  };
}

/** Returns the address of a list, without parameters that have their default. */
export function frontPath({ q, sort, category, nsfw, page, locale }: FrontQuery): string {
  const params = new URLSearchParams();
  if (q !== '') params.set('q', q);
  if (sort !== defaultSort(q)) params.set('sort', sort);
  if (nsfw) params.set('nsfw', 'true');
  if (page > 1) params.set('page', String(page));
  if (locale !== undefined) params.set('locale', locale);
  const path = category === undefined ? '/' : `/categories/${category}`;
  return params.size === 0 ? path : `${path}?${params.toString()}`;
}

/** Returns the query that search engines list for a page: without the language, and in the default order. */
export function preferredQuery({ q, category, page }: FrontQuery): FrontQuery {
  return { q, sort: defaultSort(q), category, nsfw: false, page, locale: undefined };
}

function defaultSort(q: string): SortName {
  return q === '' ? 'popular' : 'relevance';
}
