import type { Router } from '@koa/router';
import type { Context, Next } from 'koa';
import type { AuthorAnswer } from '../../../schemas/types.ts';
import { compareBotIds } from '../../bot/id.ts';
import { readSchema } from '../../bot/schemas.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { Author, AuthorIndex } from '../../catalogue/lists/authors.ts';
import type { List, Lists } from '../../catalogue/lists/lists.ts';
import {
  formatCursor,
  limitParameter,
  listParameters,
  type ListParameter,
  type ListQuery,
  type ListSettings,
  refuse,
  relevance,
} from '../../catalogue/lists/parameters.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { type BotIndex, findFirstPlace } from '../../catalogue/store/bot-index.ts';
import type { Current } from '../../lib/current-cache.ts';
import { forEachInSlices } from '../../lib/time-slice.ts';
import { ProblemError } from '../problem.ts';
import { createDocument, readHeaders, send } from '../representation.ts';
import { parseQuery, readParameters, findKnownBot, findKnownAuthor } from '../request.ts';
import {
  createQueryParameters,
  createReference,
  describeRead,
  type JsonObject,
  type Paths,
  toJson,
} from './operation.ts';

/**
 * Adds the reads of both versions: v1 lists the markdown files, v2 lists bots, authors, categories and collections and
 * returns one author, and both return one bot.
 * @param baseUrl the public address, without a slash at its end
 * @param settings returns those in force
 */
export function addReadRoutes(
  router: Router,
  bots: BotIndex,
  lists: Lists,
  authors: AuthorIndex,
  collections: Pick<Catalogue['collections'], 'all'>,
  baseUrl: string,
  settings: () => CatalogueSettings,
): void {
  router.get('/api/v1/bots', refuseQuery, async (ctx) => {
    await sendList(ctx, await lists.files(ctx.ip), baseUrl);
  });
  router.get('/api/v2/bots', async (ctx) => {
    const inForce = settings();
    const list = await lists.json(parseListQuery(parseQuery(ctx), inForce), ctx.ip);
    const current = (): boolean => list.current() && settings() === inForce;
    await sendList(ctx, { ...list, current }, baseUrl);
  });
  router.get(['/api/v1/bots/:id', '/api/v2/bots/:id'], refuseQuery, async (ctx) => {
    const bot = findKnownBot(bots, ctx.params['id'] ?? '');
    const current = (): boolean => bots.get(bot.id) === bot;
    await send(ctx, { type: 'application/json', digest: bot.digest, body: bot.record, current });
  });
  router.get('/api/v2/bots/:id/commands', refuseQuery, async (ctx) => {
    const bot = findKnownBot(bots, ctx.params['id'] ?? '');
    if (bot.commands === null)
      throw new ProblemError(
        'not-found',
        `no commands of ${bot.id} are known: its owner can put them here, with the token of the bot`,
      );
    const current = (): boolean => bots.get(bot.id) === bot;
    await send(ctx, { ...createDocument('application/json', bot.commands), current });
  });
  router.get('/api/v2/categories', refuseQuery, async (ctx) => {
    const { categories, categoryNames } = settings();
    const { categories: sizes } = await lists.sizes(true);
    const answer = categories.map((id) => ({
      id,
      names: categoryNames.get(id) ?? {},
      bots: sizes.get(id) ?? 0,
    }));
    await send(ctx, createDocument('application/json', Buffer.from(JSON.stringify(answer))));
  });
  router.get('/api/v2/collections', async (ctx) => {
    const { all } = collections;
    await sendPage(ctx, baseUrl, [...all.keys()].toSorted(), compareNames, (id) => {
      const { contents = new Map(), bots: listed = [] } = all.get(id) ?? {};
      const texts = Array.from(contents, ([locale, { title, description }]) => [
        locale,
        { title, description },
      ]);
      return { id, contents: Object.fromEntries(texts), bots: listed.filter((bot) => bots.get(bot)) };
    });
  });
  router.get('/api/v2/authors', async (ctx) => {
    const { ids, find } = await authors.all();
    await sendPage(ctx, baseUrl, ids, compareBotIds, (id) => toAuthorAnswer(find(id)));
  });
  router.get('/api/v2/authors/:id', refuseQuery, async (ctx) => {
    const { current, ...author } = await findKnownAuthor(authors, ctx.params['id'] ?? '');
    const body = Buffer.from(JSON.stringify(toAuthorAnswer(author)));
    await send(ctx, { ...createDocument('application/json', body), current });
  });
}

function compareNames(a: string, b: string): number {
  return a > b ? 1 : -1;
}

function toAuthorAnswer({ id, profile, bots, since }: Author): AuthorAnswer {
  const { name = null, website = null, description = {} } = profile ?? {};
  return { id, name, website, description, bots: bots.map((bot) => bot.id), since };
}

/**
 * Sends a page of a list as JSON.
 * @param ids of all, in the order of `compare`
 */
async function sendPage(
  ctx: Context,
  baseUrl: string,
  ids: readonly string[],
  compare: (id: string, after: string) => number,
  toItem: (id: string) => object,
): Promise<void> {
  const { values, errors } = readParameters(parseQuery(ctx), pageParameters, null);
  if (errors.length > 0) throw ProblemError.ofErrors('bad-query', errors);
  const { after, limit = defaultLimit } = values as { after?: string; limit?: number };
  const start = after === undefined ? 0 : findFirstPlace(ids, (id) => compare(id, after) <= 0);
  const page = ids.slice(start, start + limit);
  const items: string[] = [];
  await forEachInSlices(page, (id) => void items.push(JSON.stringify(toItem(id))));
  const next = start + limit < ids.length ? page.at(-1) : undefined;
  const headers = createPageHeaders(ctx, baseUrl, ids.length, next);
  await send(ctx, { ...createDocument('application/json', Buffer.from(`[${items.join()}]`)), headers });
}

const defaultLimit = 100;

/** The parameters of lists in the order of their ids. */
const pageParameters: ReadonlyMap<string, ListParameter<unknown, null>> = new Map(
  Object.entries({
    limit: { ...limitParameter, description: 'How many to return, 1 to 1,000. Without it, 100.' },
    after: {
      parse: ([text]) =>
        /^[a-z0-9-]{1,60}$/.test(text) ? text : refuse('it is not an id: take it from the Link header'),
      description: 'The id that the page begins after. Without it, the first page.',
      schema: { type: 'string' },
    },
  } satisfies Record<string, ListParameter<unknown, null>>),
);

/**
 * Reads the query of GET /api/v2/bots.
 * @throws {ProblemError} bad-query, with every unknown parameter and every bad value at once
 */
export function parseListQuery(params: URLSearchParams, settings: ListSettings): ListQuery {
  const { values, errors } = readParameters(params, listParameters, settings);
  const { after, sort }: ListQuery = values;
  if (typeof after === 'object' && (typeof after.value === 'string') !== (sort?.key === 'name')) {
    errors.push({
      pointer: '?after',
      detail: 'it is from a list in another order: take it from the Link header of the page before',
    });
  }
  if (params.get('sort') === relevance && !params.has('q'))
    errors.push({ pointer: '?sort', detail: 'relevance is the order of a search: send q, too' });
  if (errors.length > 0) throw ProblemError.ofErrors('bad-query', errors);
  return values;
}

async function sendList(ctx: Context, list: List & Current, baseUrl: string): Promise<void> {
  const { digest, body, total, next, corrected, current } = list;
  const headers = createPageHeaders(ctx, baseUrl, total, next && formatCursor(next));
  if (corrected !== undefined) headers['X-Searched-For'] = encodeURIComponent(corrected);
  await send(ctx, { type: 'application/json', digest, body, headers, current });
}

/** @param next where the next page begins; undefined for none */
function createPageHeaders(
  ctx: Context,
  baseUrl: string,
  total: number,
  next: string | undefined,
): Record<string, string> {
  const headers: Record<string, string> = { ...readHeaders, 'X-Total-Count': String(total) };
  if (next === undefined) return headers;
  const params = parseQuery(ctx);
  params.set('after', next);
  return { ...headers, Link: `<${baseUrl}${ctx.path}?${params.toString()}>; rel="next"` };
}

/** Refuses every parameter, for an address that takes none. @throws {ProblemError} bad-query */
export async function refuseQuery(ctx: Context, next: Next): Promise<void> {
  const [name] = parseQuery(ctx).keys();
  if (name !== undefined) {
    const detail = 'this address takes no parameters: leave it out';
    throw ProblemError.ofErrors('bad-query', [{ pointer: `?${name.slice(0, 50)}`, detail }]);
  }
  await next();
}

const oneBot = {
  parameters: [createReference('parameters', 'bot')],
  returns: 'The bot.',
  content: toJson({ $ref: 'record.schema.json' }),
  problems: [404],
};

export const readPaths: Paths = {
  '/api/v2/bots': describeRead({
    operationId: 'listBots',
    summary: 'List bots',
    description:
      'Bots without their pages, 18+ ones included unless `nsfw=false`. Unknown parameters are refused.',
    parameters: createQueryParameters(listParameters),
    returns:
      'The bots. `X-Total-Count` is how many there are on all pages, `Link` the next page. With `fields` each has those keys only. If no bot matches `q`, the nearest spelling is searched for instead, which `X-Searched-For` has, percent-encoded.',
    content: toJson({
      type: 'array',
      items: {
        anyOf: [
          { $ref: 'list-element.schema.json' },
          {
            $ref: 'list-element.schema.json',
            title: 'BotListPart',
            description: 'The keys of a bot that `fields` names.',
            required: undefined,
            properties: {
              ...(readSchema('list-element')['properties'] as JsonObject),
              count: { anyOf: [{ $ref: 'definitions.schema.json#/$defs/count' }, { type: 'null' }] },
            },
          },
        ],
      },
    }),
    headers: ['Link', 'X-Total-Count', 'X-Searched-For'],
  }),
  '/api/v2/bots/{id}': describeRead({
    operationId: 'getBot',
    summary: 'Read a bot',
    description:
      'The bot with its pages. `contents` has a key for each language, the bot’s own first. `cachedImages` are paths of copies of `images` on this service; null without a copy.',
    ...oneBot,
  }),
  '/api/v2/bots/{id}/commands': describeRead({
    operationId: 'getCommands',
    summary: 'Read the commands of a bot',
    description: 'By type, then by name. Keys are as in Discord’s API, without empty ones and defaults.',
    parameters: [createReference('parameters', 'bot')],
    returns: 'The commands.',
    content: toJson({ $ref: 'commands.schema.json#/properties/commands' }),
    problems: [404],
  }),
};

/** What comes last in the document. */
export const otherReadPaths: Paths = {
  '/api/v2/categories': describeRead({
    operationId: 'listCategories',
    summary: 'List the categories',
    description:
      'The categories in the order of the settings, each with its number of bots, 18+ ones included. `names` are by language; empty if the settings have none.',
    returns: 'The categories.',
    content: toJson({ type: 'array', items: { $ref: 'definitions.schema.json#/$defs/categoryItem' } }),
  }),
  '/api/v2/collections': describeRead({
    operationId: 'listCollections',
    summary: 'List the collections',
    description:
      'Bots that a person recommends together, in the order of the ids. `contents` has a key for each language, the main one first.',
    parameters: createQueryParameters(pageParameters),
    returns: 'The collections. `X-Total-Count` is how many there are on all pages, `Link` the next page.',
    content: toJson({ type: 'array', items: { $ref: 'definitions.schema.json#/$defs/collectionItem' } }),
    headers: ['Link', 'X-Total-Count'],
  }),
  '/api/v2/authors': describeRead({
    operationId: 'listAuthors',
    summary: 'List the authors',
    description:
      'The authors of all bots, in the order of their ids, each as `GET /api/v2/authors/:id` returns it.',
    parameters: createQueryParameters(pageParameters),
    returns: 'The authors. `X-Total-Count` is how many there are on all pages, `Link` the next page.',
    content: toJson({ type: 'array', items: { $ref: 'author.schema.json' } }),
    headers: ['Link', 'X-Total-Count'],
  }),
  '/api/v2/authors/{id}': describeRead({
    operationId: 'getAuthor',
    summary: 'Read an author',
    description:
      'The profile of an account (`people/ID.json` of the catalogue; without it `name` and `website` are null) and the ids of its bots. `since` is when the oldest one was added. The feed is `/feeds/author/ID.atom`.',
    parameters: [createReference('parameters', 'account')],
    returns: 'The author.',
    content: toJson({ $ref: 'author.schema.json' }),
    problems: [404],
  }),
  '/api/v1/bots': describeRead({
    operationId: 'listFiles',
    summary: 'List the markdown files in v1',
    description: 'Id, language, path, size and `sha`, which is Git’s id of the bytes.',
    returns: 'The files in the order of their paths.',
    content: toJson({ type: 'array', items: { $ref: 'file-item.schema.json' } }),
    headers: ['X-Total-Count'],
  }),
  '/api/v1/bots/{id}': describeRead({
    operationId: 'getBotV1',
    summary: 'Read a bot in v1',
    description: 'The same as `GET /api/v2/bots/:id`.',
    ...oneBot,
  }),
};
