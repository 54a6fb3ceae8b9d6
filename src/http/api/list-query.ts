import { parseBotId } from '../../bot/id.ts';
import { parseLocale } from '../../bot/locale.ts';
import { readSchema } from '../../bot/schemas.ts';
import type { BotListElement, Category } from '../../bot/schema-types.ts';
import type { ListQuery } from '../../catalogue/index/bot-lists.ts';
import { type Cursor, type Sort, sortKeys } from '../../catalogue/index/selection.ts';
import { ProblemError, type ProblemDetail } from '../problem.ts';

/**
 * Reads the query of GET /api/v2/bots.
 * @throws {ProblemError} bad-query, naming every unknown parameter and every bad value at once.
 */
export function parseListQuery(params: URLSearchParams): ListQuery {
  const errors: ProblemDetail[] = [];
  const query: { -readonly [K in keyof ListQuery]: ListQuery[K] } = {};
  for (const name of new Set(params.keys())) {
    const values = params.getAll(name);
    const reader = readers[name as keyof typeof readers] as Reader | undefined;
    const detail =
      reader === undefined || !Object.hasOwn(readers, name)
        ? `there is no such parameter: use ${Object.keys(readers).join(', ')}`
        : values.length > 1 && name !== 'category'
          ? 'it is given more than once: give it once'
          : reader(query, values);
    if (detail !== undefined) errors.push({ pointer: `?${name.slice(0, 50)}`, detail });
  }
  const { after } = query;
  if (after && (typeof after.value === 'string') !== (query.sort?.key === 'name')) {
    errors.push({
      pointer: '?after',
      detail: 'it belongs to a list in another order: take it from the Link header of the page before',
    });
  }
  if (errors.length > 0) throw ProblemError.ofErrors('bad-query', errors);
  return query;
}

/** The form of a cursor in an address. */
export function formatCursor({ value, id }: Cursor): string {
  return Buffer.from(JSON.stringify([value, id])).toString('base64url');
}

type Draft = { -readonly [K in keyof ListQuery]: ListQuery[K] };

/** Puts a parameter's values into the query, or says what is wrong with them. */
type Reader = (query: Draft, values: readonly string[]) => string | undefined;

const categories = (readSchema('definitions') as { $defs: { category: { enum: Category[] } } }).$defs.category
  .enum;
const fieldNames = Object.keys(
  (readSchema('list-element') as { properties: object }).properties,
) as (keyof BotListElement)[];

const readers = {
  q: one((query, text) => {
    if (text.trim() === '' || text.length > 200)
      return 'there is nothing to search for, or too much: give 1 to 200 characters';
    query.q = text;
    return undefined;
  }),
  category: (query, values) => {
    const unknown = values.find((value) => !categories.includes(value as Category));
    if (unknown !== undefined) return `${quote(unknown)} is no category: use ${categories.join(', ')}`;
    query.categories = categories.filter((category) => values.includes(category));
    return undefined;
  },
  nsfw: flag('nsfw'),
  verified: flag('verified'),
  author: one((query, text) => {
    if (parseBotId(text) === undefined) return `${quote(text)} is no account id: give 1 to 20 digits`;
    query.author = text;
    return undefined;
  }),
  locale: one((query, text) => {
    const locale = parseLocale(text);
    if (typeof locale === 'object') return `${quote(text)} ${locale.reason}: use ${locale.instead}`;
    query.locale = locale;
    return undefined;
  }),
  sort: one((query, text) => {
    const key = sortKeys.find((candidate) => candidate === text.replace(/^-/, ''));
    if (key === undefined)
      return `${quote(text)} is no order: use ${sortKeys.join(', ')}, with - in front to reverse it`;
    query.sort = { key, descending: text.startsWith('-') } satisfies Sort;
    return undefined;
  }),
  limit: one((query, text) => {
    const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
    if (limit < 1 || limit > 1000) return `${quote(text)} is no limit: give a whole number from 1 to 1000`;
    query.limit = limit;
    return undefined;
  }),
  after: one((query, text) => {
    const cursor = parseCursor(text);
    if (cursor === undefined) return 'it is no cursor: take it from the Link header of the page before';
    query.after = cursor;
    return undefined;
  }),
  fields: one((query, text) => {
    const names = text.split(',');
    if (names.length > fieldNames.length) return 'there are more names than fields: name each once';
    const unknown = names.find((name) => !fieldNames.includes(name as keyof BotListElement));
    if (unknown !== undefined) return `${quote(unknown)} is no field: use ${fieldNames.join(', ')}`;
    query.fields = fieldNames.filter((name) => names.includes(name));
    return undefined;
  }),
} satisfies Record<string, Reader>;

function one(read: (query: Draft, text: string) => string | undefined): Reader {
  return (query, [text = '']) => read(query, text);
}

function flag(name: 'nsfw' | 'verified'): Reader {
  return one((query, text) => {
    if (text !== 'true' && text !== 'false') return `${quote(text)} is neither: give true or false`;
    query[name] = text === 'true';
    return undefined;
  });
}

function parseCursor(text: string): Cursor | undefined {
  if (text.length > longestCursor) return undefined;
  try {
    const [value, id, ...rest] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    const botId = typeof id === 'string' ? parseBotId(id) : undefined;
    if (botId === undefined || rest.length > 0) return undefined;
    return typeof value === 'string' || typeof value === 'number' ? { value, id: botId } : undefined;
  } catch {
    return undefined;
  }
}

/** A name of 32 characters grows when its width is taken away, and by a third as base64. */
const longestCursor = 2000;

function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}…` : text);
}
