import type { FullCodehost } from '../../../schemas/types.ts';
import type { AccountId } from '../../bot/commit-message.ts';
import type { BotId } from '../../bot/id.ts';
import type { Locale } from '../../bot/locale.ts';
import type { Subject } from '../../proposals/proposal.ts';

/** What the head of every page links to. */
export const sitePaths = {
  newBots: '/feeds/new.atom',
  manifest: '/site.webmanifest',
  openSearch: '/opensearch.xml',
  favicon: '/favicon.ico',
  touchIcon: '/apple-touch-icon.png',
} as const;

/**
 * Returns a path or an address with a language, which the default language goes without: that is what a client sees that
 * names none.
 */
export function toPathInLanguage(path: string, locale: string, defaultLocale: string): string {
  return withLocale(path, locale === defaultLocale ? undefined : locale);
}

/** Returns a path with a language in its query, if there is one. */
export function withLocale(path: string, locale: string | undefined): string {
  return locale === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}locale=${locale}`;
}

/** A page in one language. */
export interface LanguageAddress {
  /** A language tag, or `x-default`. */
  readonly language: string;
  readonly address: string;
}

/**
 * Returns the addresses of a page in all of its languages and in no particular one; none for a page in one language.
 * @param address that of the default language
 * @param locales the default one first
 */
export function listPageLanguages(address: string, locales: readonly Locale[]): LanguageAddress[] {
  const [first] = locales;
  if (first === undefined || locales.length < 2) return [];
  return listLanguages(locales, (locale = first) => toPathInLanguage(address, locale, first));
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

/** Returns the path of what changed in a bot. */
export function toChangesPath(id: BotId): string {
  return `/bots/${id}/changes`;
}

/** Returns the path of the feed of the bots of a category, a collection or an author, or of what changed in a bot. */
export function toFeedPath(of: 'author' | 'bot' | 'category' | 'collection', id: string): string {
  return `/feeds/${of}/${id}.atom`;
}

/** The page that says who runs the list, and how bots are reviewed. */
export const aboutPath = '/about';

/** The page that explains feeds. */
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

/** Returns the path of the feed of what an author's bots need. */
export function toAttentionPath(account: string): string {
  return `${toAuthorPath(account)}/attention.atom`;
}

/** Leads back to the page in the language that `locale` names, which the browser remembers. */
export const languagePath = '/language';

/** Returns the path of the page with a form, for a path that the form is sent to, where a reader cannot return to. */
export function toFormPage(path: string): string {
  return path.replace(sentPath, '$1');
}

const sentPath =
  /^([^?]*\/(?:add|collection|edit|name|token|translate|proposals\/[^/?]+))\/(?:file|revoke|send|withdraw)(?=\?|$)/;

/** Returns a path with a parameter more. */
export function withParameter(path: string, name: string, value: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`;
}

/** Returns the path of the page where an account follows its proposal. @param shared whether the other machines have it */
export function toProposalPath(subject: Subject, shared = true): string {
  return `/proposals/${subject}${shared ? '' : '?shared=no'}`;
}

/** Returns the path of the form that edits a bot's page in a language, which is its main page where none is named. */
export function editPath(id: BotId, language?: Locale): string {
  return `/bots/${id}/edit${language === undefined ? '' : `?language=${language}`}`;
}

/** Returns the path of the form that adds a language to a bot. @param from that of the page to translate; the main page where none is named */
export function translatePath(id: BotId, from?: Locale): string {
  return `/bots/${id}/translate${from === undefined ? '' : `?from=${from}`}`;
}

/** The form that edits the profile of who is logged in. */
export const profileFormPath = '/my-bots/name';

/** Returns the path of the page that compares bots. */
export function toComparePath(ids: readonly string[]): string {
  return `/compare?bots=${ids.map(encodeURIComponent).join(',')}`;
}

/** Where maintainers review proposals. */
export const reviewPath = '/review';

/** Where maintainers see who is blocked. */
export const blockedPath = `${reviewPath}/blocked`;

/** Returns the path of the page on which a maintainer blocks one. */
export function toBlockPath(kind: string, name: string): string {
  return withParameter(withParameter(blockedPath, 'kind', kind), 'name', name);
}

/** Returns the path of the review of an account's proposal. */
export function toReviewPath(subject: Subject, account: AccountId): string {
  return `${reviewPath}/${subject}/${account}`;
}

/** Returns the address of a bot's source; null if it has none. */
export function toSourceAddress({ owner, repo }: FullCodehost): string | null {
  if (owner === null || repo === null) return null;
  return `https://github.com/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}`;
}
