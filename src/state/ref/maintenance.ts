import { readdir } from 'node:fs/promises';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../log.ts';
import { messageOf } from '../../system-error.ts';
import { fsyncFolders } from '../../disk/fsync.ts';
import type { Repository, RepositoryOpener } from '../../git/repository.ts';
import { pruneHistory } from './prune-history.ts';

export interface MaintenanceOptions {
  readonly repositoryOpener: RepositoryOpener;
  readonly log: Log;
  /** State history older than so many days is thinned to a commit a day. */
  readonly stateDays: number;
  /** Thins it, and gives how many commits went. */
  readonly prune?: typeof pruneHistory;
}

/**
 * Keeps the repository fast while it is written to: every commit of ours is a pack of its own, so they are
 * consolidated early and often, at the lowest priority, one step at a time. What neither a ref nor a reflog reaches
 * is pruned after a day, as a person may be looking for it.
 */
export class Maintenance {
  readonly #options: MaintenanceOptions;
  readonly #stop = new AbortController();
  #commits = 0;
  #prunedOn = '';
  #running: Promise<void> | undefined;

  constructor(options: MaintenanceOptions) {
    this.#options = options;
  }

  /** To be told of every commit, of content or state. Every so often it sets the work going. */
  committed(): void {
    this.#commits++;
    if (this.#commits < commitsBetween || this.#stop.signal.aborted) return;
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
  }

  /** Does what there is to do now. */
  async run(): Promise<void> {
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    await this.#running;
  }

  /** Stops what is under way; git leaves the repository whole. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { repositoryOpener, log, stateDays, prune = pruneHistory } = this.#options;
    this.#commits = 0;
    try {
      const repository = await repositoryOpener.open();
      await this.#consolidate(repository);
      const today = new Date().toISOString().slice(0, 10);
      if (this.#prunedOn === today || this.#stop.signal.aborted) return;
      this.#prunedOn = today;
      const gone = await prune(repository, Date.now() / 1000 - stateDays * 24 * 60 * 60);
      if (gone === 0) return;
      log.info({ commits: gone }, 'pruned the old history of the state to a commit a day');
      await this.#writeGraph(repository, '--split=replace');
      await this.#repack(repository, keepCruft);
    } catch (error) {
      if (!this.#stop.signal.aborted)
        log.warn({ err: error }, `maintenance will be tried again: ${messageOf(error)}`);
    }
  }

  async #consolidate(repository: Repository): Promise<void> {
    const { gitDir, commonDir } = repository;
    // A person's gc does the same work, and more.
    if (isGcRunning(commonDir) || isGcRunning(gitDir)) return;
    const packs = join(commonDir, 'objects/pack');
    if ((await countPacks(packs)) >= packsAllowed) await this.#repack(repository, merge);
    await this.#runGit(repository, ['pack-refs', '--all', '--prune']);
    await this.#writeGraph(repository, '--split');
  }

  /** A graph that is replaced forgets the commits that are to be pruned: git takes one that it cannot find for damage. */
  async #writeGraph(repository: Repository, split: '--split' | '--split=replace'): Promise<void> {
    await this.#runGit(repository, ['commit-graph', 'write', '--reachable', split, '--no-progress']);
  }

  async #repack(repository: Repository, how: readonly string[]): Promise<void> {
    const few = ['-c', 'pack.threads=1', '-c', 'pack.windowMemory=64m'];
    await this.#runGit(repository, [...few, 'repack', '-q', ...how]);
    await fsyncFolders([join(repository.commonDir, 'objects/pack')]);
  }

  async #runGit(repository: Repository, args: readonly string[]): Promise<void> {
    await repository.run(args, { background: true, signal: this.#stop.signal });
  }
}

/** Commits after which it is worth looking. */
const commitsBetween = 32;

/** So many packs slow nothing down. */
const packsAllowed = 16;

/** Merges small packs into larger ones so that each is at least twice the next; the large are left alone. */
const merge = ['--geometric=2', '-d', '-l'];

/** Makes one pack of all that is reached, and keeps the rest apart for a day. */
const keepCruft = ['--cruft', '--cruft-expiration=1.day.ago', '-d', '-l'];

/** By Git's own rule: a gc that was killed leaves its file, which says nothing after twelve hours. */
function isGcRunning(folder: string): boolean {
  const stat = statSync(join(folder, 'gc.pid'), { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs < 12 * 60 * 60 * 1000;
}

async function countPacks(folder: string): Promise<number> {
  const names = await readdir(folder);
  return names.filter((name) => name.endsWith('.pack')).length;
}
