import { readSchema, type SchemaDocument, schemaNames } from '../../bot/schemas.ts';

/** The description of the interface as OpenAPI 3.1; its schemas are those that everything is held against. */
export function openApi(baseUrl: string): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Botshelf',
      version: '2',
      description:
        'A listing of bots. Reads need no key, may come from any site, and have ETags; an owner posts with the token of the bot.',
    },
    servers: [{ url: baseUrl }],
    paths,
    components: {
      schemas: components(),
      securitySchemes: {
        token: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'The token of the bot, as it is or after “Bearer ”.',
        },
      },
      responses: {
        Problem: {
          description: 'What is wrong and what to do about it.',
          content: { 'application/problem+json': { schema: ref('Problem') } },
        },
        NotModified: { description: 'It is as the ETag in If-None-Match says.' },
      },
    },
  };
}

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

const problem = { $ref: '#/components/responses/Problem' };
const idParameter = { name: 'id', in: 'path', required: true, schema: ref('id') };
const notModified = { '304': { $ref: '#/components/responses/NotModified' } };

const readBot = {
  summary: 'A bot, whole',
  parameters: [idParameter],
  responses: { '200': answer('The bot.', ref('BotRecord')), ...notModified, '404': problem },
};

const { bot } = readSchema('update')['properties'] as { bot: { properties: object } };
const writableKeys = Object.keys(bot.properties);

const paths = {
  '/api/v2/bots': {
    get: {
      summary: 'Bots, without their pages',
      parameters: [
        query('q', 'Words that names and descriptions have.', { type: 'string', maxLength: 200 }),
        query('category', 'May be given more than once.', { type: 'array', items: ref('category') }),
        query('nsfw', 'Bots for adults only, or none of them.', { type: 'boolean' }),
        query('verified', 'Verified bots only, or none of them.', { type: 'boolean' }),
        query('author', 'The id of an account.', ref('id')),
        query('locale', 'A language that the bot has a page in.', ref('locale')),
        query('sort', 'With - in front the other way round; by id where left out.', {
          type: 'string',
          pattern: '^-?(id|created|edited|name|random|count)$',
        }),
        query('limit', 'Bots on a page.', { type: 'integer', minimum: 1, maximum: 1000 }),
        query('after', 'Where the page before ended, from its Link header.', { type: 'string' }),
        query('fields', 'The keys to give, with commas between them.', { type: 'string' }),
      ],
      responses: {
        '200': answer(
          'X-Total-Count says how many there are, Link where the next page is.',
          listOf(ref('BotListElement')),
        ),
        ...notModified,
        '400': problem,
        '503': problem,
      },
    },
  },
  '/api/v2/bots/{id}': {
    get: readBot,
    post: {
      summary: 'Post a count, or change keys',
      description: `Any of ${writableKeys.join(', ')} in “bot”. Answered when the change is safe on disk; all keys are changed or none. Any answer of 2xx means that it is saved.`,
      security: [{ token: [] }],
      parameters: [
        idParameter,
        {
          name: 'If-Match',
          in: 'header',
          schema: { type: 'string' },
          description: 'The ETag the bot must have.',
        },
      ],
      requestBody: { required: true, content: { 'application/json': { schema: ref('Update') } } },
      responses: {
        '200': answer('The keys as they are stored.', ref('UpdateAnswer')),
        '202': answer(
          'The same, and the change is saved, but the Git server, which answers wait for here, does not have it yet and gets it later: nothing needs to be sent again.',
          ref('UpdateAnswer'),
        ),
        ...Object.fromEntries(
          [400, 401, 403, 404, 409, 412, 413, 415, 422, 429, 503].map((status) => [String(status), problem]),
        ),
      },
    },
  },
  '/api/v1/bots': {
    get: {
      summary: 'Every markdown file',
      responses: {
        '200': answer('In the order of their paths.', listOf(ref('FileItem'))),
        ...notModified,
        '503': problem,
      },
    },
  },
  '/api/v1/bots/{id}': { get: readBot },
};

function ref(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

function listOf(items: Json): Json {
  return { type: 'array', items };
}

function answer(description: string, schema: Json): Json {
  return { description, content: { 'application/json': { schema } } };
}

function query(name: string, description: string, schema: Json): Json {
  return { name, in: 'query', description, schema };
}

/** The documents in `schemas/` by their titles, and the definitions that they share by their names. */
function components(): Record<string, Json> {
  const schemas: Record<string, Json> = {};
  for (const name of schemaNames) {
    const { $schema: _schema, $id: _id, ...schema } = readSchema(name);
    schemas[titleOf(readSchema(name))] = withinComponents(schema as Json, titleOf(readSchema(name)));
  }
  const { $defs } = readSchema('definitions') as { $defs: Record<string, Json> };
  for (const [name, schema] of Object.entries($defs)) schemas[name] = withinComponents(schema, '');
  return schemas;
}

function titleOf(schema: SchemaDocument): string {
  return String(schema['title']);
}

/** Makes references between files references between components; `x-advice` is for our checker alone. */
function withinComponents(value: Json, own: string): Json {
  if (Array.isArray(value)) return value.map((item: Json) => withinComponents(item, own));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value as Readonly<Record<string, Json>>).filter(
    ([key]) => key !== 'x-advice',
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
