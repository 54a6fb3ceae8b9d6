import type { VNode } from 'preact';
import { useLanguage } from '../language/page-language.tsx';

export interface PageLinksProps {
  /** The number of this page. */
  readonly page: number;
  readonly pages: number;
  /** Returns the public path of a page. */
  readonly pathOf: (number: number) => string;
}

/** Leads to the other pages of a list by their numbers. */
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
