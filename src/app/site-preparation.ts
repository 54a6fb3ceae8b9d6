import type { ReadonlyCountHistory } from '../counts/count-history.ts';
import type { Catalogue } from '../catalogue/store/catalogue.ts';
import type { Log } from '../lib/log.ts';
import type { SitePreparation } from './site-routes.tsx';
import { messageOf } from '../lib/errors.ts';

export interface PreparedSite {
  /** Resolves when the site was prepared for the first time, or could not be. */
  readonly first: Promise<void>;
  /** Ends the preparation. */
  close(): void;
}

/**
 * Renders the pages that most visitors want once every bot and its counts over time are in memory, and again at an
 * interval: neither the first visitor nor one after a quiet hour waits for them.
 */
export function warmPageCache(
  catalogue: Pick<Catalogue, 'unpacked'>,
  countHistory: Pick<ReadonlyCountHistory, 'isRead'>,
  prepare: SitePreparation,
  log: Log,
): PreparedSite {
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  const round = async (): Promise<void> => {
    await prepare().catch((error: unknown) => {
      log.debug(
        { err: error },
        `the front page could not be prepared: ${messageOf(error)}; a visitor waits for it`,
      );
    });
  };
  const begin = async (): Promise<void> => {
    // Its error is logged where the search index is built.
    if (!(await catalogue.unpacked().catch(() => false))) return;
    await countHistory.isRead();
    await round();
    if (!isClosed) timer = setInterval(() => void round(), warmIntervalMs).unref();
  };
  return {
    first: begin(),
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
}

/** Half of the time for which a list is shown that is out of date. */
const warmIntervalMs = 30_000;
