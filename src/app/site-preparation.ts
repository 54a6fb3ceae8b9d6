import type { ReadonlyCountHistory } from '../counts/count-history.ts';
import type { Catalogue } from '../catalogue/store/catalogue.ts';
import type { Log } from '../lib/log.ts';
import type { SitePreparation } from './site-routes.tsx';
import { messageOf } from '../lib/errors.ts';

/** Makes what most visitors want once every bot and its counts over time are in memory: the first visitor waits for none of it. */
export async function warmPageCache(
  catalogue: Pick<Catalogue, 'unpacked'>,
  countHistory: Pick<ReadonlyCountHistory, 'isRead'>,
  prepare: SitePreparation,
  log: Log,
): Promise<void> {
  // Its error is logged where the search index is built.
  if (!(await catalogue.unpacked().catch(() => false))) return;
  await countHistory.isRead('recent');
  await prepare().catch((error: unknown) => {
    log.debug(
      { err: error },
      `the front page could not be prepared: ${messageOf(error)}; a visitor waits for it`,
    );
  });
}
