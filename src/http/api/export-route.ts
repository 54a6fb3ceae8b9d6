import type { Router } from '@koa/router';
import type { BotIndex, IndexedBot } from '../../catalogue/store/bot-index.ts';
import { computeExportDigest, exportLines } from '../../catalogue/store/export.ts';
import type { RepositoryOpener } from '../../git/repository.ts';
import { CurrentCache } from '../../lib/current-cache.ts';
import { toAddressGroup } from '../../lib/network-address.ts';
import { joinToPieces } from '../../lib/pieces.ts';
import { ProblemError } from '../problem.ts';
import { compressedBodies, readHeaders, send } from '../representation.ts';
import { refuseQuery } from './read-routes.ts';

/**
 * Adds all bots with their files, a JSON document a line.
 * @param root the folder that holds `bots/`
 * @param tip the last commit that is served
 */
export function addExportRoute(
  router: Router,
  bots: BotIndex,
  root: string,
  repositoryOpener: RepositoryOpener,
  tip: { readonly current: string | undefined },
): void {
  const kept = new CurrentCache<Export>(1_000_000, () => 0);
  const readExport = async (): Promise<Export> => {
    // Before the bots: who follows the changes from there on misses none.
    const cursor = tip.current;
    const all = await bots.sorted();
    return { all, cursor, digest: `${cursor ?? ''}-${await computeExportDigest(all)}` };
  };
  /** The clients that an export is being sent to. */
  const clients: string[] = [];
  router.get(['/api/v2/export.ndjson', '/api/v2/export.ndjson.gz'], refuseQuery, async (ctx) => {
    const client = toAddressGroup(ctx.ip);
    if (clients.length >= maxExports) throw createBusyError(`${maxExports} exports`);
    if (clients.filter((one) => one === client).length >= maxExportsPerClient)
      throw createBusyError(`${maxExportsPerClient} exports to you`);
    clients.push(client);
    ctx.res.once('close', () => clients.splice(clients.indexOf(client), 1));
    const inputs = [() => tip.current, () => bots.version];
    const { all, cursor, digest } = await kept.get('', inputs, readExport);
    const lines = {
      bytes: Number.POSITIVE_INFINITY,
      read: () => joinToPieces(exportLines(all, root, repositoryOpener.opened)),
    };
    const isPacked = ctx.path.endsWith('.gz');
    await send(ctx, {
      type: isPacked ? 'application/gzip' : 'application/x-ndjson',
      digest,
      body: isPacked ? await compressedBodies.get(digest, 'gzip', lines) : lines,
      headers: { ...readHeaders, ...(cursor !== undefined && { 'X-Cursor': cursor }) },
      current: () => false,
    });
  });
}

function createBusyError(what: string): ProblemError {
  const detail = `${what} are being sent, which is the most: try again in a minute`;
  return new ProblemError('busy', detail, { headers: { 'Retry-After': '60' } });
}

/** All bots at one moment. */
interface Export {
  readonly all: readonly IndexedBot[];
  readonly cursor: string | undefined;
  readonly digest: string;
}

/** Each takes up half a megabyte, and for a million bots some minutes. */
const maxExports = 8;

/** One that reads slowly is not to keep all others from it. */
const maxExportsPerClient = 4;
