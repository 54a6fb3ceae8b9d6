import type { ReadonlyCountHistory } from '../counts/count-history.ts';
import type { Catalogue } from '../catalogue/store/catalogue.ts';
import type { Log } from '../lib/log.ts';
import type { SitePreparation } from './site-routes.tsx';
import { messageOf } from '../lib/errors.ts';

/**
 * Makes what most visitors want once every bot and its counts over time are in memory, and again at an interval until
 * `signal` aborts: neither the first visitor nor one after a quiet hour waits for it. Resolves after the first time.
 */
export async function warmPageCache(
  catalogue: Pick<Catalogue, 'unpacked'>,
  countHistory: Pick<ReadonlyCountHistory, 'isRead'>,
  prepare: SitePreparation,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const round = async (): Promise<void> =>
    await prepare().catch((error: unknown) => {
      log.debug(
        { err: error },
        `the front page could not be prepared: ${messageOf(error)}; a visitor waits for it`,
      );
    });
  // Its error is logged where the search index is built.
  if (!(await catalogue.unpacked().catch(() => false))) return;
  await countHistory.isRead();
  await round();
  if (signal.aborted) return;
  const timer = setInterval(() => void round(), warmIntervalMs).unref();
  signal.addEventListener('abort', () => clearInterval(timer));
}

/** Half of the time for which a list is shown that is out of date. */
const warmIntervalMs = 30_000;
