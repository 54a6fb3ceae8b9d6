import { msPerDay } from '../../bot/clock.ts';
import { BotshelfError } from '../../lib/errors.ts';
import type { BotListElement, Category } from '../../../schemas/types.ts';
import type { ReadonlyCounts } from '../../bot/counts.ts';
import { type BotId, parseBotId } from '../../bot/id.ts';
import { parseLocale, type Locale } from '../../bot/locale.ts';
import { readSchema } from '../../bot/schemas.ts';
import { quoteValue } from '../../lib/text.ts';
import type { CatalogueSettings } from '../settings/settings.ts';
import type { BotFacts, IndexedBot } from '../store/bot-index.ts';
import { type Cursor, type SortKey, sortKeys } from './orders.ts';

/** A query of a list: the filters, the order, the page, and the keys of each bot. */
export interface ListQuery extends FilterValues {
  /** Words to search for. */
  readonly q?: string;
  /** Whether a search also returns weak matches: bots that have little of the words compared to the best match. */
  readonly weaker?: boolean | undefined;
  /** Only these bots, at most `maxIds`; unknown ones are ignored. */
  readonly ids?: readonly BotId[] | undefined;
  /** The default is by id; with `q`, the best match first. */
  readonly sort?: Sort;
  readonly limit?: number;
  /** The end of the previous page, or the number of bots on all previous pages. */
  readonly after?: Cursor | number;
  /** The keys of each element of the JSON list; all if left out. */
  readonly fields?: readonly ListField[];
}

/** A key of a list element. The count is returned only if it is named, because it changes much more often than the others. */
export type ListField = keyof BotListElement | 'count';

/** An order of a list. */
export interface Sort {
  readonly key: SortKey;
  readonly descending: boolean;
}

/** A parameter of a query. */
export interface QueryParameter<V, S = null> {
  /** @throws {BotshelfError} invalid-value */
  readonly parse: (texts: ParameterTexts, settings: S) => V;
  /** Whether the parameter may be repeated. */
  readonly repeats?: true | 'or with commas';
}

/** A parameter of the list of bots, as described in the OpenAPI document and the help of commands. */
export interface ListParameter<V> extends QueryParameter<V, ListSettings> {
  readonly description: string;
  /** A JSON Schema, with references as in `schemas/`. */
  readonly schema: object;
  /** An example value for the OpenAPI document. */
  readonly example?: string | number;
}

/** Parameter name → parameter of a query. */
export type QueryTable<S = null> = Readonly<Record<string, QueryParameter<unknown, S>>>;

/** The texts of a parameter: several only if it `repeats`. */
export type ParameterTexts = readonly [string, ...string[]];

/** The settings that decide which values are allowed. */
export type ListSettings = Pick<CatalogueSettings, 'categories' | 'inactiveDays'>;

/**
 * @param message the problem with the text of a parameter, and the text to send instead
 * @throws {BotshelfError} invalid-value
 */
export function refuse(message: string): never {
  throw new BotshelfError('invalid-value', message);
}

interface Filter<V> extends ListParameter<V> {
  /** Returns a test whether a bot passes the filter with this value. */
  readonly matches: (value: V, counts: ReadonlyCounts) => (bot: IndexedBot) => boolean;
}

/**
 * Every filter of lists and searches, by the name of its parameter. An entry here adds the filter to queries, the
 * OpenAPI document and commands; for pages, add its form in addresses to `pageFilters`.
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
    description: 'Bots in this category; repeat the parameter for several. Without it, all.',
    schema: { type: 'array', items: { $ref: 'definitions.schema.json#/$defs/category' } },
    repeats: true,
  }),
  nsfw: flag(({ nsfw }) => nsfw, 'Whether the bot is for adults: `false` leaves 18+ bots out.'),
  openSource: flag(({ openSource }) => openSource, 'Whether the source code is named.'),
  verified: flag(({ verified }) => verified, 'Whether the bot is verified.'),
  administrator: flag(
    ({ administrator }) => administrator,
    'Whether the invite link asks for all permissions (Administrator).',
  ),
  author: filter<string>({
    parse: ([text]) =>
      parseBotId(text) ?? refuse(`${quoteValue(text)} is not an account id: send 1 to 20 digits`),
    matches: (author) => (bot) => bot.facts.authors.includes(author),
    description: 'Bots of this author, by the id of the account. Without it, all.',
    schema: { $ref: 'definitions.schema.json#/$defs/id' },
  }),
  locale: filter<Locale>({
    parse: ([text]) => {
      const locale = parseLocale(text);
      if (typeof locale === 'string') return locale;
      return refuse(`${quoteValue(text)} ${locale.reason}: use ${locale.instead}`);
    },
    matches: (locale) => (bot) => bot.facts.locales.includes(locale),
    description: 'Bots with a page in this language. Without it, all.',
    schema: { $ref: 'definitions.schema.json#/$defs/locale' },
  }),
  /** The number of days, up to now, in which a count must have been posted: the only filter by count. */
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
      const since = Date.now() - days * msPerDay;
      return ({ id }) => (counts.reportedAt(id) ?? 0) >= since;
    },
    description:
      'Bots that posted a count in this time. It is `7d`, `30d`, or as many days as the settings of the list say. Without it, all.',
    schema: { type: 'string', pattern: '^[1-9][0-9]{0,3}d$', examples: ['7d'] },
  }),
};

/** The days of `active=7d`, which pages offer. */
export const daysPerWeek = 7;

/** The order of a search: the best match first. */
export const relevance = 'relevance';

/** Maximum number of characters. */
export const maxQueryLength = 200;

const maxLimit = 1000;

/** The length of a page. */
export const limitParameter = {
  parse: ([text]: ParameterTexts) => {
    const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
    if (limit >= 1 && limit <= maxLimit) return limit;
    return refuse(`${quoteValue(text)} is not a limit: send a whole number from 1 to ${maxLimit}`);
  },
  description: 'How many bots to return, 1 to 1,000. Without it, all.',
  schema: { type: 'integer', minimum: 1, maximum: maxLimit, examples: [100] },
} satisfies ListParameter<unknown>;

/** Maximum number of bots that `ids` selects. */
export const maxIds = 100;

/** Bots that are selected by their ids, each once, in the order in which they are named. */
export const idsParameter = {
  parse: (texts: ParameterTexts): readonly BotId[] => {
    const all = texts.flatMap((text) => text.split(',', maxIds + 1));
    if (all.length > maxIds) refuse(`there are more than ${maxIds} ids: send several requests`);
    const ids = all.map(
      (text) => parseBotId(text) ?? refuse(`${quoteValue(text)} is not a bot ID: use 1 to 20 digits`),
    );
    return [...new Set(ids)];
  },
  repeats: 'or with commas',
  description: `Only these bots: up to ${maxIds} ids, with commas or repeated. Without it, all.`,
  schema: { type: 'array', items: { $ref: 'definitions.schema.json#/$defs/id' } },
} satisfies ListParameter<unknown>;

/** The parameters of GET /api/v2/bots, by the names of their values in the query. */
export const listParameters = {
  q: {
    parse: ([text]) =>
      text.trim() === '' || text.length > maxQueryLength
        ? refuse(`the text is blank or too long: send 1 to ${maxQueryLength} characters`)
        : text,
    description:
      'Words to search for, in any language. A bot may have only some of the words. Without it, all bots.',
    schema: { type: 'string', maxLength: maxQueryLength, pattern: '\\S', examples: ['doughnut'] },
  },
  ids: idsParameter,
  ...filters,
  weaker: {
    parse: parseFlag,
    description:
      'Whether a search returns weak matches, too. Weak ones have less than half of the words that the best one has. Without it, `false`.',
    schema: { type: 'boolean' },
  },
  sort: {
    parse: ([text]): Sort | undefined => {
      if (text === relevance) return undefined;
      const key = sortKeys.find((candidate) => candidate === text.replace(/^-/, ''));
      if (key !== undefined) return { key, descending: text.startsWith('-') };
      return refuse(
        `${quoteValue(text)} is not a sort key: use ${sortKeys.join(', ')}, with - in front for the reverse order, or relevance with q`,
      );
    },
    description: `The order. It is \`relevance\`, which needs \`q\`, or one of \`${sortKeys.join(' ')}\`, reversed with \`-\` in front. \`growth\` is how counts from 100 changed in 30 days. Without it, \`relevance\` with \`q\`, else \`id\`.`,
    schema: {
      type: 'string',
      pattern: `^(relevance|-?(${sortKeys.join('|')}))$`,
      examples: ['-count'],
    },
  },
  limit: { ...limitParameter, example: 2 },
  after: {
    parse: ([text]) =>
      parseCursor(text) ?? refuse('it is not a cursor: take it from the Link header of the page before'),
    description:
      'A value from the `Link` header of the previous page. Without it, the first page. A bot whose value in the order changes between two pages, such as its count, may be on both or on neither: sort by `id` to get every bot once.',
    schema: { type: 'string' },
  },
  fields: {
    parse: ([text]) => {
      const names = text.split(',');
      const fieldNames = listFields();
      if (names.length > fieldNames.length) refuse('there are more names than fields: name each once');
      const unknown = names.find((name) => !fieldNames.includes(name as ListField));
      if (unknown !== undefined)
        refuse(`${quoteValue(unknown)} is not a field: use ${fieldNames.join(', ')}`);
      return fieldNames.filter((name) => names.includes(name));
    },
    description:
      'The keys to return, separated by commas. `count` is one, too, and null for a bot without one: exact with `ids` or a `limit` up to 100, else a second old at most. Without it, all but pages and count.',
    example: 'id,category,contents',
    get schema() {
      const name = `(?:${listFields().join('|')})`;
      return { type: 'string', pattern: `^${name}(?:,${name})*$` };
    },
  },
} satisfies Readonly<Record<string, ListParameter<unknown>>>;

/** Formats a cursor as the parameter `after`. */
export function formatCursor({ value, id }: Cursor): string {
  return Buffer.from(JSON.stringify([value, id])).toString('base64url');
}

/** The values of filters, by their names. */
export type FilterValues = {
  readonly [Name in keyof typeof filters]?: ReturnType<(typeof filters)[Name]['parse']> | undefined;
};

/** Returns a test whether a bot is selected and passes all filters; undefined if the query selects all bots. */
export function createCheck(
  { ids, ...values }: FilterValues & Pick<ListQuery, 'ids'>,
  counts: ReadonlyCounts,
): ((bot: IndexedBot) => boolean) | undefined {
  const checks = Object.entries(filters).flatMap(([name, entry]) => {
    const value = values[name as keyof FilterValues];
    return value === undefined ? [] : (entry as Filter<unknown>).matches(value, counts);
  });
  const wanted = ids && new Set(ids);
  if (wanted) checks.push(({ id }) => wanted.has(id));
  return checks.length === 0 ? undefined : (bot) => checks.every((check) => check(bot));
}

function filter<V>(entry: Filter<V>): Filter<V> {
  return entry;
}

function flag(isTrue: (facts: BotFacts) => boolean, description: string): Filter<boolean> {
  return {
    parse: parseFlag,
    matches: (wanted) => (bot) => isTrue(bot.facts) === wanted,
    description: `${description} Without it, both.`,
    schema: { type: 'boolean' },
  };
}

/** Parses a boolean parameter. @throws {BotshelfError} invalid-value */
function parseFlag([text]: ParameterTexts): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return refuse(`${quoteValue(text)} is not a boolean: send true or false`);
}

/** Reads the schema only for a query that needs it: the help of the command does not. */
function listFields(): readonly ListField[] {
  fields ??= [...Object.keys(readSchema('list-element')['properties'] as object), 'count'] as ListField[];
  return fields;
}

let fields: readonly ListField[] | undefined;

function parseCursor(text: string): Cursor | undefined {
  if (text.length > maxCursorLength) return undefined;
  try {
    const [value, id, ...rest] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    const botId = typeof id === 'string' ? parseBotId(id) : undefined;
    if (botId === undefined || rest.length > 0) return undefined;
    return typeof value === 'string' || typeof value === 'number' ? { value, id: botId } : undefined;
  } catch {
    return undefined;
  }
}

/** Enough for a name of 32 characters, which grows when it is normalised, and by a third as base64. */
const maxCursorLength = 2000;
