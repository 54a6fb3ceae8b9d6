import type { Router, RouterContext } from '@koa/router';
import type { Context, Next } from 'koa';
import type { AuthorAnswer } from '../../../schemas/types.ts';
import { type BotId, compareBotIds } from '../../bot/id.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { type Author, type AuthorIndex, findKnownAuthor } from '../../catalogue/lists/authors.ts';
import type { List, Lists } from '../../catalogue/lists/lists.ts';
import {
  formatCursor,
  limitParameter,
  listParameters,
  type ListQuery,
  type ListSettings,
  type QueryTable,
  refuse,
  relevance,
} from '../../catalogue/lists/parameters.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { type BotIndex, findKnownBot, type IndexedBot } from '../../catalogue/store/bot-index.ts';
import type { OpenImages } from '../../images/images.ts';
import { findFirstPlace } from '../../lib/binary-search.ts';
import type { Current } from '../../lib/current-cache.ts';
import { forEachInSlices } from '../../lib/time-slice.ts';
import { ProblemError } from '../problem.ts';
import { createDocument, createJson, isNotModified, readHeaders, send } from '../representation.ts';
import { parseQuery, readParameters, readQuery } from '../request.ts';

interface ReadRoutesParts {
  readonly bots: BotIndex;
  readonly lists: Lists;
  readonly authors: AuthorIndex;
  readonly collections: Pick<Catalogue['collections'], 'all'>;
  /** The public address, without a slash at its end. */
  readonly baseUrl: string;
  /** Returns the settings in force. */
  readonly settings: () => CatalogueSettings;
}

/**
 * Adds the reads of both versions. v1 lists the markdown files and returns one bot. v2 lists bots, authors, categories and
 * collections, and returns one bot, its commands or one author.
 */
export function addReadRoutes(router: Router, parts: ReadRoutesParts): void {
  const { bots, lists, authors, collections, baseUrl, settings } = parts;
  router.get('/api/v1/bots', refuseQuery, async (ctx) => {
    await sendList(ctx, await lists.files(ctx.ip), baseUrl);
  });
  router.get('/api/v2/bots', async (ctx) => {
    const inForce = settings();
    const query = parseListQuery(parseQuery(ctx), inForce);
    const list = await lists.json(query, ctx.ip);
    const current = (): boolean => list.current() && settings() === inForce;
    if (query.ids) pickBots(ctx, bots, query.ids);
    await sendList(ctx, { ...list, current }, baseUrl);
  });
  router.get(['/api/v1/bots/:id', '/api/v2/bots/:id'], refuseQuery, async (ctx) => {
    const { bot, current } = findBot(ctx, bots);
    await send(ctx, { type: 'application/json', digest: bot.digest, body: bot.record, current });
  });
  router.get('/api/v2/bots/:id/commands', refuseQuery, async (ctx) => {
    const { bot, current } = findBot(ctx, bots);
    if (bot.commands === null)
      throw new ProblemError(
        'not-found',
        `no commands of ${bot.id} are known: its owner can put them here, with the token of the bot`,
      );
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
    await send(ctx, createJson(answer));
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
    await send(ctx, { ...createJson(toAuthorAnswer(author)), current });
  });
}

/** Returns the bot that a path names, and whether it is unchanged. @throws {BotshelfError} malformed-id, unknown-bot */
export function findBot(ctx: RouterContext, bots: BotIndex): { readonly bot: IndexedBot } & Current {
  const bot = findKnownBot(bots, ctx.params['id'] ?? '');
  return { bot, current: () => bots.get(bot.id) === bot };
}

/** Serves the cached images. A name has the digest of the full copy, so caches may keep an image for ever. */
export function addImageRoute(router: Router, images: Pick<OpenImages['cache'], 'read'>): void {
  router.get('/appdata/:name.webp', async (ctx) => {
    const name = ctx.params['name'] ?? '';
    const bytes = await images.read(name);
    if (bytes === undefined)
      throw new ProblemError('not-found', 'there is no such image: use a path from cachedImages of a bot');
    ctx.set({
      'Cache-Control': 'public, max-age=31536000, immutable',
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'Access-Control-Allow-Origin': '*',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      ETag: `"${name}"`,
    });
    if (isNotModified(ctx)) {
      ctx.status = 304;
      return;
    }
    ctx.type = 'image/webp';
    ctx.body = bytes;
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
  const { after, limit = defaultLimit } = readQuery(parseQuery(ctx), pageParameters);
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
const pageParameters = {
  limit: limitParameter,
  after: {
    parse: ([text]) =>
      /^[a-z0-9-]{1,60}$/.test(text) ? text : refuse('it is not an id: take it from the Link header'),
  },
} satisfies QueryTable;

/**
 * Reads the query of GET /api/v2/bots.
 * @throws {ProblemError} bad-query, with every unknown parameter and every bad value at once
 */
export function parseListQuery(params: URLSearchParams, settings: ListSettings): ListQuery {
  const { values, errors } = readParameters(params, listParameters, settings);
  const { after, sort }: ListQuery = values;
  if (typeof after === 'object' && (typeof after.value === 'string') !== (sort?.key === 'name'))
    errors.push({
      pointer: '?after',
      detail: 'it is from a list in another order: take it from the Link header of the page before',
    });
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

/** @param next the start of the next page; undefined without one */
function createPageHeaders(ctx: Context, baseUrl: string, total: number, next: string | undefined) {
  const headers: Record<string, string> = { ...readHeaders, 'X-Total-Count': String(total) };
  if (next === undefined) return headers;
  const params = parseQuery(ctx);
  params.set('after', next);
  return { ...headers, Link: `<${baseUrl}${ctx.path}?${params.toString()}>; rel="next"` };
}

/** Refuses every parameter, for an address without parameters. @throws {ProblemError} bad-query */
export async function refuseQuery(ctx: RouterContext, next: Next): Promise<void> {
  const [name] = parseQuery(ctx).keys();
  // A guess such as /api/v2/bots/search?q=music gets the problem of its path.
  if (name !== undefined && /^\d*$/.test(ctx.params['id'] ?? '')) {
    const detail = 'this address takes no parameters: leave it out';
    throw ProblemError.ofErrors('bad-query', [{ pointer: `?${name.slice(0, 50)}`, detail }]);
  }
  await next();
}

/** Returns the listed bots among the ids, by id, and names the others in a header of the response. */
export function pickBots(ctx: Context, bots: Pick<BotIndex, 'get'>, ids: readonly BotId[]): IndexedBot[] {
  const unknown = ids.filter((id) => bots.get(id) === undefined);
  if (unknown.length > 0) ctx.set('X-Unknown-Ids', unknown.join());
  return ids.flatMap((id) => bots.get(id) ?? []).toSorted((a, b) => compareBotIds(a.id, b.id));
}
