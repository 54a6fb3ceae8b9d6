import type { FullCodehost } from '../../../schemas/types.ts';
import type { AccountId } from '../../bot/commit-message.ts';
import type { BotId } from '../../bot/id.ts';
import type { Locale } from '../../bot/locale.ts';
import type { Subject } from '../../proposals/proposal.ts';

/** The paths to which the head of every page links. */
export const sitePaths = {
  newBots: '/feeds/new.atom',
  manifest: '/site.webmanifest',
  openSearch: '/opensearch.xml',
  favicon: '/favicon.ico',
  touchIcon: '/apple-touch-icon.png',
} as const;

/** Adds a language to a path or an address, except for the default language, which clients without a preference get. */
export function toPathInLanguage(path: string, locale: string, defaultLocale: string): string {
  return withLocale(path, locale === defaultLocale ? undefined : locale);
}

/** Adds a language to the query of a path, if one is given. */
export function withLocale(path: string, locale: string | undefined): string {
  return locale === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}locale=${locale}`;
}

/** The address of a page in one language. */
export interface LanguageAddress {
  /** A language tag, or `x-default`. */
  readonly language: string;
  readonly address: string;
}

/**
 * Returns the addresses of a page in all of its languages, and without a language; empty for a page in one language.
 * @param address the address in the default language
 * @param locales the default one first
 */
export function listPageLanguages(address: string, locales: readonly Locale[]): LanguageAddress[] {
  const [first] = locales;
  if (first === undefined || locales.length < 2) return [];
  return listLanguages(locales, (locale = first) => toPathInLanguage(address, locale, first));
}

/** Returns the addresses of a page in each of these languages, and without a language; empty without languages. */
export function listLanguages(
  locales: readonly Locale[],
  toAddress: (locale: Locale | undefined) => string,
): LanguageAddress[] {
  if (locales.length === 0) return [];
  return [...locales, undefined].map((locale) => {
    return { language: locale ?? 'x-default', address: toAddress(locale) };
  });
}

/** Returns the path of the page with a bot's changes. */
export function toChangesPath(id: BotId): string {
  return `/bots/${id}/changes`;
}

/** Returns the path of a feed: the bots of a category, a collection or an author, or a bot's changes. */
export function toFeedPath(of: 'author' | 'bot' | 'category' | 'collection', id: string): string {
  return `/feeds/${of}/${id}.atom`;
}

/** The page about the operator of the list, and how bots are reviewed. */
export const aboutPath = '/about';

export const feedsPath = '/feeds';

/** The list of categories. */
export const categoriesPath = '/categories';

/** The list of collections. */
export const collectionsPath = '/collections';

/** Returns the path of the page of a collection. */
export function toCollectionPath(name: string): string {
  return `${collectionsPath}/${name}`;
}

/** Returns the path of the page of an author. */
export function toAuthorPath(account: string): string {
  return `/authors/${account}`;
}

/** Returns the path of the feed of problems with an author's bots. */
export function toAttentionPath(account: string): string {
  return `${toAuthorPath(account)}/attention.atom`;
}

/** The route of the language menu: it stores the language and redirects back. */
export const languagePath = '/language';

/** The paths of forms, and of pages for people who have logged in, with or without a query. */
export const formPaths =
  /^\/(?:(?:add|login|logout|my-bots|proposals|review)|(?:bots|collections)\/[^/?]+\/(?:edit|report|token|translate))(?:[/?]|$)/i;

/** Returns the path of the page with a form from the path that the form is sent to, because readers cannot return to the latter. */
export function toFormPage(path: string): string {
  return path.replace(sentPath, '$1');
}

const sentPath =
  /^([^?]*\/(?:add|collection|edit|name|token|translate|proposals\/[^/?]+(?:\/bot)?))\/(?:file|revoke|send|withdraw)(?=\?|$)/;

/** Adds a parameter to a path. */
export function withParameter(path: string, name: string, value: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`;
}

/** Returns the path of a proposal that was just sent or withdrawn. @param shared whether the other machines have it */
export function toSharedPath(path: string, shared: boolean): string {
  return shared ? path : withParameter(path, 'shared', 'no');
}

/** Returns the path of the form that edits a bot's page in a language; by default its main page. */
export function editPath(id: BotId, language?: Locale): string {
  return `/bots/${id}/edit${language === undefined ? '' : `?language=${language}`}`;
}

/**
 * Returns the path of the form that adds a language to a bot. @param from the language to translate; by default that
 * of the main page
 */
export function translatePath(id: BotId, from?: Locale): string {
  return `/bots/${id}/translate${from === undefined ? '' : `?from=${from}`}`;
}

/** The page of the logged-in account's bots. */
export const myBotsPath = '/my-bots';
/** The form that edits the profile of the logged-in account. */
export const profileFormPath = '/my-bots/name';

/** Returns the path of the page that compares bots. */
export function toComparePath(ids: readonly string[]): string {
  return `/compare?bots=${ids.map(encodeURIComponent).join(',')}`;
}

export const watchPath = '/watch';
export const watchFeedPath = '/feeds/watch.atom';

/** Returns the path of the page or the feed that watches bots. @param path of the page by default */
export function toWatchPath(ids: readonly string[], path = watchPath): string {
  return ids.length === 0 ? path : `${path}?ids=${ids.join(',')}`;
}

/** The page on which maintainers review proposals. */
export const reviewPath = '/review';

/** The page with the block list, for maintainers. */
export const blockedPath = `${reviewPath}/blocked`;

/** Returns the path of the page on which a maintainer blocks an account, a bot or a host. */
export function toBlockPath(kind: string, name: string): string {
  return withParameter(withParameter(blockedPath, 'kind', kind), 'name', name);
}

/** Returns the path of the review of an account's proposal. */
export function toReviewPath(subject: Subject, account: AccountId): string {
  return `${reviewPath}/${subject}/${account}`;
}

/** Returns the address of a bot's source code; null if it is not open. */
export function toSourceAddress({ owner, repo }: FullCodehost): string | null {
  if (owner === null || repo === null) return null;
  return `https://github.com/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}`;
}
