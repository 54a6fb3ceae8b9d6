import type { VNode } from 'preact';
import { useLanguage } from '../language/page-language.tsx';
import { type FrontQuery, formatFrontPath, noQuery } from './front-query.ts';
import { CategoryChips } from './list-filters.tsx';
import type { ListPageProps } from './list-page.tsx';

/** What an empty list shows: what to try, the same search without its filters, and the categories. */
export function NothingFound(props: ListPageProps): VNode {
  const { site, query, allCategories, withoutFilters } = props;
  const { t, href, publicPath } = useLanguage();
  const { q, locale } = query;
  const all: FrontQuery = { ...noQuery, locale, q, sort: q === '' ? 'popular' : undefined };
  return (
    <>
      <div class="empty">
        <p>
          <strong>{q === '' ? t('list.nothing') : t('list.nothingFor', { query: q })}</strong>{' '}
          {t('list.nothingAdvice')}
        </p>
        {withoutFilters > 0 && (
          <a class="button quiet" href={publicPath(formatFrontPath(all))}>
            {t('list.withoutFilters')} ({t('list.found', { count: withoutFilters })})
          </a>
        )}
        {site.hasForms && (
          <a class="button quiet" href={href('/add')}>
            {t('list.suggest')}
          </a>
        )}
      </div>
      <CategoryChips query={{ ...noQuery, locale }} categories={allCategories} current={null} />
    </>
  );
}
