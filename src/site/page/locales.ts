import { canonicalLocale, type Locale } from '../../bot/locale.ts';

/**
 * What a reader wants to read, most wanted first: what the address asks for, then what the browser does. Only the first
 * twenty: each bot of a list is held against all of them.
 * @param asked the value of `?locale=`
 * @param accepted the value of Accept-Language
 */
export function wantedRanges(asked: string | undefined, accepted: string): string[] {
  return [...(asked === undefined ? [] : [asked]), ...languageRanges(accepted)].slice(0, 20);
}

/**
 * The language to show a bot in: the best of those wanted (RFC 4647, look-up), else the bot's default.
 * @param available what the bot speaks, the default first
 */
export function chooseLocale(available: readonly Locale[], wanted: readonly string[]): Locale | undefined {
  for (const range of wanted) {
    if (range === '*') break;
    const found = lookUp(available, range);
    if (found !== undefined) return found;
  }
  return available[0];
}

/** The ranges of an Accept-Language header, the one that is wanted most first. Those of weight 0 are left out. */
export function languageRanges(header: string): string[] {
  const ranges = header
    .slice(0, 500)
    .split(',')
    .map((part) => {
      const [range = '', ...parameters] = part.trim().split(/\s*;\s*/);
      const weight = parameters.find((parameter) => parameter.startsWith('q='));
      return { range, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
    });
  return ranges
    .filter(({ range, weight }) => range !== '' && weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ range }) => range);
}

/** Which way the language is written. */
export function directionOf(locale: string): 'ltr' | 'rtl' {
  const { language, script } = new Intl.Locale(locale).maximize();
  return rightToLeft.has(script ?? '') || language === 'dv' ? 'rtl' : 'ltr';
}

/** What the language calls itself, such as français; the tag where that is not known. */
export function nameOfLocale(locale: string): string {
  return new Intl.DisplayNames([locale], { type: 'language', fallback: 'code' }).of(locale) ?? locale;
}

/**
 * The language itself, else a shorter form of it, else a regional form of the one asked for: who asks for
 * pt-PT is better served with pt-BR than with none.
 */
function lookUp(available: readonly Locale[], range: string): Locale | undefined {
  const parts = (canonicalLocale(range) ?? '').split('-');
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
