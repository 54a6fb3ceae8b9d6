import { createHash, hash } from 'node:crypto';
import type { Router } from '@koa/router';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { ChangeFeed } from '../../catalogue/changes/change-feed.ts';
import { idsParameter } from '../../catalogue/lists/parameters.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { type BotIndex, exportLines, type IndexedBot } from '../../catalogue/store/bot-index.ts';
import { readHead } from '../../git/refs.ts';
import type { RepositoryOpener } from '../../git/repository.ts';
import type { CurrentCache } from '../../lib/current-cache.ts';
import { isError } from '../../lib/errors.ts';
import { joinToPieces } from '../../lib/text.ts';
import { forEachInSlices } from '../../lib/time-slice.ts';
import { ClientPlaces } from '../limits.ts';
import { compressedBodies, send } from '../representation.ts';
import { parseQuery, readQuery } from '../request.ts';
import { createNoHistoryError } from './changes-routes.ts';
import { createDataHeaders } from './openapi.ts';
import { pickBots } from './read-routes.ts';

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
  const readExport = async (
    pick: () => readonly IndexedBot[] | Promise<readonly IndexedBot[]>,
  ): Promise<Export> => {
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

/** All bots at one moment. */
interface Export {
  readonly all: readonly IndexedBot[];
  /** Undefined without a history. */
  readonly cursor: string | undefined;
  readonly digest: string;
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
