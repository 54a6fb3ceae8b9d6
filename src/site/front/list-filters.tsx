import type { ComponentChildren, VNode } from 'preact';
import type { Locale } from '../../bot/locale.ts';
import type { Category } from '../../bot/schema-types.ts';
import { useLanguage } from '../language/page-language.tsx';
import { findLanguages } from '../language/locales.ts';
import {
  type FrontQuery,
  formatFrontPath,
  pageFilters,
  type SortName,
  sortOf,
  sorts,
  toggleNames,
} from './front-query.ts';
import type { ListPageProps } from './list-page.tsx';

/** Narrows and orders a list. All of them are links, which are folded away on a phone but for the order. */
export function ListFilters(props: ListPageProps): VNode {
  const { t } = useLanguage();
  const { filters, category } = props.query;
  const { author: _, ...others } = filters;
  const on = [category, ...Object.values(others)].filter((value) => value !== undefined).length;
  return (
    <div class="list-filters">
      <details>
        <summary class={on > 0 ? 'chip on' : 'chip'}>
          {t('list.filters')} {on > 0 && <Number of={on} />}
        </summary>
        <CategoryChips {...props} current={category} />
        <FilterChips {...props} />
      </details>
      <SortLinks {...props} />
    </div>
  );
}

/**
 * Leads to the same list in each category, where it has several.
 * @param props.current what is shown now, undefined for all; null for a page that is none of these lists
 */
export function CategoryChips({
  query,
  categories,
  current,
}: Pick<ListPageProps, 'query' | 'categories'> & {
  readonly current: Category | undefined | null;
}): VNode | null {
  const { t, text, categories: known, categoryName } = useLanguage();
  const all = [...categories.values()].reduce((sum, bots) => sum + bots, 0);
  const shown = known.filter((name) => categories.has(name) || name === current);
  if (shown.length < 2) return null;
  return (
    <nav aria-label={text('list.categories')}>
      <ul class="chips row">
        <Chip to={{ ...query, category: undefined, sort: sortOf(query) }} current={current === undefined}>
          {t('list.all')} <Number of={all} />
        </Chip>
        {shown.map((category) => (
          <Chip key={category} to={{ ...query, category }} current={category === current}>
            {categoryName(category)} <Number of={categories.get(category) ?? 0} />
          </Chip>
        ))}
      </ul>
    </nav>
  );
}

function FilterChips(props: ListPageProps): VNode {
  const { query, languages } = props;
  const { t, text, locale } = useLanguage();
  const { filters } = query;
  const [own] = languages.length > 1 ? findLanguages([locale], languages) : [];
  return (
    <nav aria-label={text('list.filters')}>
      <ul class="chips">
        {toggleNames.map((name) => {
          const isOn = filters[name] !== undefined;
          const others = { ...filters, [name]: isOn ? undefined : pageFilters[name].value };
          const to = { ...query, filters: others, sort: sortOf(query) };
          return (
            <Chip key={name} {...{ to, current: isOn }}>
              {t(`filter.${name}`)}
            </Chip>
          );
        })}
        {own !== undefined && (
          <Chip
            to={withLanguage(query, filters.locale === own ? undefined : own)}
            current={filters.locale === own}
          >
            {t('filter.ownLanguage')}
          </Chip>
        )}
        {(languages.length > 1 || filters.locale !== undefined) && (
          <li>
            <LanguageMenu {...props} />
          </li>
        )}
      </ul>
    </nav>
  );
}

function LanguageMenu({ query, languages }: ListPageProps): VNode {
  const { t, languageName } = useLanguage();
  const language = query.filters.locale;
  const name = language && languageName(language);
  return (
    <details class="menu">
      <summary class={language === undefined ? 'chip' : 'chip on'}>
        {name === undefined ? t('filter.language') : t('filter.inLanguage', { language: name })}
      </summary>
      <ul>
        <Choice to={withLanguage(query, undefined)} current={language === undefined}>
          {t('filter.anyLanguage')}
        </Choice>
        {languages.slice(0, maxLanguages).map((other) => (
          <Choice key={other} to={withLanguage(query, other)} current={other === language}>
            {languageName(other)}
          </Choice>
        ))}
      </ul>
    </details>
  );
}

function withLanguage(query: FrontQuery, locale: Locale | undefined): FrontQuery {
  return { ...query, filters: { ...query.filters, locale }, sort: sortOf(query) };
}

/** Those of most bots; others are found by search. */
const maxLanguages = 40;

function SortLinks({ query }: ListPageProps): VNode {
  const { t, text } = useLanguage();
  const names = (Object.keys(sorts) as SortName[]).filter((name) => name !== 'relevance' || query.q !== '');
  return (
    <nav class="sort" aria-label={text('search.sort')}>
      <ul>
        {names.map((sort) => (
          <Choice key={sort} to={{ ...query, sort }} current={sort === sortOf(query)}>
            {t(`sort.${sort}`)}
          </Choice>
        ))}
      </ul>
    </nav>
  );
}

interface ChoiceProps {
  readonly to: FrontQuery;
  readonly current: boolean;
  readonly children: ComponentChildren;
  readonly class?: string;
}

function Chip(props: ChoiceProps): VNode {
  return <Choice {...props} class="chip" />;
}

/** A link to another list, from its first page. */
function Choice({ to, current, children, ...others }: ChoiceProps): VNode {
  const { publicPath } = useLanguage();
  const href = publicPath(formatFrontPath({ ...to, page: 1 }));
  return (
    <li>
      <a {...others} href={href} aria-current={current ? 'true' : undefined}>
        {children}
      </a>
    </li>
  );
}

function Number({ of: value }: { readonly of: number }): VNode {
  const { integer } = useLanguage();
  return <small>{integer(value)}</small>;
}
