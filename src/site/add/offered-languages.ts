import type { Locale } from '../../bot/locale.ts';
import { type CatalogueSettings, chooseNewPageLanguage } from '../../catalogue/settings/settings.ts';
import { chooseLocale } from '../language/locales.ts';
import type { Messages } from '../language/messages.tsx';

/** The languages that a form offers for a new page. */
export interface OfferedLanguages {
  /** Those of the reader first, the others by name. */
  readonly languages: readonly Locale[];
  /** The one that is chosen at first; empty where the reader has none of them. */
  readonly proposed: string;
}

/**
 * Returns the languages that a new page may be in.
 * @param wanted the language ranges that the reader prefers, best first
 * @param existing the languages that the bot has; undefined for a new bot
 */
export function offerLanguages(
  settings: Pick<CatalogueSettings, 'language' | 'languages'>,
  { locale, languageName }: Pick<Messages, 'locale' | 'languageName'>,
  wanted: readonly string[],
  existing: readonly Locale[] = [],
): OfferedLanguages {
  const match = (available: readonly Locale[], range: string): Locale =>
    chooseLocale([none, ...available], [range]) ?? none;
  const free = (settings.languages ?? commonLanguages).filter((language) => !existing.includes(language));
  const [proposed = existing.length === 0 ? chooseNewPageLanguage(settings) : none, ...others] = wanted
    .filter((range) => match(existing, range) === none)
    .map((range) => match(free, range))
    .filter((language) => language !== none);
  const { compare } = new Intl.Collator(locale);
  const byName = free.toSorted((a, b) => compare(languageName(a), languageName(b)));
  const languages = [...new Set([proposed, ...others, ...byName])].filter((language) => language !== none);
  return { languages, proposed };
}

const none = '' as Locale;

/** The languages that the form offers where the settings name none. A file can have any other. */
const commonLanguages = (
  'af am ar az be bg bn bs ca cs cy da de el en en-GB eo es es-419 et eu fa fi fil fr ga gl gu he hi hr hu hy id is ' +
  'it ja ka kk km kn ko lo lt lv mk ml mn mr ms my nb ne nl nn pa pl pt-BR pt-PT ro ru si sk sl sq sr sv sw ta te th ' +
  'tr uk ur uz vi zh-CN zh-TW'
).split(' ') as Locale[];
