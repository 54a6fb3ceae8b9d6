import type { Router } from '@koa/router';
import type { Category } from '../../../schemas/types.ts';
import { readSchema, type SchemaDocument, schemaNames } from '../../bot/schemas.ts';
import { type ListParameter, listParameters } from '../../catalogue/lists/parameters.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { basePathOf } from '../../lib/network.ts';
import { createDocument, send } from '../representation.ts';
import { changeParameters, feedParameters } from './changes-routes.ts';
import { countParameters, latestCountParameters } from './counts-routes.ts';
import { writableKeys } from './update-route.ts';

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
        'A list of bots. Reads need no key, are allowed from any site, have ETags, and include 18+ bots. An owner posts with the token of the bot.',
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
        ...Object.fromEntries(
          Object.entries(problems).map(([status, description]) => [
            `Problem${status}`,
            { description, content: { 'application/problem+json': { schema: createReference('Problem') } } },
          ]),
        ),
        NotModified: { description: 'The ETag in `If-None-Match` is still current.' },
      },
    },
  };
}

/** What each status of an error means. */
const problems: Readonly<Record<number, string>> = {
  400: 'Not JSON, a key twice, a parameter that does not exist or has a wrong value.',
  401: 'No token, or one that is mistyped, unknown or ended.',
  403: 'A valid token of another bot, or the service is a read-only copy of the list: the problem names the original.',
  404: 'There is no such bot or author.',
  406: 'There is no such format: `Accept` is none of those that the problem names.',
  409: 'Somebody is editing the file of the bot on the machine of the service. Try again after `Retry-After` seconds.',
  410: 'The cursor is not in the history of the catalogue, which was rewritten. Read `/api/v2/export.ndjson` again, and go on from its `X-Cursor`.',
  412: '`If-Match` is not the current ETag, which the response has.',
  413: 'The body is over 64 KiB.',
  415: 'Send `Content-Type: application/json`, uncompressed.',
  422: 'A key or a value that cannot be set.',
  429: 'Over a limit. Try again after `Retry-After` seconds.',
  503: 'The service is starting, cannot save now, or too many searches wait. Try again after `Retry-After` seconds.',
};

const idParameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of the bot.',
  schema: createReference('id'),
  example: '190519304972663312',
};
const accountParameter = { ...idParameter, example: '190519304972664832' };
const notModified = { '304': { $ref: '#/components/responses/NotModified' } };

const readBot = {
  summary: 'One bot, with its pages',
  description:
    '`contents` has a key for each language, the bot’s own first. `cachedImages` are paths of copies of `images` on this service, null while there is none.',
  parameters: [idParameter],
  responses: createReadResponses('The bot.', createReference('BotRecord'), [400, 404, 406]),
};

const countAt = {
  type: 'object',
  required: ['at', 'count'],
  properties: {
    at: { type: 'string', format: 'date' },
    count: { type: 'integer', minimum: 0 },
  },
};

const latestCount = {
  type: 'object',
  required: ['count', 'reportedAt'],
  properties: { count: countAt.properties.count, reportedAt: { type: 'string', format: 'date-time' } },
};

/** The paths of the API. */
const paths = {
  '/api/v2/bots': {
    get: {
      operationId: 'listBots',
      summary: 'List bots (without pages)',
      description:
        '18+ bots are among them: leave them out with `nsfw=false`. Parameters that do not exist are refused.',
      parameters: createQueryParameters(listParameters),
      responses: createReadResponses(
        'The bots. `X-Total-Count` is how many there are on all pages, `Link` the next page. Where no bot has a word of `q`, those with the nearest spelling are returned, and `X-Searched-For` has, percent-encoded, what was searched for.',
        toArraySchema(createReference('BotListElement')),
        [400, 406, 503],
      ),
    },
  },
  '/api/v2/bots/{id}': {
    get: { operationId: 'getBot', ...readBot },
    post: {
      operationId: 'updateBot',
      summary: 'Post a count or change keys',
      description: `Any of \`${writableKeys.join(' ')}\` in \`bot\`; all of them are changed or none. \`count\` is a whole number from 0 to 10,000,000,000. Status 200 or 202 means that the change is saved and is not lost.`,
      security: [{ token: [] }],
      parameters: [
        idParameter,
        {
          name: 'If-Match',
          in: 'header',
          schema: { type: 'string' },
          description: 'Makes the change only if the bot still has this ETag.',
        },
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: createReference('Update'), example: { bot: { count: 156 } } },
        },
      },
      responses: {
        '200': createResponse(
          'The keys as they are stored. `commit` is the commit that has them; null where only a count changed, or nothing did.',
          createReference('UpdateAnswer'),
        ),
        '202': createResponse(
          'The same, on a service that waits for its Git server, which does not have the change yet. Do not send it again.',
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
        'In how many servers the bot was at the end of each day (UTC), which is kept for ever. The last one is not over. `Accept: text/csv` returns CSV.',
      parameters: [idParameter, ...createQueryParameters(countParameters)],
      responses: {
        '200': {
          description: 'The counts, the oldest first. `at` is the day.',
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
  '/api/v2/counts': {
    get: {
      operationId: 'getLatestCounts',
      summary: 'The latest count of each bot',
      description:
        'In how many servers each bot is, and when it said so last. A bot without a count is left out. A count can arrive here some minutes after its `reportedAt`, from another machine of the service: in `since` send the `Date` of the response before less ten minutes, and once a day leave it out.',
      parameters: createQueryParameters(latestCountParameters),
      responses: createReadResponses(
        'The counts by the ids of the bots. They may be some seconds old, after many posts a minute.',
        { type: 'object', additionalProperties: latestCount },
        [400, 406, 503],
      ),
    },
  },
  '/api/v2/export.ndjson': {
    get: {
      operationId: 'exportBots',
      summary: 'All bots with their files',
      description:
        'One line of JSON a bot, in the order of their ids: what `GET /api/v2/bots/:id` returns, and in `files` the path and the whole text of each of its files, as they are served. Of a file that has become faulty that is the last valid version; it is left out where this is neither on the disk of the service nor in Git any more. Counts are at `GET /api/v2/counts`. `/api/v2/export.ndjson.gz` is the same as a gzip file.',
      responses: {
        '200': {
          description:
            'The bots. `X-Cursor` is where `GET /api/v2/changes` goes on: nothing of what changed since is missed.',
          content: { 'application/x-ndjson': { schema: { type: 'string' } } },
        },
        ...notModified,
        ...createProblems(400, 406, 503),
      },
    },
  },
  '/api/v2/bots/{id}/changes': {
    get: {
      operationId: 'getChanges',
      summary: 'What changed in a bot',
      description:
        'The commits that changed the bot, newest first, 50 at a time. `by` is a person, the API, or an account whose proposal was accepted. `permissions` are those of the invite link. In `fields`, `before` or `after` is left out where there is no value, and both for the text of a page. A feed reader follows `/feeds/bot/ID.atom`.',
      parameters: [idParameter, ...createQueryParameters(changeParameters)],
      responses: createReadResponses(
        'The changes. `Link` is the next page.',
        toArraySchema(createReference('ChangeRecord')),
        [400, 404, 406, 503],
      ),
    },
  },
  '/api/v2/changes': {
    get: {
      operationId: 'followCatalogue',
      summary: 'What was added, changed and removed in the catalogue',
      description:
        'In the order of commits, after a cursor. A bot is told of after its new record is served, once for each commit or merge: read it again. Counts are no changes. `Accept: text/event-stream` returns the same as events, and stays open: `event` is `added`, `changed` or `removed`, `data` the change, `id` the cursor after it, which `Last-Event-ID` brings back.',
      parameters: createQueryParameters(feedParameters),
      responses: {
        '200': {
          description:
            'The changes, the oldest first. `next`, which is in `Link` too, is where the next page begins, and `more` whether there is something now: if not, ask again later. A page may have fewer changes than there could be.',
          content: {
            'application/json': { schema: createReference('CatalogueChanges') },
            'text/event-stream': { schema: { type: 'string' } },
          },
        },
        ...notModified,
        ...createProblems(400, 406, 410, 503),
      },
    },
  },
  '/api/v2/authors/{id}': {
    get: {
      operationId: 'getAuthor',
      summary: 'An author, with the ids of their bots',
      description:
        'What an account says about itself in `people/ID.json` of the catalogue: without that file `name` and `website` are null. `since` is when the oldest of its bots was added. A feed reader follows `/feeds/author/ID.atom`.',
      parameters: [accountParameter],
      responses: createReadResponses('The author.', createReference('AuthorAnswer'), [400, 404, 406]),
    },
  },
  '/api/v1/bots': {
    get: {
      operationId: 'listFiles',
      summary: 'List the markdown files',
      description: 'Id, language, path, size and `sha`, which is Git’s id of the bytes.',
      responses: createReadResponses(
        'The files in the order of their paths.',
        toArraySchema(createReference('FileItem')),
        [400, 406, 503],
      ),
    },
  },
  '/api/v1/bots/{id}': {
    get: {
      operationId: 'getBotV1',
      ...readBot,
      description: 'The same as `GET /api/v2/bots/:id`.',
    },
  },
};

function toArraySchema(items: Json): Json {
  return { type: 'array', items };
}

function createResponse(description: string, schema: Json): Json {
  return { description, content: { 'application/json': { schema } } };
}

/** The responses to what can be read, one of them that its ETag is still current. */
function createReadResponses(description: string, schema: Json, problems: readonly number[]): Json {
  return { '200': createResponse(description, schema), ...notModified, ...createProblems(...problems) };
}

function createProblems(...statuses: readonly number[]): { readonly [status: string]: Json } {
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]),
  );
}

function createQueryParameters(
  table: ReadonlyMap<string, Pick<ListParameter<unknown>, 'description' | 'schema' | 'example'>>,
): Json[] {
  return [...table].map(([name, { description, schema, example }]) => {
    const rest = example === undefined ? {} : { example };
    return { name, in: 'query', description, schema: rewriteReferences(schema, ''), ...rest };
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
