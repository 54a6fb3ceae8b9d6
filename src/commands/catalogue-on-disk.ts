import { type CommandConfig, readCommandConfig } from '../app/config.ts';
import { toClockTime } from '../bot/clock.ts';
import type { ReadonlyCounts } from '../bot/counts.ts';
import type { BotId } from '../bot/id.ts';
import { Catalogue, type CatalogueOptions } from '../catalogue/catalogue.ts';
import { CommittedState, createStateRef } from '../counts/state-ref.ts';
import type { Count } from '../counts/state.ts';
import { RepositoryOpener } from '../git/repository.ts';
import { silentLog as log } from '../lib/log.ts';
import { formatCount } from '../lib/text.ts';
import { showWhile } from './output.ts';

/** The catalogue on disk and the state ref, for a command that may run next to a service. */
export interface CatalogueOnDisk {
  readonly config: CommandConfig;
  readonly catalogue: Catalogue;
  readonly repositoryOpener: RepositoryOpener;
  /** Returns the last count of a bot, with the clock's time; undefined without one, or without a repository. */
  readonly latest: (id: BotId) => Count | undefined;
  readonly counts: ReadonlyCounts;
  readonly committed: CommittedState;
}

/**
 * Reads the catalogue, calls `work` and closes the catalogue.
 * @param options of the catalogue, in addition to the usual ones
 * @throws {UserError} if it cannot be read
 */
export async function withCatalogue(
  work: (opened: CatalogueOnDisk) => Promise<void>,
  options: Pick<CatalogueOptions, 'cachedImages'> = {},
): Promise<void> {
  const config = readCommandConfig();
  const { catalogue: root, blocked: blockedFile } = config;
  const repositoryOpener = new RepositoryOpener(root);
  const hash = await repositoryOpener.hash();
  const catalogue = new Catalogue({ root, hash, log, snapshot: null, blockedFile, ...options });
  const committed = new CommittedState(createStateRef(repositoryOpener, log), log);
  const latest = (id: BotId): Count | undefined => {
    const { count } = committed.state.get(id);
    return count && { value: count.value, at: toClockTime(count.at) };
  };
  const counts: ReadonlyCounts = {
    version: 0,
    count: (id) => latest(id)?.value,
    growth: () => undefined,
    reportedAt: (id) => latest(id)?.at,
  };
  try {
    const { bots } = catalogue.store;
    const describe = (): string => `reading the catalogue: ${formatCount(bots.size, 'bot')} so far`;
    await showWhile(describe, catalogue.load());
    await committed.refresh().catch(() => {});
    await work({ config, catalogue, repositoryOpener, latest, counts, committed });
  } finally {
    await catalogue.close();
    repositoryOpener.close();
  }
}
