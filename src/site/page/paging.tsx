import type { Context } from 'koa';
import type { VNode } from 'preact';
import { ProblemError } from '../../http/problem.ts';
import { parseQuery } from '../../http/request.ts';
import { useLanguage } from './page-context.tsx';

/** A part of a list. */
interface PickedPage<T> {
  readonly page: number;
  readonly pages: number;
  readonly shown: readonly T[];
}

/** Returns the page of a list that the parameter `page` selects, by default the first. @throws {ProblemError} not-found */
export function pickPage<T>(ctx: Context, all: readonly T[], pageSize = 50): PickedPage<T> {
  const page = Math.trunc(Number(parseQuery(ctx).get('page') ?? 1));
  const pages = Math.max(1, Math.ceil(all.length / pageSize));
  if (!(page >= 1 && page <= pages))
    throw new ProblemError('not-found', `there is no page ${page}: the last one is ${pages}`);
  return { page, pages, shown: all.slice((page - 1) * pageSize, page * pageSize) };
}

export interface PageLinksProps {
  /** The number of this page. */
  readonly page: number;
  readonly pages: number;
  /** Returns the public path of a page. */
  readonly pathOf: (number: number) => string;
}

/** Links to the other pages of a list by number. */
export function PageLinks({ page, pages, pathOf }: PageLinksProps): VNode | null {
  const { t, text, integer } = useLanguage();
  if (pages <= 1) return null;
  return (
    <nav class="pages" aria-label={text('list.pages')}>
      {page > 1 && (
        <a class="button quiet" rel="prev" href={pathOf(page - 1)}>
          {t('list.previous')}
        </a>
      )}
      <ol>
        {listShownPages(page, pages).map((number, i, shown) => (
          <li key={number}>
            {i > 0 && number - (shown[i - 1] ?? 0) > 1 && <span aria-hidden="true">…</span>}
            <a href={pathOf(number)} aria-current={number === page ? 'page' : undefined}>
              {integer(number)}
            </a>
          </li>
        ))}
      </ol>
      {page < pages && (
        <a class="button quiet" rel="next" href={pathOf(page + 1)}>
          {t('list.next')}
        </a>
      )}
    </nav>
  );
}

/** Returns the first page, the last one, and those around this one. */
function listShownPages(page: number, pages: number): number[] {
  const numbers = [1, page - 1, page, page + 1, pages];
  return [...new Set(numbers)].filter((number) => number >= 1 && number <= pages);
}
