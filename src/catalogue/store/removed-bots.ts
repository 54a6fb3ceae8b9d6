import { WritesUnavailableError } from '../../bot/errors.ts';
import type { BotId } from '../../bot/id.ts';
import { forEachInSlices } from '../../lib/in-slices.ts';
import { type RemovedFile, listRemovedFiles } from '../../git/removed-files.ts';
import type { RepositoryOpener } from '../../git/repository.ts';
import type { Log } from '../../lib/log.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Catalogue } from './catalogue.ts';
import { botsFolder, parsePagePath } from '../page/layout.ts';

/**
 * The bots that were removed from the catalogue: those whose last file goes while it is open, and those that Git's history
 * says, which is searched once, in the background. Without a repository, and in a shallow clone, the others are not known.
 */
export class RemovedBots {
  readonly #catalogue: Catalogue;
  readonly #repositoryOpener: RepositoryOpener;
  readonly #log: Log;
  /** When each was removed, in milliseconds since the epoch. */
  readonly #times = new Map<BotId, number>();
  readonly #stop = new AbortController();
  #search: Promise<void> | undefined;

  constructor(catalogue: Catalogue, repositoryOpener: RepositoryOpener, log: Log) {
    this.#catalogue = catalogue;
    this.#repositoryOpener = repositoryOpener;
    this.#log = log;
    const { store } = catalogue;
    store.on('change', (id) => {
      if (store.bots.get(id)) this.#times.delete(id);
      else this.#add(id, Date.now());
    });
  }

  /**
   * Returns when a bot was removed, in milliseconds since the epoch: the time of the commit, or when it was noticed.
   * Undefined for a bot of which that is not known, and for one that has a file: while that is faulty, it is not served.
   */
  removedAt(id: BotId): number | undefined {
    const time = this.#times.get(id);
    return time === undefined || this.#catalogue.store.hasFaultyFile(id) ? undefined : time;
  }

  /** Searches the history, once every bot is in memory. A failure is logged. */
  async start(): Promise<void> {
    if (!(await this.#catalogue.unpacked()) || this.#stop.signal.aborted) return;
    this.#search = this.#searchHistory();
    await this.#search;
  }

  /** Ends the search. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#search;
  }

  async #searchHistory(): Promise<void> {
    const started = performance.now();
    try {
      const repository = await this.#repositoryOpener.open();
      const { prefix } = repository;
      const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(searchTimeoutMs)]);
      for await (const files of listRemovedFiles(repository, prefix + botsFolder, signal)) {
        await forEachInSlices(files, (file) => this.#addPast(file, prefix), 'service', signal);
        if (this.#times.size >= maxBots) break;
      }
      const ms = Math.round(performance.now() - started);
      this.#log.debug({ ms, bots: this.#times.size }, 'Git’s history was searched for removed bots');
    } catch (error) {
      // A missing repository is reported by all that writes.
      if (this.#stop.signal.aborted || error instanceof WritesUnavailableError) return;
      this.#log.warn(
        { err: error },
        `could not search Git’s history for removed bots: ${messageOf(error)}; the pages of those not found respond 404 instead of 410`,
      );
    }
  }

  /** Adds the bot of a file, unless a later removal is known or it is back. */
  #addPast({ path, time }: RemovedFile, prefix: string): void {
    const id = parsePagePath(path, prefix)?.id;
    if (id === undefined || this.#times.has(id) || this.#catalogue.store.bots.get(id)) return;
    this.#add(id, Math.min(time * 1000, Date.now()));
  }

  #add(id: BotId, time: number): void {
    if (this.#times.size < maxBots || this.#times.has(id)) this.#times.set(id, time);
  }
}

/** About 10 MB. */
const maxBots = 100_000;

/** Milliseconds after which the search ends with what it has found. */
const searchTimeoutMs = 5 * 60 * 1000;
