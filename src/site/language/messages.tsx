import type { ComponentChildren, VNode } from 'preact';
import type { Locale } from '../../bot/locale.ts';
import { InEnglish } from './in-english.tsx';
import { directionOf, createLanguageNames } from './locales.ts';
import type { Message, MessageKey } from './message-file.ts';
import { createDates, type Dates } from './regional-dates.ts';

/** What fills in the placeholders of a message, by name. */
export type Values = Readonly<Record<string, string | number | VNode>>;

/**
 * The texts of the interface in one language, and how it writes numbers and times. Points in time are milliseconds since
 * the epoch.
 */
export interface Messages extends Dates {
  readonly locale: Locale;
  readonly dir: 'ltr' | 'rtl';
  /**
   * Returns a message as content of a page. Texts that fill in placeholders get a `bdi`, so that a name from right to left
   * leaves the sentence in order. A message that the language lacks is in English, and marked as such.
   */
  readonly t: (key: MessageKey, values?: Values) => ComponentChildren;
  /** Returns a message as text, for attributes and titles. */
  readonly text: (key: MessageKey, values?: Readonly<Record<string, string | number>>) => string;
  /** Joins texts to a list with “and”. */
  readonly list: Intl.ListFormat;
  /** Formats a whole number. */
  readonly integer: (value: number) => string;
  /** Formats how long ago `time` is, in its largest unit: 20 minutes ago, yesterday. */
  readonly ago: (time: number, now: number) => string;
  /** Formats a length of time, rounded up, in its largest unit: 20 minutes, 2 days. */
  readonly duration: (milliseconds: number) => string;
  /** Formats how many days, months or years before the day of `now` a time is: today, 2 days ago, last month. */
  readonly daysAgo: (time: number, now: number) => string;
  /** Returns the name of a language in this language. */
  readonly languageName: (locale: string) => string;
}

/**
 * @param messages those of the language
 * @param english the English messages, for what the language lacks; null for English itself
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
      return typeof message === 'string' ? message : message.format<VNode>(isolateValues(values));
    },
    text(key, values = {}) {
      const message = messages.get(key);
      if (message === undefined) return english === null ? key : english.text(key, values);
      if (typeof message === 'string') return message;
      return String(message.format(dir === 'rtl' ? isolateTexts(values) : values));
    },
    list: new Intl.ListFormat(locale),
    integer: (value) => integers.format(value),
    ...createDates(locale),
    ago(time, now) {
      const [unit, milliseconds] = units.find(([, size]) => now - time >= size) ?? smallestUnit;
      return relative.format(-Math.floor(Math.max(now - time, 0) / milliseconds), unit);
    },
    duration(length) {
      const [unit, milliseconds] = units.find(([, size]) => length >= size) ?? smallestUnit;
      const format = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' });
      return format.format(Math.ceil(Math.max(length, 1) / milliseconds));
    },
    daysAgo(time, now) {
      const days = Math.floor(now / aDay) - Math.floor(time / aDay);
      return days < 1 ? relative.format(0, 'day') : own.ago(0, days * aDay);
    },
    languageName: createLanguageNames(locale),
  };
  return own;
}

function isolateValues(values: Values): Record<string, number | VNode> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? <bdi key={name}>{value}</bdi> : value,
    ]),
  );
}

/** Wraps texts in Unicode's isolates, where there can be no `bdi`. */
function isolateTexts(values: Readonly<Record<string, string | number>>): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? `\u2068${value}\u2069` : value,
    ]),
  );
}

const smallestUnit = ['minute', 60_000] as const;

const aDay = 86_400_000;

/** Milliseconds, the largest unit first. */
const units = [
  ['year', 365 * 86_400_000],
  ['month', 30 * 86_400_000],
  ['day', aDay],
  ['hour', 3_600_000],
  smallestUnit,
] as const;
