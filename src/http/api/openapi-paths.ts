import { countParameters, timeParameter } from './counts-route.ts';
import { listParameters } from './list-query.ts';
import { type Json, createReference, rewriteReferences } from './openapi-schemas.ts';
import { writableKeys } from './update-body.ts';

const idParameter = { name: 'id', in: 'path', required: true, schema: createReference('id') };
const notModified = { '304': { $ref: '#/components/responses/NotModified' } };

const readBot = {
  summary: 'One bot, with its pages',
  parameters: [idParameter],
  responses: {
    '200': createResponse('The bot.', createReference('BotRecord')),
    ...notModified,
    ...createProblems(400, 404, 406),
  },
};

const countAt = {
  type: 'object',
  required: ['at', 'count'],
  properties: {
    at: timeParameter.schema,
    count: { type: 'integer', minimum: 0 },
  },
};

/** The paths of the API. */
export const paths = {
  '/api/v2/bots': {
    get: {
      operationId: 'listBots',
      summary: 'List bots (without pages)',
      parameters: createQueryParameters(listParameters),
      responses: {
        '200': createResponse(
          'The bots. X-Total-Count has their number, Link the next page.',
          toArraySchema(createReference('BotListElement')),
        ),
        ...notModified,
        ...createProblems(400, 406, 503),
      },
    },
  },
  '/api/v2/bots/{id}': {
    get: { operationId: 'getBot', ...readBot },
    post: {
      operationId: 'updateBot',
      summary: 'Post a count or change keys',
      description: `Any of ${writableKeys.join(', ')} in “bot”. All keys are changed or none. A response with status 2xx means that the change is saved on disk.`,
      security: [{ token: [] }],
      parameters: [
        idParameter,
        {
          name: 'If-Match',
          in: 'header',
          schema: { type: 'string' },
          description: 'The ETag that the bot must have.',
        },
      ],
      requestBody: { required: true, content: { 'application/json': { schema: createReference('Update') } } },
      responses: {
        '200': createResponse('The keys as they are stored.', createReference('UpdateAnswer')),
        '202': createResponse(
          'The keys as they are stored. The change is saved; the Git server, for which responses wait here, does not have it yet and gets it later. Do not send it again.',
          createReference('UpdateAnswer'),
        ),
        ...createProblems(400, 401, 403, 404, 409, 412, 413, 415, 422, 429, 503),
      },
    },
  },
  '/api/v2/bots/{id}/counts': {
    get: {
      operationId: 'getCounts',
      summary: 'Counts of a bot over time',
      description:
        'The last count that was known at the end of each hour or day (UTC); of the one that is not over, the latest count. Days are kept for ever, hours for 30 days. What is before the first count of the bot, or no longer kept, is left out.',
      parameters: [idParameter, ...createQueryParameters(countParameters)],
      responses: {
        '200': {
          description: 'The counts, the oldest first; “at” is the begin of the period.',
          content: {
            'application/json': { schema: toArraySchema(countAt) },
            'text/csv': { schema: { type: 'string' }, example: 'at,count\r\n2026-11-22,156\r\n' },
          },
        },
        ...notModified,
        ...createProblems(400, 404, 406, 503),
      },
    },
  },
  '/api/v1/bots': {
    get: {
      operationId: 'listFiles',
      summary: 'List the markdown files',
      responses: {
        '200': createResponse(
          'The files in the order of their paths.',
          toArraySchema(createReference('FileItem')),
        ),
        ...notModified,
        ...createProblems(400, 406, 503),
      },
    },
  },
  '/api/v1/bots/{id}': { get: { operationId: 'getBotV1', ...readBot } },
};

function toArraySchema(items: Json): Json {
  return { type: 'array', items };
}

function createResponse(description: string, schema: Json): Json {
  return { description, content: { 'application/json': { schema } } };
}

function createProblems(...statuses: readonly number[]): { readonly [status: string]: Json } {
  const problem = { $ref: '#/components/responses/Problem' };
  return Object.fromEntries(statuses.map((status) => [status, problem]));
}

function createQueryParameters(
  table: ReadonlyMap<string, { readonly description: string; readonly schema: object }>,
): Json[] {
  return [...table].map(([name, { description, schema }]) => {
    return { name, in: 'query', description, schema: rewriteReferences(schema, '') };
  });
}
