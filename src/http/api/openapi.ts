import type { Router } from '@koa/router';
import { readSchema, type SchemaDocument, schemaNames } from '../../bot/schemas.ts';
import type { Category } from '../../bot/schema-types.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { basePathOf } from '../../lib/base-url.ts';
import { createDocument, send } from '../representation.ts';
import { countParameters, timeParameter } from './counts-route.ts';
import { listParameters } from './list-query.ts';
import { writableKeys } from './update-body.ts';

/**
 * Adds the OpenAPI document, and redirects to it and to the page about the API from where people look for them.
 * @param baseUrl the public address, without a slash at its end
 * @param settings returns those in force
 */
export function addOpenApiRoute(router: Router, baseUrl: string, settings: () => CatalogueSettings): void {
  router.get('/api/openapi.json', async (ctx) => {
    const inForce = settings();
    const body = Buffer.from(JSON.stringify(openApi(baseUrl, inForce)));
    const current = (): boolean => settings() === inForce;
    await send(ctx, { ...createDocument('application/json', body), current });
  });
  const basePath = basePathOf(baseUrl);
  router.get(['/api', '/api/v2', '/openapi.json'], (ctx) => {
    ctx.set('Link', `<${basePath}/api/openapi.json>; rel="service-desc"`);
    ctx.redirect(basePath + (ctx.path.endsWith('.json') ? '/api/openapi.json' : '/docs'));
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
      schemas: createComponents(paths, categories),
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
          content: { 'application/problem+json': { schema: createReference('Problem') } },
        },
        NotModified: { description: 'The ETag in If-None-Match is still current.' },
      },
    },
  };
}

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
const paths = {
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

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Returns a reference to a schema of the document. */
function createReference(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/** Returns the schemas that the paths refer to, those of files by their titles and shared definitions by their names. */
function createComponents(paths: Json, categories: readonly Category[]): Record<string, Json> {
  const all: Record<string, Json> = {};
  for (const name of schemaNames) {
    const { $schema: _schema, $id: _id, ...schema } = readSchema(name);
    const title = titleOf(schema);
    all[title] = rewriteReferences(schema, title);
  }
  const { $defs } = readSchema('definitions', categories) as { $defs: Record<string, object> };
  for (const [name, schema] of Object.entries($defs)) all[name] = rewriteReferences(schema, '');
  const used = new Set<string>();
  const add = (value: Json): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"/]+)/g)) {
      if (used.has(name)) continue;
      used.add(name);
      add(all[name] ?? null);
    }
  };
  add([paths, createReference('Problem')]);
  return Object.fromEntries(Object.entries(all).filter(([name]) => used.has(name)));
}

function titleOf(schema: SchemaDocument): string {
  return String(schema['title']);
}

/**
 * Turns references between files into references between components, and drops our own keywords.
 * @param own the title of the schema that the value is from
 */
function rewriteReferences(value: object, own: string): Json {
  return JSON.parse(JSON.stringify(value), (key, inner: Json) => {
    if (key === 'x-advice' || key === 'x-category') return undefined;
    return key === '$ref' ? toComponentReference(inner as string, own) : inner;
  }) as Json;
}

function toComponentReference(reference: string, own: string): string {
  const [file = '', pointer = ''] = reference.split('#');
  if (file === 'definitions.schema.json') return `#/components/schemas${pointer.replace('/$defs', '')}`;
  const title = file === '' ? own : titleOf(readSchema(file.replace('.schema.json', '') as 'record'));
  return `#/components/schemas/${title}${pointer}`;
}
