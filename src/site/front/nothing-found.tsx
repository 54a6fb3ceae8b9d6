import type { VNode } from 'preact';
import { useLanguage } from '../language/page-language.tsx';
import { Cards, type ListedBot } from './cards.tsx';
import type { FrontList } from './front-list.ts';
import { type FrontQuery, formatFrontPath, noQuery } from './front-query.ts';
import { CategoryChips } from './list-filters.tsx';

export interface NothingFoundProps extends Pick<FrontList, 'allCategories' | 'withoutFilters'> {
  readonly query: FrontQuery;
  /** What is nearest to the search. */
  readonly suggestions: readonly ListedBot[];
}

/** What an empty list shows: what to try, the same search without its filters, the categories, and the nearest bots. */
export function NothingFound(props: NothingFoundProps): VNode {
  const { query, allCategories, withoutFilters, suggestions } = props;
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
        <a class="button quiet" href={href('/add')}>
          {t('list.suggest')}
        </a>
      </div>
      <CategoryChips query={{ ...noQuery, locale }} categories={allCategories} current={null} />
      {suggestions.length > 0 && (
        <section class="shelf" aria-labelledby="nearest">
          <div class="shelf-head">
            <h2 id="nearest">{t('list.nearest')}</h2>
          </div>
          <Cards bots={suggestions} heading="h3" atOnce={0} />
        </section>
      )}
    </>
  );
}
