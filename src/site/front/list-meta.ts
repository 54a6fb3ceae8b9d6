import type { Locale } from '../../bot/locale.ts';
import { listMeta, type PageMeta } from '../page/page-meta.ts';
import type { PageLanguage } from '../language/page-language.tsx';
import type { Site } from '../page/layout.tsx';
import { type FrontQuery, formatFrontPath, noQuery, toPreferredQuery } from './front-query.ts';

/** Describes the front page. */
export function createFrontMeta(site: Site, language: PageLanguage): PageMeta {
  const { name, tagline } = site.settings;
  return createListMeta({
    site,
    query: noQuery,
    title: name,
    description: tagline ?? language.text('front.title'),
    language,
  });
}

/** Describes a list of bots. @param title that of the page */
export function createListMeta(options: {
  readonly site: Site;
  readonly query: FrontQuery;
  readonly title: string;
  readonly description: string;
  readonly language: PageLanguage;
}): PageMeta {
  const { site, query, title, description } = options;
  const { baseUrl, settings } = site;
  const { text, categoryName, locale, locales, requested } = options.language;
  const { q, category, filters } = query;
  const preferred = toPreferredQuery(query);
  const pathIn = (tag: Locale): string => formatFrontPath({ ...preferred, locale: tag });
  return listMeta({
    path: requested === locale ? pathIn(locale) : formatFrontPath(preferred),
    title,
    description,
    category:
      category === undefined
        ? undefined
        : {
            id: category,
            name: text('list.category', { category: categoryName(category) }),
          },
    isSearch: q !== '' || filters.author !== undefined,
    isAdult: filters.adult === true,
    baseUrl,
    product: settings.name,
    locale,
    languages: [
      ...locales.map((language) => ({ language, address: baseUrl + pathIn(language) })),
      { language: 'x-default', address: baseUrl + formatFrontPath(preferred) },
    ],
  });
}
