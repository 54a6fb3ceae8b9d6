import type { Locale } from '../../bot/locale.ts';
import { withLocale } from '../language/locales.ts';

/** What the head of every page links to. */
export const sitePaths = {
  newBots: '/feeds/new.atom',
  manifest: '/site.webmanifest',
  openSearch: '/opensearch.xml',
  favicon: '/favicon.ico',
  touchIcon: '/apple-touch-icon.png',
} as const;

/** Returns a path of what programs read with a language of the interface, which the default language goes without. */
export function toPathInLanguage(path: string, locale: string, defaultLocale: string): string {
  return locale === defaultLocale ? path : withLocale(path, locale);
}

/** A page in one language. */
export interface LanguageAddress {
  /** A language tag, or `x-default`. */
  readonly language: string;
  readonly address: string;
}

/**
 * Returns the preferred address of a bot's page in one of its languages. The default language has the address without a
 * language: that is what a client sees that names none.
 */
export function formatBotAddress(baseUrl: string, id: string, locale: Locale, defaultLocale: Locale): string {
  return toPathInLanguage(`${baseUrl}/bots/${id}`, locale, defaultLocale);
}

/**
 * Returns the addresses of a bot's page in all of its languages and in no particular one; none for a bot in one language.
 * @param locales the default one first
 */
export function listBotLanguages(baseUrl: string, id: string, locales: readonly Locale[]): LanguageAddress[] {
  const [first] = locales;
  if (first === undefined || locales.length < 2) return [];
  return [
    ...locales.map((language) => ({ language, address: formatBotAddress(baseUrl, id, language, first) })),
    { language: 'x-default', address: formatBotAddress(baseUrl, id, first, first) },
  ];
}

/**
 * Returns the addresses of a page that is in all languages of the interface, in each of them and in no particular one.
 * @param path without a query
 */
export function listPageLanguages(
  baseUrl: string,
  path: string,
  locales: readonly Locale[],
): LanguageAddress[] {
  if (locales.length === 0) return [];
  const address = `${baseUrl}${path}`;
  return [
    ...locales.map((language) => ({ language, address: withLocale(address, language) })),
    { language: 'x-default', address },
  ];
}

/** Returns the path of the feed of a category. */
export function toCategoryFeed(category: string): string {
  return `/feeds/category/${category}.atom`;
}

/** Returns the path of the feed of an author. */
export function toAuthorFeed(author: string): string {
  return `/feeds/author/${author}.atom`;
}
