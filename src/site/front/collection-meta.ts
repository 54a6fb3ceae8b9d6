import {
  collectionsPath,
  listPageLanguages,
  toFeedPath,
  toCollectionPath,
  toPathInLanguage,
} from '../page/addresses.ts';
import { createBreadcrumbData, type PageMeta } from '../page/meta.ts';
import type { CollectionPageProps } from './collection-pages.tsx';
import { minListed } from './collections.ts';

/** Describes the page of a collection in one of its languages, and the list of its bots. @param all what the list of collections is called */
export function createCollectionMeta(page: CollectionPageProps, all: string): PageMeta {
  const { site, name, locale, locales, title, description, bots } = page;
  const main = site.canonicalUrl + toCollectionPath(name);
  const address = toPathInLanguage(main, locale, locales[0] ?? locale);
  const isAdult = bots.some(({ bot }) => bot.nsfw);
  const itemListElement = bots.map(({ bot: { id } }, i) => {
    return { '@type': 'ListItem', position: i + 1, url: `${site.canonicalUrl}/bots/${id}` };
  });
  const list = {
    '@context': 'https://schema.org',
    '@type': 'CollectionPage',
    url: address,
    name: title,
    description,
    inLanguage: locale,
    mainEntity: { '@type': 'ItemList', itemListElement },
  };
  const crumb = { name: all, address: site.canonicalUrl + collectionsPath };
  return {
    address,
    title,
    description,
    locale,
    isAdult,
    languages: listPageLanguages(main, locales),
    isListed: !isAdult && bots.length >= minListed,
    feed: { title, path: toFeedPath('collection', name) },
    data: [list, createBreadcrumbData(site, crumb, { name: title, address })],
  };
}
