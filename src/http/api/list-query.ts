import { parseBotId } from '../../bot/id.ts';
import { readSchema } from '../../bot/schemas.ts';
import type { BotListElement } from '../../bot/schema-types.ts';
import type { ListQuery } from '../../catalogue/lists/bot-lists.ts';
import {
  filters,
  type ListParameter,
  type ListSettings,
  type ParameterTexts,
  parseFlag,
  refuse,
} from '../../catalogue/lists/filters.ts';
import { type Cursor, type Sort, sortKeys } from '../../catalogue/lists/selection.ts';
import { quoteValue } from '../../lib/quote-value.ts';
import { ProblemError } from '../problem.ts';
import { readParameters } from '../query.ts';

/**
 * Reads the query of GET /api/v2/bots.
 * @throws {ProblemError} bad-query, with every unknown parameter and every bad value at once
 */
export function parseListQuery(params: URLSearchParams, settings: ListSettings): ListQuery {
  const { values, errors } = readParameters(params, listParameters, settings);
  const query: ListQuery = values;
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

/** Returns a cursor as the parameter `after`. */
export function formatCursor({ value, id }: Cursor): string {
  return Buffer.from(JSON.stringify([value, id])).toString('base64url');
}

const maxQueryLength = 200;
const maxLimit = 1000;

/** The order of a search: the best match first. */
const relevance = 'relevance';

const fieldNames = Object.keys(
  (readSchema('list-element') as { properties: object }).properties,
) as (keyof BotListElement)[];

/** How long a page is. */
export const limitParameter = {
  parse: ([text]: ParameterTexts) => {
    const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
    if (limit >= 1 && limit <= maxLimit) return limit;
    return refuse(`${quoteValue(text)} is not a limit: send a whole number from 1 to ${maxLimit}`);
  },
  description: 'How many bots to return, 1 to 1,000. Without it, all.',
  schema: { type: 'integer', minimum: 1, maximum: maxLimit },
} satisfies ListParameter<unknown, null>;

/** The parameters of GET /api/v2/bots; the value of each is that of the same name in the query. */
export const listParameters: ReadonlyMap<string, ListParameter<unknown>> = new Map(
  Object.entries<ListParameter<unknown>>({
    q: {
      parse: ([text]) =>
        text.trim() === '' || text.length > maxQueryLength
          ? refuse(`the text is blank or too long: send 1 to ${maxQueryLength} characters`)
          : text,
      description: 'Words to search for, in any language. A bot may have only some of them.',
      example: 'doughnut',
      schema: { type: 'string', maxLength: maxQueryLength, pattern: '\\S' },
    },
    ...filters,
    weaker: {
      parse: parseFlag,
      description:
        'Whether a search returns weak matches, too: bots with less than half of the words that the best one has.',
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
      description: `The order: \`relevance\`, which needs \`q\` and is the default with it, or one of \`${sortKeys.join(' ')}\`, with \`-\` in front for the reverse. \`growth\` is how the count changed over 30 days. Default without \`q\`: \`id\`.`,
      schema: { type: 'string', pattern: `^(relevance|-?(${sortKeys.join('|')}))$` },
    },
    limit: limitParameter,
    after: {
      parse: ([text]) =>
        parseCursor(text) ?? refuse('it is not a cursor: take it from the Link header of the page before'),
      description: 'Where the next page begins. Follow the `Link` header and you need not look at it.',
      schema: { type: 'string' },
    },
    fields: {
      parse: ([text]) => {
        const names = text.split(',');
        if (names.length > fieldNames.length) refuse('there are more names than fields: name each once');
        const unknown = names.find((name) => !fieldNames.includes(name as keyof BotListElement));
        if (unknown !== undefined)
          refuse(`${quoteValue(unknown)} is not a field: use ${fieldNames.join(', ')}`);
        return fieldNames.filter((name) => names.includes(name));
      },
      description: 'The keys to return, separated by commas. Without it, all but the pages.',
      example: 'id,category,contents',
      schema: { type: 'string' },
    },
  }),
);

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
