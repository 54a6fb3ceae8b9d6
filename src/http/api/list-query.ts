import { parseBotId } from '../../bot/id.ts';
import { parseLocale } from '../../bot/locale.ts';
import { readSchema } from '../../bot/schemas.ts';
import type { BotListElement } from '../../bot/schema-types.ts';
import type { ListQuery } from '../../catalogue/lists/bot-lists.ts';
import { type Cursor, type Sort, sortKeys } from '../../catalogue/lists/selection.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { quoteValue } from '../../catalogue/page/fault.ts';
import { ProblemError, type ProblemDetail } from '../problem.ts';
import { formatCount } from '../../lib/counted.ts';

/**
 * Reads the query of GET /api/v2/bots.
 * @throws {ProblemError} bad-query, with every unknown parameter and every bad value at once
 */
export function parseListQuery(params: URLSearchParams, settings: ListSettings): ListQuery {
  const errors: ProblemDetail[] = [];
  const query: Draft = {};
  for (const name of new Set(params.keys())) {
    const values = params.getAll(name);
    const reader = readers.get(name);
    const detail =
      reader === undefined
        ? `there is no such parameter: use ${[...readers.keys()].join(', ')}`
        : values.length > 1 && name !== 'category'
          ? 'it is there more than once: send it once'
          : reader(query, values, settings);
    if (detail !== undefined) errors.push({ pointer: `?${name.slice(0, 50)}`, detail });
  }
  const { after } = query;
  if (after && (typeof after.value === 'string') !== (query.sort?.key === 'name')) {
    errors.push({
      pointer: '?after',
      detail: 'it is from a list in another order: take it from the Link header of the page before',
    });
  }
  if (params.get('sort') === relevance && !params.has('q'))
    errors.push({ pointer: '?sort', detail: 'relevance is the order of a search: send q, too' });
  if (errors.length > 0) throw ProblemError.ofErrors('bad-query', errors);
  return query;
}

/** The order of a search: the best match first. */
const relevance = 'relevance';

/** Returns a cursor as the parameter `after`. */
export function formatCursor({ value, id }: Cursor): string {
  return Buffer.from(JSON.stringify([value, id])).toString('base64url');
}

type Draft = { -readonly [K in keyof ListQuery]: ListQuery[K] };

/** The settings that decide which values there are. */
type ListSettings = Pick<CatalogueSettings, 'categories' | 'inactiveDays'>;

/** Adds the values of a parameter to the query. Returns a message if they are wrong. */
type Reader = (query: Draft, values: readonly string[], settings: ListSettings) => string | undefined;

const fieldNames = Object.keys(
  (readSchema('list-element') as { properties: object }).properties,
) as (keyof BotListElement)[];

const readers: ReadonlyMap<string, Reader> = new Map(
  Object.entries<Reader>({
    q: readOnce((query, text) => {
      if (text.trim() === '' || text.length > 200)
        return 'the text is blank or too long: send 1 to 200 characters';
      query.q = text;
      return undefined;
    }),
    category: (query, values, { categories }) => {
      const unknown = values.find((value) => !categories.includes(value));
      if (unknown !== undefined)
        return `${quoteValue(unknown)} is not a category: use ${categories.join(', ')}`;
      query.categories = categories.filter((category) => values.includes(category));
      return undefined;
    },
    nsfw: readFlag('nsfw'),
    verified: readFlag('verified'),
    author: readOnce((query, text) => {
      if (parseBotId(text) === undefined)
        return `${quoteValue(text)} is not an account id: send 1 to 20 digits`;
      query.author = text;
      return undefined;
    }),
    locale: readOnce((query, text) => {
      const locale = parseLocale(text);
      if (typeof locale === 'object') return `${quoteValue(text)} ${locale.reason}: use ${locale.instead}`;
      query.locale = locale;
      return undefined;
    }),
    active: (query, [text = ''], { inactiveDays }) => {
      const days = [inactiveDays, 30].find((known) => text === `${known}d`);
      if (days === undefined)
        return `${quoteValue(text)} is not a time: send ${inactiveDays}d, for bots that posted a count in the last ${formatCount(inactiveDays, 'day')}`;
      query.activeDays = days;
      return undefined;
    },
    sort: readOnce((query, text) => {
      if (text === relevance) return undefined;
      const key = sortKeys.find((candidate) => candidate === text.replace(/^-/, ''));
      if (key === undefined)
        return `${quoteValue(text)} is not a sort key: use ${sortKeys.join(', ')}, with - in front for the reverse order, or relevance with q`;
      query.sort = { key, descending: text.startsWith('-') } satisfies Sort;
      return undefined;
    }),
    limit: readOnce((query, text) => {
      const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
      if (limit < 1 || limit > 1000)
        return `${quoteValue(text)} is not a limit: send a whole number from 1 to 1000`;
      query.limit = limit;
      return undefined;
    }),
    after: readOnce((query, text) => {
      const cursor = parseCursor(text);
      if (cursor === undefined) return 'it is not a cursor: take it from the Link header of the page before';
      query.after = cursor;
      return undefined;
    }),
    fields: readOnce((query, text) => {
      const names = text.split(',');
      if (names.length > fieldNames.length) return 'there are more names than fields: name each once';
      const unknown = names.find((name) => !fieldNames.includes(name as keyof BotListElement));
      if (unknown !== undefined) return `${quoteValue(unknown)} is not a field: use ${fieldNames.join(', ')}`;
      query.fields = fieldNames.filter((name) => names.includes(name));
      return undefined;
    }),
  }),
);

function readOnce(read: (query: Draft, text: string) => string | undefined): Reader {
  return (query, [text = '']) => read(query, text);
}

function readFlag(name: 'nsfw' | 'verified'): Reader {
  return readOnce((query, text) => {
    if (text !== 'true' && text !== 'false')
      return `${quoteValue(text)} is not a boolean: send true or false`;
    query[name] = text === 'true';
    return undefined;
  });
}

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

/** A name of 32 characters grows when it is normalised, and by a third as base64. */
const maxCursorLength = 2000;
