import { toCanonicalLocale, type Locale, toLanguage } from '../../bot/locale.ts';

/** How dates are written, in UTC. Points in time are milliseconds since the epoch. */
export interface Dates {
  /** The tag of the rules that they are written by. It is the same for regions that write them alike. */
  readonly datesTag: string;
  /** Formats a day. */
  readonly day: (time: number) => string;
  /** Formats a day and a time to the minute. */
  readonly minute: (time: number) => string;
}

/** Returns dates as a language or its region writes them. @param numberingSystem the digits; the usual ones where left out */
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
