import { setTimeout as sleep } from 'node:timers/promises';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Log } from '../log.ts';
import type { SitePreparation } from '../site/site-routes.tsx';
import { messageOf } from '../system-error.ts';

/**
 * Prepares the site once every bot is in memory, and again while it runs, so that the first visitor does not wait for that,
 * nor one after a quiet hour. Returns what ends it.
 */
export function keepSitePrepared(
  catalogue: Pick<Catalogue, 'unpacked'>,
  prepare: SitePreparation,
  log: Log,
): () => void {
  const closing = new AbortController();
  const keep = async (): Promise<void> => {
    // Its error is logged where the search index is built.
    if (!(await catalogue.unpacked().catch(() => false))) return;
    while (!closing.signal.aborted) {
      await prepare().catch((error: unknown) => {
        log.debug(
          { err: error },
          `the front page could not be prepared: ${messageOf(error)}; a visitor waits for it`,
        );
      });
      await sleep(interval, undefined, { ref: false, signal: closing.signal }).catch(() => {});
    }
  };
  void keep();
  return () => closing.abort();
}

/** Milliseconds: half of the time for which a list is shown that is out of date. */
const interval = 30_000;
