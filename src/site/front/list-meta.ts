import type { Locale } from '../../bot/locale.ts';
import { listLanguages, toFeedPath } from '../page/addresses.ts';
import { createBreadcrumbData, createSiteData, type PageMeta } from '../page/meta.ts';
import type { PageLanguage } from '../language/page-language.tsx';
import type { Site } from '../page/layout.tsx';
import { type FrontQuery, formatFrontPath, noQuery } from './front-query.ts';

/** Describes the front page or a list of bots. @param title that of the page */
export function createListMeta(options: {
  readonly site: Site;
  readonly query: FrontQuery;
  readonly title: string;
  readonly description: string;
  readonly language: PageLanguage;
}): PageMeta {
  const { site, query, title, description } = options;
  const { canonicalUrl, settings } = site;
  const { text, categoryName, locale, locales, requested } = options.language;
  const { q, category, filters } = query;
  // Without the language of the interface, order and filters.
  const preferred = { ...noQuery, q, category, filters: { author: filters.author }, page: query.page };
  const toAddress = (tag: Locale | undefined): string =>
    canonicalUrl + formatFrontPath({ ...preferred, locale: tag });
  const common = {
    address: toAddress(requested === locale ? locale : undefined),
    title,
    description,
    locale,
    languages: listLanguages(locales, toAddress),
    isAdult: filters.adult === true,
    isListed: q === '' && filters.author === undefined,
  };
  if (category === undefined)
    return { ...common, data: [createSiteData(canonicalUrl, settings.name, description)] };
  const name = text('list.category', { category: categoryName(category) });
  return {
    ...common,
    feed: { title: name, path: toFeedPath('category', category) },
    data: [createBreadcrumbData(site, { name, address: `${canonicalUrl}/categories/${category}` })],
  };
}
