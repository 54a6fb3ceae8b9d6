import type { ReadonlyCounts } from '../../bot/counts.ts';
import { parseBotId } from '../../bot/id.ts';
import { parseLocale, type Locale } from '../../bot/locale.ts';
import type { Category } from '../../bot/schema-types.ts';
import { quoteValue } from '../../lib/quote-value.ts';
import type { CatalogueSettings } from '../settings/settings.ts';
import type { BotFacts, IndexedBot } from '../store/bot-index.ts';

/** A parameter of a query: how its texts are read, and how the OpenAPI document describes it. */
export interface ListParameter<V, S = ListSettings> {
  /** @throws {InvalidValueError} */
  readonly parse: (texts: ParameterTexts, settings: S) => V;
  readonly description: string;
  /** A JSON Schema, with references as in `schemas/`. */
  readonly schema: object;
  /** A value for the example of the description. */
  readonly example?: string;
  /** Whether it may be there more than once. */
  readonly repeats?: true;
}

/** The texts of a parameter: one, or several where it repeats. */
export type ParameterTexts = readonly [string, ...string[]];

/** The settings that decide which values there are. */
export type ListSettings = Pick<CatalogueSettings, 'categories' | 'inactiveDays'>;

/** What is wrong with the text of a parameter, and what to send instead. */
export class InvalidValueError extends Error {}

/** Throws an InvalidValueError. */
export function refuse(message: string): never {
  throw new InvalidValueError(message);
}

interface Filter<V> extends ListParameter<V> {
  /** Returns whether a bot is in a list with this value. */
  readonly matches: (value: V, counts: ReadonlyCounts) => (bot: IndexedBot) => boolean;
  /** Whether a new count may put a bot in or out. */
  readonly isByCount?: true;
}

/**
 * Every filter of lists and searches, by the name of its parameter. Queries, the OpenAPI document, pages and matching
 * follow from an entry here.
 */
export const filters = {
  category: filter<readonly Category[]>({
    parse: (texts, { categories }) => {
      const unknown = texts.find((text) => !categories.includes(text));
      if (unknown !== undefined)
        refuse(`${quoteValue(unknown)} is not a category: use ${categories.join(', ')}`);
      return categories.filter((category) => texts.includes(category));
    },
    matches: (wanted) => (bot) => wanted.includes(bot.facts.category),
    description: 'Bots in this category; repeat the parameter for several.',
    schema: { type: 'array', items: { $ref: 'definitions.schema.json#/$defs/category' } },
    repeats: true,
  }),
  nsfw: flag(
    ({ nsfw }) => nsfw,
    '`true` for 18+ bots only, `false` to leave them out. Both are in the list without it.',
  ),
  openSource: flag(
    ({ openSource }) => openSource,
    '`true` for bots whose source code is named, `false` for the others.',
  ),
  verified: flag(({ verified }) => verified, '`true` for verified bots, `false` for the others.'),
  administrator: flag(
    ({ administrator }) => administrator,
    '`true` for bots whose invite link asks for Administrator, which is full control of a server, `false` for the others.',
  ),
  author: filter<string>({
    parse: ([text]) =>
      parseBotId(text) ?? refuse(`${quoteValue(text)} is not an account id: send 1 to 20 digits`),
    matches: (author) => (bot) => bot.facts.authors.includes(author),
    description: 'Bots of this author, by the id of the account.',
    schema: { $ref: 'definitions.schema.json#/$defs/id' },
  }),
  locale: filter<Locale>({
    parse: ([text]) => {
      const locale = parseLocale(text);
      if (typeof locale === 'string') return locale;
      return refuse(`${quoteValue(text)} ${locale.reason}: use ${locale.instead}`);
    },
    matches: (locale) => (bot) => bot.facts.locales.includes(locale),
    description: 'Bots with a page in this language, such as `de`.',
    schema: { $ref: 'definitions.schema.json#/$defs/locale' },
  }),
  /** In how many days, up to now, a count must have been posted. */
  active: filter<number>({
    parse: ([text], { inactiveDays }) => {
      const known = [...new Set([daysPerWeek, 30, inactiveDays])];
      const times = known.map((days) => `${days}d`).join(' or ');
      return (
        known.find((days) => text === `${days}d`) ??
        refuse(
          `${quoteValue(text)} is not a time: send ${times}, for bots that posted a count in that many days`,
        )
      );
    },
    matches: (days, counts) => {
      const since = Date.now() - days * 24 * 60 * 60 * 1000;
      return ({ id }) => (counts.reportedAt(id) ?? 0) >= since;
    },
    isByCount: true,
    description:
      'Bots that posted a count in the last 7 days (`7d`), 30 days (`30d`), or as many days as the settings of the list say.',
    schema: { type: 'string', pattern: '^[1-9][0-9]{0,3}d$' },
  }),
};

/** In this many days a bot must have posted a count to be in the lists of pages for the week. */
export const daysPerWeek = 7;

/** The values of filters, by their names. */
export type FilterValues = {
  readonly [Name in keyof typeof filters]?: ReturnType<(typeof filters)[Name]['parse']> | undefined;
};

export type FilterName = keyof FilterValues;

/** Returns whether a bot passes all filters; undefined where none has a value. */
export function createCheck(
  values: FilterValues,
  counts: ReadonlyCounts,
): ((bot: IndexedBot) => boolean) | undefined {
  const checks = listActive(values).map(([{ matches }, value]) => matches(value, counts));
  return checks.length === 0 ? undefined : (bot) => checks.every((check) => check(bot));
}

/** Whether a new count may put a bot in or out of a list with these filters. */
export function isFilteredByCount(values: FilterValues): boolean {
  return listActive(values).some(([{ isByCount }]) => isByCount);
}

function listActive(values: FilterValues): [Filter<unknown>, unknown][] {
  return (Object.keys(filters) as FilterName[])
    .filter((name) => values[name] !== undefined)
    .map((name) => [filters[name] as Filter<unknown>, values[name]]);
}

function filter<V>(entry: Filter<V>): Filter<V> {
  return entry;
}

function flag(isTrue: (facts: BotFacts) => boolean, description: string): Filter<boolean> {
  return {
    parse: parseFlag,
    matches: (wanted) => (bot) => isTrue(bot.facts) === wanted,
    description,
    schema: { type: 'boolean' },
  };
}

/** Returns the boolean that a parameter has. @throws {InvalidValueError} */
export function parseFlag([text]: ParameterTexts): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return refuse(`${quoteValue(text)} is not a boolean: send true or false`);
}
