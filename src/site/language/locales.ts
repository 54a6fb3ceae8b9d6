import { keepByLocale, toCanonicalLocale, type Locale, toLanguage } from '../../bot/locale.ts';

/**
 * Returns the language ranges a reader prefers, best first: that of the address, then those of the browser. Only the first
 * twenty, because each bot of a list is compared with all of them.
 * @param requested the value of `?locale=`
 * @param accepted the value of Accept-Language
 */
export function listWantedRanges(requested: string | undefined, accepted: string): string[] {
  return [...(requested === undefined ? [] : [requested]), ...parseLanguageRanges(accepted)].slice(0, 20);
}

/**
 * Parses an Accept-Language header into its ranges, highest weight first, without those of weight 0: those before `*`, to
 * which any language is preferred to the others.
 */
export function parseLanguageRanges(header: string): string[] {
  const ranges = header
    .slice(0, 500)
    .split(',')
    .map((part) => {
      const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim());
      const weight = parameters.find((parameter) => parameter.startsWith('q='));
      return { range, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
    });
  const sorted = ranges
    .filter(({ range, weight }) => range !== '' && weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ range }) => range);
  return sorted.includes('*') ? sorted.slice(0, sorted.indexOf('*')) : sorted;
}

/** Returns a path with a language in its query, if there is one. */
export function withLocale(path: string, locale: string | undefined): string {
  return locale === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}locale=${locale}`;
}

/**
 * Names a language: without its region and script if it is the only one of its kind among others, such as English for en-US
 * next to de. A language without a name is named by its tag.
 * @param among those that are listed with it; its name is whole if they are left out
 */
export type NameLanguage = (language: string, among?: readonly string[]) => string;

/** Returns a function that names languages in this one. */
export const createLanguageNames = keepByLocale((locale): NameLanguage => {
  const names = new Intl.DisplayNames([locale], { type: 'language', fallback: 'code' });
  const nameOf = keepByLocale((language) => names.of(language) ?? language);
  return (language, among) => {
    const base = toLanguage(language);
    const isOnly = among?.every((other) => other === language || toLanguage(other) !== base);
    return nameOf(isOnly ? base : language);
  };
});

/** Returns the name of a language in that language, such as français. */
export function formatOwnName(locale: string, among: readonly string[]): string {
  return createLanguageNames(locale)(locale, among);
}

/** How dates are written, in UTC. Points in time are milliseconds since the epoch. */
export interface Dates {
  /** The tag of the rules that they are written by. It is the same for regions that write them alike. */
  readonly datesTag: string;
  /** Formats a day. */
  readonly day: (time: number) => string;
  /** Formats a day and a time to the minute. */
  readonly minute: (time: number) => string;
}

/** Returns dates as a language or its region writes them. @param numberingSystem the digits; the usual ones if left out */
export function createDates(tag: string, numberingSystem?: string): Dates {
  const usual = {
    dateStyle: 'long',
    calendar: 'gregory',
    timeZone: 'UTC',
    ...(numberingSystem !== undefined && { numberingSystem }),
  } as const;
  const days = new Intl.DateTimeFormat(tag, usual);
  const minutes = new Intl.DateTimeFormat(tag, { ...usual, timeStyle: 'short', hourCycle: 'h23' });
  return {
    datesTag: tag,
    day: (time) => days.format(time),
    minute: (time) => `${minutes.format(time)} UTC`,
  };
}

/** The dates of readers by their regions. Regions that write the months alike share theirs, and so do their pages. */
export class RegionalDates {
  readonly #byTag = new Map<string, Dates>();
  readonly #byMonths = new Map<string, Dates>();

  /**
   * Returns dates as the reader's region writes them: that of the first wanted range in the language of the page.
   * @param locale the language of the page
   * @param wanted the language ranges that the reader prefers, best first
   */
  get(locale: Locale, wanted: readonly string[]): Dates {
    const language = toLanguage(locale);
    const own = wanted
      .map((range) => toCanonicalLocale(range))
      .find((tag) => tag !== undefined && toLanguage(tag) === language);
    const [, region] = /-([A-Z]{2})(?:-|$)/.exec(own ?? '') ?? [];
    const tag = region === undefined ? locale : `${language}-${region}`;
    const known = this.#byTag.get(tag);
    if (known !== undefined) return known;
    if (tag !== locale) this.get(locale, []);
    const dates = createDates(tag, new Intl.NumberFormat(locale).resolvedOptions().numberingSystem);
    const months = Array.from({ length: 12 }, (_, month) => dates.day(Date.UTC(2026, month, 2)));
    const shared = this.#byMonths.get(months.join()) ?? dates;
    this.#byMonths.set(months.join(), shared);
    this.#byTag.set(tag, shared);
    return shared;
  }
}
