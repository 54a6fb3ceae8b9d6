import { hash } from 'node:crypto';
import type { Router } from '@koa/router';
import { sortKeys } from '../../catalogue/lists/selection.ts';
import { readSchema, type SchemaDocument, schemaNames } from '../../bot/schemas.ts';
import type { Category } from '../../bot/schema-types.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { send } from '../representation.ts';
import { writableKeys } from './update-body.ts';

/**
 * Adds the OpenAPI document.
 * @param baseUrl the public address, without a slash at its end
 * @param settings returns those in force
 */
export function addOpenApiRoute(router: Router, baseUrl: string, settings: () => CatalogueSettings): void {
  router.get('/api/openapi.json', async (ctx) => {
    const inForce = settings();
    const body = Buffer.from(JSON.stringify(openApi(baseUrl, inForce)));
    const current = (): boolean => settings() === inForce;
    await send(ctx, { type: 'application/json', digest: hash('sha1', body, 'base64url'), body, current });
  });
}

/** Returns the OpenAPI 3.1 document of the API, with the schemas that the service itself validates with. */
export function openApi(
  baseUrl: string,
  { name, categories }: Pick<CatalogueSettings, 'name' | 'categories'>,
): object {
  return {
    openapi: '3.1.0',
    info: {
      title: name,
      version: '2',
      description:
        'A list of bots. Reads need no key, are allowed from any site, and have ETags. An owner posts with the token of the bot.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    security: [],
    paths,
    components: {
      schemas: componentsOf(paths, categories),
      securitySchemes: {
        token: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'The token of the bot, alone or after “Bearer ”.',
        },
      },
      responses: {
        Problem: {
          description: 'What is wrong, and what to do about it.',
          content: { 'application/problem+json': { schema: ref('Problem') } },
        },
        NotModified: { description: 'The ETag in If-None-Match is still current.' },
      },
    },
  };
}

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

const problem = { $ref: '#/components/responses/Problem' };
const idParameter = { name: 'id', in: 'path', required: true, schema: ref('id') };
const notModified = { '304': { $ref: '#/components/responses/NotModified' } };

const readBot = {
  summary: 'One bot, with its pages',
  parameters: [idParameter],
  responses: {
    '200': response('The bot.', ref('BotRecord')),
    ...notModified,
    '400': problem,
    '404': problem,
    '406': problem,
  },
};

const time = { type: 'string', examples: ['2026-11-22', '2026-11-22T05:00Z'] };

const countAt = {
  type: 'object',
  required: ['at', 'count'],
  properties: {
    at: { type: 'string', examples: ['2026-11-22', '2026-11-22T05:00Z'] },
    count: { type: 'integer', minimum: 0 },
  },
};

const paths = {
  '/api/v2/bots': {
    get: {
      operationId: 'listBots',
      summary: 'List bots (without pages)',
      parameters: [
        query('q', 'Words to search for, in any language; a bot may have only some of them.', {
          type: 'string',
          maxLength: 200,
          pattern: '\\S',
        }),
        query('category', 'Bots of this category; may be there more than once, for bots of any of them.', {
          type: 'array',
          items: ref('category'),
        }),
        query('nsfw', 'Only bots for adults, or only others.', { type: 'boolean' }),
        query('verified', 'Only verified bots, or only others.', { type: 'boolean' }),
        query('author', 'Bots of this author: the id of an account.', ref('id')),
        query('locale', 'Bots with a page in this language.', ref('locale')),
        query(
          'active',
          'Bots that posted a count in the last days: 30d, or as many as the settings of the catalogue name.',
          {
            type: 'string',
            pattern: '^[1-9][0-9]{0,3}d$',
          },
        ),
        query(
          'sort',
          `One of relevance, ${sortKeys.join(', ')}. Prefix with - to reverse; relevance cannot be reversed. growth is that of the count over 30 days. Default: relevance with q, else id.`,
          { type: 'string', pattern: `^(relevance|-?(${sortKeys.join('|')}))$` },
        ),
        query('limit', 'The number of bots on a page; all if left out.', {
          type: 'integer',
          minimum: 1,
          maximum: 1000,
        }),
        query('after', 'The cursor in the Link header of the page before.', { type: 'string' }),
        query('fields', 'The keys to return, separated by commas; all if left out.', { type: 'string' }),
      ],
      responses: {
        '200': response(
          'The bots. X-Total-Count has their number, Link the next page.',
          listOf(ref('BotListElement')),
        ),
        ...notModified,
        '400': problem,
        '406': problem,
        '503': problem,
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
      requestBody: { required: true, content: { 'application/json': { schema: ref('Update') } } },
      responses: {
        '200': response('The keys as they are stored.', ref('UpdateAnswer')),
        '202': response(
          'The keys as they are stored. The change is saved; the Git server, for which responses wait here, does not have it yet and gets it later. Do not send it again.',
          ref('UpdateAnswer'),
        ),
        ...Object.fromEntries(
          [400, 401, 403, 404, 409, 412, 413, 415, 422, 429, 503].map((status) => [String(status), problem]),
        ),
      },
    },
  },
  '/api/v2/bots/{id}/counts': {
    get: {
      operationId: 'getCounts',
      summary: 'Counts of a bot over time',
      description:
        'The last count that was known at the end of each hour or day (UTC); of the one that is not over, the latest count. Days are kept for ever, hours for 30 days. What is before the first count of the bot, or no longer kept, is left out.',
      parameters: [
        idParameter,
        query('from', 'The first day or hour; that of the first count if left out.', time),
        query('to', 'The last day or hour; the one that is not over if left out.', time),
        query('step', 'The length of a period; day if left out. At most 3,660 periods are returned.', {
          type: 'string',
          enum: ['hour', 'day'],
        }),
      ],
      responses: {
        '200': {
          description: 'The counts, the oldest first; “at” is the begin of the period.',
          content: {
            'application/json': { schema: listOf(countAt) },
            'text/csv': { schema: { type: 'string' }, example: 'at,count\r\n2026-11-22,156\r\n' },
          },
        },
        ...notModified,
        '400': problem,
        '404': problem,
        '406': problem,
        '503': problem,
      },
    },
  },
  '/api/v1/bots': {
    get: {
      operationId: 'listFiles',
      summary: 'List the markdown files',
      responses: {
        '200': response('The files in the order of their paths.', listOf(ref('FileItem'))),
        ...notModified,
        '400': problem,
        '406': problem,
        '503': problem,
      },
    },
  },
  '/api/v1/bots/{id}': { get: { operationId: 'getBotV1', ...readBot } },
};

function ref(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

function listOf(items: Json): Json {
  return { type: 'array', items };
}

function response(description: string, schema: Json): Json {
  return { description, content: { 'application/json': { schema } } };
}

function query(name: string, description: string, schema: Json): Json {
  return { name, in: 'query', description, schema };
}

/** Returns the schemas that the paths refer to, those of files by their titles and shared definitions by their names. */
function componentsOf(paths: Json, categories: readonly Category[]): Record<string, Json> {
  const all: Record<string, Json> = {};
  for (const name of schemaNames) {
    const { $schema: _schema, $id: _id, ...schema } = readSchema(name);
    all[titleOf(readSchema(name))] = withinComponents(schema as Json, titleOf(readSchema(name)));
  }
  const { $defs } = readSchema('definitions', categories) as { $defs: Record<string, Json> };
  for (const [name, schema] of Object.entries($defs)) all[name] = withinComponents(schema, '');
  const used = new Set<string>();
  const add = (value: Json): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"/]+)/g)) {
      if (used.has(name)) continue;
      used.add(name);
      add(all[name] ?? null);
    }
  };
  add([paths, ref('Problem')]);
  return Object.fromEntries(Object.entries(all).filter(([name]) => used.has(name)));
}

function titleOf(schema: SchemaDocument): string {
  return String(schema['title']);
}

/** Turns references between files into references between components, and drops the keywords of our own. */
function withinComponents(value: Json, own: string): Json {
  if (Array.isArray(value)) return value.map((item: Json) => withinComponents(item, own));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value as Readonly<Record<string, Json>>).filter(
    ([key]) => key !== 'x-advice' && key !== 'x-category',
  );
  return Object.fromEntries(
    entries.map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string' ? componentOf(inner, own) : withinComponents(inner, own),
    ]),
  );
}

function componentOf(reference: string, own: string): string {
  const [file = '', pointer = ''] = reference.split('#');
  if (file === 'definitions.schema.json') return `#/components/schemas${pointer.replace('/$defs', '')}`;
  const title = file === '' ? own : titleOf(readSchema(file.replace('.schema.json', '') as 'record'));
  return `#/components/schemas/${title}${pointer}`;
}
