import { IntlMessageFormat } from 'intl-messageformat';
import type { ComponentChildren, VNode } from 'preact';
import type english from '../../../locales/en.json';
import { msPerDay } from '../../bot/clock.ts';
import { directionOf, keepByLocale, type Locale, toLanguage } from '../../bot/locale.ts';

/** The key of a text of the interface in `locales/en.json`. */
export type MessageKey = keyof typeof english;

/** The texts of `locales/<tag>.json` as written, by key. */
export type MessageTexts = Readonly<Record<string, unknown>>;

/** A text without placeholders, or a message to format. */
type Message = string | IntlMessageFormat;

interface MessageFile {
  /** The usable messages. */
  readonly messages: ReadonlyMap<string, Message>;
  /** The keys of the English file that are missing here. */
  readonly missing: readonly string[];
  /** A sentence for each unusable message, and for each key that the English file does not have. */
  readonly faults: readonly string[];
}

/**
 * Parses and checks the messages of a language, in ICU MessageFormat. A usable message has the placeholders of the
 * English one, and plurals with exactly the categories of the language.
 */
export function parseMessages(locale: Locale, texts: MessageTexts, english: MessageTexts): MessageFile {
  const parse = createParser(locale);
  const parseEnglish = createParser('en' as Locale);
  const categories = joinSorted(new Intl.PluralRules(locale).resolvedOptions().pluralCategories);
  const messages = new Map<string, Message>();
  const faults: string[] = [];
  for (const [key, text] of Object.entries(texts)) {
    const fault = (reason: string): void => void faults.push(`locales/${locale}.json: "${key}" ${reason}`);
    if (!Object.hasOwn(english, key)) fault('is not a key of locales/en.json: remove it');
    else if (typeof text !== 'string' || text.trim() === '')
      fault('is not a text: write one, or remove the key');
    else {
      try {
        const message = parse(text);
        const original = texts === english ? message : parseEnglish(String(english[key]));
        const reasons = listDifferences(message, original, categories);
        if (reasons.length === 0) messages.set(key, message);
        for (const reason of reasons) fault(reason);
      } catch (error) {
        fault(`is not in ICU MessageFormat (${error instanceof Error ? error.message : String(error)})`);
      }
    }
  }
  return { messages, faults, missing: Object.keys(english).filter((key) => !Object.hasOwn(texts, key)) };
}

/** Formats for messages: `{count, number, short}` is 8,700, 12K or 1.2M. */
const formats = { number: { short: { notation: 'compact' } } } as const;

/** Returns a parser whose messages share their Intl objects, because each of these takes up kilobytes. */
function createParser(locale: Locale): (text: string) => Message {
  const numbers = new Map<string, Intl.NumberFormat>();
  const plurals = new Intl.PluralRules(locale);
  const shortPlurals = new ShortPluralRules(locale);
  const formatters = {
    getNumberFormat(_: unknown, options?: object): Intl.NumberFormat {
      const key = JSON.stringify(options);
      const format =
        numbers.get(key) ??
        (options === formats.number.short
          ? new ShortNumberFormat(locale)
          : new Intl.NumberFormat(locale, options));
      numbers.set(key, format);
      return format;
    },
    getDateTimeFormat: (_: unknown, options?: object) => new Intl.DateTimeFormat(locale, options),
    getPluralRules: () => plurals,
  };
  const shortFormatters = { ...formatters, getPluralRules: () => shortPlurals };
  return (text) => {
    if (!text.includes('{')) return text;
    const options = { ignoreTag: true, formatters: text.includes(', short}') ? shortFormatters : formatters };
    return new IntlMessageFormat(text, locale, formats, options);
  };
}

/** Shortens numbers from 10,000 on. For German it uses a word for thousands, because Intl only shortens from a million on. */
class ShortNumberFormat extends Intl.NumberFormat {
  readonly #whole: Intl.NumberFormat;
  readonly #isGerman: boolean;

  constructor(locale: Locale) {
    super(locale, formats.number.short);
    this.#whole = new Intl.NumberFormat(locale);
    this.#isGerman = toLanguage(locale) === 'de';
  }

  override format(value: number): string {
    if (value < minShortened) return this.#whole.format(value);
    if (!this.#isGerman || value >= 1_000_000) return super.format(value);
    return `${this.#whole.format(Math.min(999, Math.round(value / 1000)))}\u00A0Tsd.`;
  }
}

const minShortened = 10_000;

/** Makes the words next to a shortened number agree with its thousands or millions: 101,000 is “101 тыс. серверов”, not “сервер”. */
class ShortPluralRules extends Intl.PluralRules {
  override select(value: number): Intl.LDMLPluralRule {
    return super.select(value < minShortened ? value : 1000 ** Math.floor(Math.log10(value) / 3));
  }
}

/** Returns how a message differs from the English one. @param categories the plural categories of its language */
function listDifferences(message: Message, english: Message, categories: string): string[] {
  const parts = listParts(message);
  const has = listPlaceholders(parts);
  const wanted = listPlaceholders(listParts(english));
  return [
    ...[...wanted].filter((name) => !has.has(name)).map((name) => `lacks the placeholder {${name}}`),
    ...[...has]
      .filter((name) => !wanted.has(name))
      .map((name) => `has {${name}}, which English does not have`),
    ...parts
      .filter(({ type, options }) => type === plural && listPluralCategories(options) !== categories)
      .map(
        ({ value }) =>
          `has other plural categories for {${value ?? ''}} than the language: write ${categories}`,
      ),
  ];
}

/** A part of a parsed message; a plural has `options`. */
interface MessagePart {
  readonly type: number;
  readonly value?: string;
  readonly options?: Readonly<Record<string, { readonly value: readonly MessagePart[] }>>;
}

/** The parser's numbers for the types of parts. */
const [literal, argument, plural, pound] = [0, 1, 6, 7];

/** Returns the parts of a message, including those inside plurals. */
function listParts(message: Message): MessagePart[] {
  const deep = (parts: readonly MessagePart[]): MessagePart[] =>
    parts.flatMap((part) => [part, ...Object.values(part.options ?? {}).flatMap(({ value }) => deep(value))]);
  return typeof message === 'string' ? [] : deep(message.getAst());
}

/** Returns the placeholders of a message: `name`, or `name, number` for a value that is formatted as a number. */
function listPlaceholders(parts: readonly MessagePart[]): Set<string> {
  const named = parts.filter(({ type }) => type !== literal && type !== pound);
  return new Set(named.map(({ type, value }) => `${value}${type === argument ? '' : ', number'}`));
}

/** Returns the plural categories of a message, without exact numbers such as `=0`. */
function listPluralCategories(options: MessagePart['options'] = {}): string {
  return joinSorted(Object.keys(options).filter((name) => !name.startsWith('=')));
}

function joinSorted(names: readonly string[]): string {
  return names.toSorted().join(', ');
}

/** The values of a message's placeholders, by name. */
type Values = Readonly<Record<string, string | number | VNode>>;

/** The texts of the interface in one language, with its formats of numbers and times. Times are in milliseconds since the epoch. */
export interface Messages extends Dates {
  readonly locale: Locale;
  readonly dir: 'ltr' | 'rtl';
  /**
   * Returns a message as content of a page. Text values get a `bdi`, so that a right-to-left name does not reorder the
   * sentence. A missing message is in English and marked as such.
   */
  readonly t: (key: MessageKey, values?: Values) => ComponentChildren;
  /** Returns a message as text, for attributes and titles. */
  readonly text: (key: MessageKey, values?: Readonly<Record<string, string | number>>) => string;
  /** Joins texts to a list with “and”. */
  readonly list: Intl.ListFormat;
  /** Formats a whole number. */
  readonly integer: (value: number) => string;
  /** Formats the time from `time` to `now` in its largest unit: 20 minutes ago, yesterday. */
  readonly ago: (time: number, now: number) => string;
  /** Formats a length of time, rounded up, in its largest unit: 20 minutes, 2 days. */
  readonly duration: (milliseconds: number) => string;
  /**
   * Formats the days, months or years from a time to the day of `now`: today, 2 days ago, last month. A later time is
   * formatted as its day.
   */
  readonly daysAgo: (time: number, now: number) => string;
  /** Returns the name of a language in this language. */
  readonly languageName: NameLanguage;
}

/**
 * @param messages the messages of the language
 * @param english the English messages, for missing ones; null for English itself
 */
export function createMessages(
  locale: Locale,
  messages: ReadonlyMap<string, Message>,
  english: Messages | null,
): Messages {
  const dir = directionOf(locale);
  const integers = new Intl.NumberFormat(locale);
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  const own: Messages = {
    locale,
    dir,
    t(key, values = {}) {
      const message = messages.get(key);
      if (message === undefined)
        return english === null ? key : <InEnglish>{english.t(key, values)}</InEnglish>;
      return typeof message === 'string'
        ? message
        : message.format<VNode>(mapTexts(values, (text, name) => <bdi key={name}>{text}</bdi>));
    },
    text(key, values = {}) {
      const message = messages.get(key);
      if (message === undefined) return english === null ? key : english.text(key, values);
      if (typeof message === 'string') return message;
      // Isolates, for places without a `bdi`.
      const isolated = dir === 'rtl' ? mapTexts(values, (name) => `\u2068${name}\u2069`) : values;
      return String(message.format(isolated));
    },
    list: new Intl.ListFormat(locale),
    integer: (value) => integers.format(value),
    ...createDates(locale),
    ago(time, now) {
      const [unit, milliseconds] = findUnit(now - time);
      return relative.format(-Math.floor(Math.max(now - time, 0) / milliseconds), unit);
    },
    duration(length) {
      const [unit, milliseconds] = findUnit(length);
      const format = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' });
      return format.format(Math.ceil(Math.max(length, 1) / milliseconds));
    },
    daysAgo(time, now) {
      const days = Math.floor(now / msPerDay) - Math.floor(time / msPerDay);
      if (days < 0) return own.day(time);
      return days === 0 ? relative.format(0, 'day') : own.ago(0, days * msPerDay);
    },
    languageName: createLanguageNames(locale),
  };
  return own;
}

/** Replaces the values that are texts. */
function mapTexts<T, V>(
  values: Readonly<Record<string, string | V>>,
  replace: (text: string, name: string) => T,
): Record<string, T | V> {
  const entries = Object.entries(values).map(([name, value]) => {
    return [name, typeof value === 'string' ? replace(value, name) : value] as const;
  });
  return Object.fromEntries(entries);
}

/** Returns the largest unit that a length of time has, and its milliseconds. */
function findUnit(length: number): (typeof units)[number] {
  return units.find(([, size]) => length >= size) ?? smallestUnit;
}

const smallestUnit = ['minute', 60_000] as const;

/** In milliseconds, largest unit first. */
const units = [
  ['year', 365 * msPerDay],
  ['month', 30 * msPerDay],
  ['day', msPerDay],
  ['hour', 3_600_000],
  smallestUnit,
] as const;

/** Marks a text as English, whatever the language of the page. */
function InEnglish({ children }: { readonly children: ComponentChildren }): VNode {
  return (
    <span lang="en" dir="ltr">
      {children}
    </span>
  );
}

/** A paragraph of one sentence: a clause with a capital letter and a full stop added. */
export function EnglishSentence({ clause }: { readonly clause: string }): VNode {
  return (
    <p>
      <InEnglish>{`${clause.replace(/^[a-z](?![\w-]*[./])/, (letter) => letter.toUpperCase())}.`}</InEnglish>
    </p>
  );
}

/**
 * Names a language. The region and script are left out if no other listed language needs them: English for en-US next
 * to de. A language without a name is named by its tag.
 * @param among the languages listed with it; left out, the name has all parts
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

/** Formats of dates, in UTC. Times are in milliseconds since the epoch. */
export interface Dates {
  /** The tag of the date formats; the same for regions with the same formats. */
  readonly datesTag: string;
  readonly day: (time: number) => string;
  /** Formats a day and a time to the minute. */
  readonly minute: (time: number) => string;
}

/** Returns the dates of a language or one of its regions. @param numberingSystem the digits; by default the usual ones */
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
