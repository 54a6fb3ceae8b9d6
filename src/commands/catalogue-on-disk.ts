import { type Config, readConfig } from '../app/config.ts';
import { toCatalogueError } from '../app/start-errors.ts';
import type { ReadonlyCounts } from '../bot/counts.ts';
import type { BotId } from '../bot/id.ts';
import { Catalogue } from '../catalogue/store/catalogue.ts';
import { type Count, toClockTime } from '../counts/bot-state.ts';
import { CommittedState } from '../counts/committed-state.ts';
import { createStateRef } from '../counts/state-ref.ts';
import { RepositoryOpener } from '../git/repository.ts';
import { silentLog as log } from '../lib/log.ts';

/** The catalogue on disk and the state ref, for a command that may run beside a service. */
export interface CatalogueOnDisk {
  readonly config: Config;
  readonly catalogue: Catalogue;
  readonly repositoryOpener: RepositoryOpener;
  /** Returns the last count of a bot, with the time of a clock. Without a repository there are none. */
  readonly latest: (id: BotId) => Count | undefined;
  readonly counts: ReadonlyCounts;
  readonly hasToken: (id: BotId) => boolean;
}

/** Reads the catalogue, calls `work` and releases what reading needed. @throws {UserError} where it cannot be read */
export async function withCatalogue(work: (opened: CatalogueOnDisk) => Promise<void>): Promise<void> {
  const config = readConfig();
  const { catalogue: root, blocked: blockedFile } = config;
  const repositoryOpener = new RepositoryOpener(root);
  const hash = await repositoryOpener.hash();
  const catalogue = new Catalogue({ root, hash, log, snapshot: null, blockedFile });
  const committed = new CommittedState(createStateRef(repositoryOpener, log), log);
  const latest = (id: BotId): Count | undefined => {
    const count = committed.state.count(id);
    return count && { value: count.value, at: toClockTime(count.at) };
  };
  const counts: ReadonlyCounts = {
    version: 0,
    count: (id) => latest(id)?.value,
    growth: () => undefined,
    reportedAt: (id) => latest(id)?.at,
  };
  try {
    await catalogue.load().catch((error: unknown) => {
      throw toCatalogueError(error, config);
    });
    await committed.refresh().catch(() => {});
    const hasToken = (id: BotId): boolean => committed.state.hasToken(id);
    await work({ config, catalogue, repositoryOpener, latest, counts, hasToken });
  } finally {
    await catalogue.close();
    repositoryOpener.close();
  }
}
