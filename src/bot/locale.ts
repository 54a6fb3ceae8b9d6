declare const brand: unique symbol;

/** A BCP 47 tag of a known language, in canonical case: `en`, `en-GB`, `zh-CN`. */
export type Locale = string & { readonly [brand]: 'Locale' };

/** The language that is used if no other fits. */
export const english = 'en' as Locale;

/** Why a text is not a locale. */
export interface LocaleRefusal {
  /** The fault, without the text itself: `is not a language tag`. */
  readonly reason: string;
  /** The tag in its correct case, if only that is wrong. */
  readonly canonical: Locale | undefined;
  /** The fix: the canonical form, or examples. */
  readonly instead: string;
}

/** Returns the locale that `text` is, or why it is not one. The only way to get a Locale from exact text. */
export function parseLocale(text: string): Locale | LocaleRefusal {
  const canonical = toCanonicalLocale(text);
  if (canonical === text) return canonical;
  return canonical === undefined
    ? { reason: 'is not a language tag', canonical, instead: 'a tag such as en, en-GB or zh-CN' }
    : { reason: 'is not in canonical case', canonical, instead: canonical };
}

/** Returns the canonical form of a tag such as `EN-gb`; undefined when `text` is not the tag of a language that Intl knows. */
export function toCanonicalLocale(text: string): Locale | undefined {
  if (text.length > 35 || !/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/.test(text)) return undefined;
  return canonicalise(text);
}

/**
 * Returns a function that keeps its last thousand results: Intl takes microseconds, and a catalogue has the same few locales in
 * every file.
 */
export function keepByLocale<V>(compute: (locale: string) => V): (locale: string) => V {
  const kept = new Map<string, V>();
  return (locale) => {
    const known = kept.get(locale);
    if (known !== undefined) return known;
    const result = compute(locale);
    if (result === undefined) return result;
    const [oldest] = kept.keys();
    if (kept.size >= maxKept && oldest !== undefined) kept.delete(oldest);
    kept.set(locale, result);
    return result;
  };
}

const maxKept = 1000;

/** Returns the language of a locale without region and script: `pt` for `pt-BR`. */
export function toLanguage(locale: string): string {
  const end = locale.indexOf('-');
  return end === -1 ? locale : locale.slice(0, end);
}

/**
 * Chooses the language to show a bot in: the best match of the wanted ranges (RFC 4647, lookup), else the bot's default.
 * @param available the bot's languages, the default first
 */
export function chooseLocale(available: readonly Locale[], wanted: readonly string[]): Locale | undefined {
  return findLanguages(wanted, available)[0] ?? available[0];
}

/** Returns the languages of a catalogue or a bot that are nearest to ranges, each once and best first. */
export function findLanguages(ranges: readonly string[], known: readonly Locale[]): Locale[] {
  return [...new Set(ranges.flatMap((range) => lookUp(known, range) ?? []))];
}

/** Whether one of the locales is in one of the languages, whatever the region. */
export function isIn(languages: readonly Locale[], locales: readonly Locale[]): boolean {
  return locales.some((locale) => languages.some((language) => toLanguage(language) === toLanguage(locale)));
}

/** Returns the direction that a language is written in. */
export const directionOf = keepByLocale((locale): 'ltr' | 'rtl' => {
  const { language, script } = new Intl.Locale(locale).maximize();
  return rightToLeft.has(script ?? '') || language === 'dv' ? 'rtl' : 'ltr';
});

/** Finds the language itself, else a shorter form of it, else another regional form: pt-BR for pt-PT. */
function lookUp(available: readonly Locale[], range: string): Locale | undefined {
  const parts = (toCanonicalLocale(range) ?? '').split('-');
  for (let length = parts.length; length > 0; length--) {
    if (length > 1 && parts[length - 1]?.length === 1) continue;
    const tag = parts.slice(0, length).join('-');
    const found = available.find((locale) => locale === tag);
    if (found !== undefined) return found;
  }
  const [language = ''] = parts;
  return language === '' ? undefined : available.find((locale) => locale.startsWith(`${language}-`));
}

const rightToLeft = new Set(['Adlm', 'Arab', 'Hebr', 'Mand', 'Nkoo', 'Rohg', 'Samr', 'Syrc', 'Thaa', 'Yezi']);

/** `english` is a well-formed tag, but not a language. Constructed on first use, which takes milliseconds. */
let languageNames: Intl.DisplayNames | undefined;

const canonicalise = keepByLocale((tag): Locale | undefined => {
  try {
    const locale = new Intl.Locale(tag);
    languageNames ??= new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
    return languageNames.of(locale.language) === undefined ? undefined : (locale.toString() as Locale);
  } catch {
    return undefined;
  }
});
