import { createHash, hash } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Router } from '@koa/router';
import type { BotId } from '../../bot/id.ts';
import type { StatedPermissions } from '../../bot/invite.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { readBotChanges, type ReadonlyChanges, ensureComplete } from '../../catalogue/changes/bot-changes.ts';
import { type ChangesAfter, isChangeCursor, type ChangeFeed } from '../../catalogue/changes/change-feed.ts';
import { idsParameter, limitParameter, type QueryTable, refuse } from '../../catalogue/lists/parameters.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { type BotIndex, exportLines, type IndexedBot } from '../../catalogue/store/bot-index.ts';
import { readHead } from '../../git/refs.ts';
import type { RepositoryOpener } from '../../git/repository.ts';
import type { CurrentCache } from '../../lib/current-cache.ts';
import { isError } from '../../lib/errors.ts';
import { joinToPieces } from '../../lib/text.ts';
import { forEachInSlices, TimeSlice } from '../../lib/time-slice.ts';
import { ClientPlaces } from '../limits.ts';
import { ProblemError } from '../problem.ts';
import {
  chooseType,
  compressedBodies,
  createDocument,
  createJson,
  readHeaders,
  send,
} from '../representation.ts';
import { parseQuery, readQuery } from '../request.ts';
import { createDataHeaders } from './openapi.ts';
import { findBot, pickBots } from './read-routes.ts';

/**
 * Adds the changes of the catalogue, page by page and as server-sent events.
 * @param baseUrl the public address, without a slash at its end
 */
export function addFeedRoute(router: Router, feed: ChangeFeed, baseUrl: string): void {
  const streams = new ClientPlaces({
    what: 'streams of changes',
    max: maxStreams,
    maxPerClient: maxStreamsPerClient,
  });
  router.get('/api/v2/changes', async (ctx) => {
    const query = parseQuery(ctx);
    const kind = chooseType(ctx, ['application/json', 'text/event-stream']);
    const isStream = kind === 'text/event-stream';
    // Followers reconnect all at once.
    if (isStream) await new TimeSlice().next();
    // A browser that reconnects sends this header, to its first address.
    const lastId = ctx.get('Last-Event-ID');
    if (isStream && lastId !== '') query.set('since', lastId);
    const values = readQuery(query, feedParameters);
    const { tip } = feed;
    if (tip === undefined) throw createNoHistoryError();
    const { since = tip, limit = defaultLimit, ids } = values;
    const page = await feed.read(since, limit, ctx.ip, ids);
    if (isStream) {
      streams.take(ctx);
      // A proxy that buffers would keep the events.
      ctx.set({ ...readHeaders, 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
      ctx.res.shouldKeepAlive = false;
      ctx.type = kind;
      ctx.body = Readable.from(follow(feed, page, ids, ctx.res, ctx.ip));
      return;
    }
    const { changes, next, current } = page;
    const more = next !== feed.tip;
    const list = changes.map(({ json }) => json).join();
    const body = Buffer.from(`{"changes":[${list}],"next":"${next}","more":${more}}`);
    const selected = ids === undefined ? '' : `&ids=${ids.join()}`;
    const link = { Link: `<${baseUrl}${ctx.path}?since=${next}&limit=${limit}${selected}>; rel="next"` };
    const headers = { ...readHeaders, ...link, Vary: 'Accept, Accept-Encoding' };
    await send(ctx, { ...createDocument(kind, body), headers, current });
  });
}

/** Returns the problem while the last commit is not known. */
function createNoHistoryError(): ProblemError {
  const detail =
    'the history cannot be read: try again in a minute; the catalogue must be in a Git repository with a commit';
  return new ProblemError('starting', detail, { headers: { 'Retry-After': '60' } });
}

const defaultLimit = 100;
const maxStreams = 1000;
const maxStreamsPerClient = 50;

/** The parameters of GET /api/v2/changes. */
const feedParameters = {
  since: {
    parse: ([text]) =>
      isChangeCursor(text) ? text : refuse('it is not a cursor: take it from “next” of a response'),
  },
  limit: limitParameter,
  ids: idsParameter,
} satisfies QueryTable;

/**
 * Yields the events of a page of changes, then those that follow, until the service stops, the reader is gone or the cursor
 * is unknown.
 */
async function* follow(
  feed: ChangeFeed,
  first: ChangesAfter,
  ids: readonly BotId[] | undefined,
  response: ServerResponse,
  client: string,
): AsyncGenerator<string> {
  for (let page: ChangesAfter | undefined = first; page;) {
    const events = page.changes.map(
      ({ what, cursor, json }) => `event: ${what}\nid: ${cursor}\ndata: ${json}\n\n`,
    );
    // An id alone is not an event: a reader that reconnects begins there.
    const next: string = page.next;
    yield `${events.join('')}id: ${next}\n\n`;
    while (next === feed.tip) {
      await firstOf(commentMs, [feed.moves, 'move'], [response, 'close']);
      if (feed.signal.aborted || response.closed) return;
      // The write also detects readers that are gone without closing.
      if (next === feed.tip) yield ':\n\n';
    }
    // All readers resume at the same move.
    await new TimeSlice().next();
    // A reader receives the reason when it reconnects.
    page = await feed.read(next, defaultLimit, client, ids).catch(() => undefined);
  }
}

const commentMs = 20_000;

/** Waits for the first of some events, and for `ms` at most. */
async function firstOf(ms: number, ...events: readonly [EventEmitter, string][]): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      for (const [emitter, name] of events) emitter.off(name, end);
      resolve();
    };
    const timer = setTimeout(end, ms).unref();
    for (const [emitter, name] of events) emitter.once(name, end);
  });
}

/** Adds the changes of a bot, page by page. @param baseUrl the public address, without a slash at its end */
export function addChangesRoute(
  router: Router,
  bots: BotIndex,
  index: ReadonlyChanges,
  baseUrl: string,
): void {
  router.get('/api/v2/bots/:id/changes', async (ctx) => {
    const { bot, current: isSame } = findBot(ctx, bots);
    const { after } = readQuery(parseQuery(ctx), changeParameters);
    ensureComplete(index);
    const stamp = index.stamp(bot.id);
    const page = await readBotChanges(index, bot.id, after);
    const changes = page.changes.map(({ commit, time, by, isNewBot, pages, hasOtherCommands, invite }) => ({
      commit,
      at: new Date(time).toISOString(),
      by,
      newBot: isNewBot,
      otherBot: invite.isOtherBot,
      permissions: { added: listPermissionNames(invite.added), removed: listPermissionNames(invite.removed) },
      pages: pages.map(({ locale, state, fields }) => ({ locale, state, fields })),
      commands: hasOtherCommands,
    }));
    const next = page.next && { Link: `<${baseUrl}${ctx.path}?after=${page.next}>; rel="next"` };
    const current = (): boolean => isSame() && index.stamp(bot.id) === stamp;
    await send(ctx, { ...createJson(changes), headers: { ...readHeaders, ...next }, current });
  });
}

/** The parameters of GET /api/v2/bots/:id/changes. */
const changeParameters = { after: { parse: ([text]) => text } } satisfies QueryTable;

function listPermissionNames({ groups, unknownBits }: StatedPermissions): string[] {
  return [...groups.flatMap(({ permissions }) => permissions), ...unknownBits.map((bit) => `bit ${bit}`)];
}

interface ExportRouteParts {
  readonly bots: BotIndex;
  readonly catalogue: Pick<Catalogue, 'root'>;
  readonly repositoryOpener: RepositoryOpener;
  /** Has the last commit that is served. */
  readonly feed: Pick<ChangeFeed, 'tip'>;
  /** For responses that are sent for long. */
  readonly places: ClientPlaces;
  readonly cache: CurrentCache;
  readonly settings: () => Pick<CatalogueSettings, 'license'>;
}

/**
 * Adds the export of all bots with their files, one JSON document per line. Until the last commit is known, it responds
 * with a 503 like /api/v2/changes, because clients could not follow an export without a cursor.
 */
export function addExportRoute(router: Router, parts: ExportRouteParts): void {
  const { bots, catalogue, repositoryOpener, feed, places, cache, settings } = parts;
  const readExport = async (pick: () => readonly IndexedBot[] | Promise<readonly IndexedBot[]>) => {
    // Read before the bots, so that a client that follows the changes from there misses none.
    const cursor = feed.tip;
    if (cursor === undefined && (await hasCommit(repositoryOpener))) throw createNoHistoryError();
    const all = await pick();
    const digest = hash('sha1', `${cursor} ${await computeExportDigest(all)}`, 'base64url');
    return { all, cursor, digest };
  };
  router.get(['/api/v2/export.ndjson', '/api/v2/export.ndjson.gz'], async (ctx) => {
    const { ids } = readQuery(parseQuery(ctx), { ids: idsParameter });
    places.take(ctx);
    const { all, cursor, digest } = ids
      ? await readExport(() => pickBots(ctx, bots, ids))
      : await cache.get('export', async () => await readExport(() => bots.sorted()));
    const lines = {
      bytes: Number.POSITIVE_INFINITY,
      read: () => joinToPieces(exportLines(catalogue.root, all, repositoryOpener.opened)),
    };
    const isPacked = ctx.path.endsWith('.gz');
    await send(ctx, {
      type: isPacked ? 'application/gzip' : 'application/x-ndjson',
      digest,
      body: isPacked ? compressedBodies.stream(lines, 'gzip', ctx.ip) : lines,
      headers: {
        ...createDataHeaders(settings().license),
        ...(cursor !== undefined && { 'X-Cursor': cursor }),
      },
    });
  });
}

/** Whether there is a history that changes can be read from; false without a repository. */
async function hasCommit(repositoryOpener: RepositoryOpener): Promise<boolean> {
  try {
    return (await readHead(await repositoryOpener.open())) !== null;
  } catch (error) {
    return !isError(error, 'no-repository', 'no-git');
  }
}

/** Returns a digest that differs between exports of different bots. */
async function computeExportDigest(bots: readonly IndexedBot[]): Promise<string> {
  const hash = createHash('sha1');
  await forEachInSlices(bots, ({ digest, files }) => {
    hash.update(`${digest} ${files.map(({ sha }) => sha).join(' ')}\n`);
  });
  return hash.digest('base64url');
}

/** Returns the places for all exports together. */
export function createExportPlaces(): ClientPlaces {
  return new ClientPlaces({
    what: 'exports',
    max: maxExports,
    maxPerClient: maxExportsPerClient,
    minBytesPerSecond: 10_000,
  });
}

/** Each takes half a megabyte of memory and, for a million bots, some minutes. */
const maxExports = 8;

const maxExportsPerClient = 2;
