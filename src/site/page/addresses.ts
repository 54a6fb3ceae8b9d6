import type { AccountId } from '../../bot/account.ts';
import type { BotId } from '../../bot/id.ts';
import type { Locale } from '../../bot/locale.ts';
import type { FullCodehost } from '../../bot/schema-types.ts';
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
  return listLanguages(locales, (locale = first) => formatBotAddress(baseUrl, id, locale, first));
}

/** Returns the addresses of a page in each of these languages and in no particular one; none without a language. */
export function listLanguages(
  locales: readonly Locale[],
  toAddress: (locale: Locale | undefined) => string,
): LanguageAddress[] {
  if (locales.length === 0) return [];
  return [...locales, undefined].map((locale) => {
    return { language: locale ?? 'x-default', address: toAddress(locale) };
  });
}

/** Returns the path of the feed of a category. */
export function toCategoryFeed(category: string): string {
  return `/feeds/category/${category}.atom`;
}

/** Returns a path with a parameter more. */
export function withParameter(path: string, name: string, value: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`;
}

/** Returns the path of the page where an account follows its proposal. @param shared whether the other machines have it */
export function toProposalPath(bot: BotId, shared = true): string {
  return `/proposals/${bot}${shared ? '' : '?shared=no'}`;
}

/** Returns the path of the form that edits a bot's page in a language, which is its main page where none is named. */
export function editPath(id: BotId, language?: Locale): string {
  return `/bots/${id}/edit${language === undefined ? '' : `?language=${language}`}`;
}

/** Returns the path of the form that adds a language to a bot. @param from that of the page to translate; the main page where none is named */
export function translatePath(id: BotId, from?: Locale): string {
  return `/bots/${id}/translate${from === undefined ? '' : `?from=${from}`}`;
}

/** Where maintainers review proposals. */
export const reviewPath = '/review';

/** Returns the path of the review of an account's proposal for a bot. */
export function toReviewPath(bot: BotId, account: AccountId): string {
  return `${reviewPath}/${bot}/${account}`;
}

/** Returns the address of a bot's source; null where it has none. */
export function toSourceAddress({ owner, repo }: FullCodehost): string | null {
  if (owner === null || repo === null) return null;
  return `https://github.com/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}`;
}
