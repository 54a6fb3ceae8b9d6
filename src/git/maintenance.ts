import { statSync } from 'node:fs';
import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../lib/errors.ts';
import { fsyncFolders } from '../lib/files.ts';
import type { Log } from '../lib/log.ts';
import { formatCount } from '../lib/text.ts';
import { toPackFolder } from './commit-files.ts';
import { removePartialPacks } from './leftovers.ts';
import { packRefs } from './refs.ts';
import type { Repository, RepositoryOpener } from './repository.ts';

export interface MaintenanceOptions {
  readonly repositoryOpener: RepositoryOpener;
  readonly log: Log;
  /** Removes unneeded commits, once a day. Returns their number; undefined if that cannot be done now. */
  readonly prune: (repository: Repository) => Promise<number | undefined>;
}

/**
 * Keeps Git fast while the service commits and fetches. Each commit and each fetch adds a pack, so packs are
 * consolidated, refs packed and the commit-graph written every few commits, at the lowest priority, one step at a time.
 * Objects that no ref and no reflog reaches are kept for a day, because a person may still want them.
 */
export class Maintenance {
  readonly #options: MaintenanceOptions;
  readonly #stop = new AbortController();
  #packs = 0;
  #prunedOn = '';
  #running: Promise<void> | undefined;

  constructor(options: MaintenanceOptions) {
    this.#options = options;
  }

  /** Counts a commit or a fetch, and runs in the background after every 32. */
  packAdded(): void {
    this.#packs++;
    if (this.#packs >= packsBetween && !this.#stop.signal.aborted) void this.run();
  }

  /** Runs now, or waits for the run under way. A failure is logged; a later run retries. */
  async run(): Promise<void> {
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    await this.#running;
  }

  /** Stops the run under way. Git leaves the repository intact. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { repositoryOpener, log, prune } = this.#options;
    this.#packs = 0;
    try {
      const repository = await repositoryOpener.open();
      await this.#consolidate(repository);
      const today = new Date().toISOString().slice(0, 10);
      if (this.#prunedOn === today || this.#stop.signal.aborted) return;
      const pruned = await prune(repository);
      if (pruned === undefined) return;
      this.#prunedOn = today;
      if (pruned > 0)
        log.info({ commits: pruned }, `pruned ${formatCount(pruned, 'old commit')} of the state`);
      // Also what another machine has pruned.
      await this.#writeGraph(repository, '--split=replace');
      await this.#indexPacks(repository);
      await this.#repack(repository, keepUnreachable);
    } catch (error) {
      if (!this.#stop.signal.aborted)
        log.warn({ err: error }, `Git maintenance failed: ${messageOf(error)}; a later run retries`);
    }
  }

  async #consolidate(repository: Repository): Promise<void> {
    const { gitDir, commonDir } = repository;
    // A person's gc does the same work and more.
    if (isGcRunning(commonDir) || isGcRunning(gitDir)) return;
    await removePartialPacks(repository);
    const packs = (await readdir(toPackFolder(repository))).filter((name) => name.endsWith('.pack'));
    if (packs.length >= packsAllowed) await this.#repack(repository, mergeSmallPacks);
    if (this.#stop.signal.aborted) return;
    await packRefs(repository);
    await this.#writeGraph(repository, '--split');
  }

  /**
   * Writes the commit-graph. `--split=replace` drops pruned commits from it: git reports one it cannot find as damage.
   */
  async #writeGraph(repository: Repository, split: '--split' | '--split=replace'): Promise<void> {
    await this.#runGit(repository, ['commit-graph', 'write', '--reachable', split, '--no-progress']);
  }

  /**
   * Indexes the packs without an index, which a git leaves that is killed between the two files. `repack --cruft` fails
   * at such a pack before Git 2.42. The index is renamed when it is whole: a git may just be writing the same one.
   */
  async #indexPacks(repository: Repository): Promise<void> {
    const folder = toPackFolder(repository);
    const names = new Set(await readdir(folder));
    const written = join(folder, 'tmp_botshelf.idx');
    for (const pack of names) {
      const index = pack.replace(/\.pack$/, '.idx');
      if (names.has(index)) continue;
      await this.#runGit(repository, [...indexPack, '-o', written, join(folder, pack)]);
      await rename(written, join(folder, index));
    }
  }

  async #repack(repository: Repository, how: readonly string[]): Promise<void> {
    const few = ['-c', 'pack.threads=1', '-c', 'pack.windowMemory=64m'];
    await this.#runGit(repository, [...few, 'repack', '-q', ...how]);
    repository.objects.renew();
    await fsyncFolders([toPackFolder(repository)]);
  }

  async #runGit(repository: Repository, args: readonly string[]): Promise<void> {
    await repository.run(args, { background: true, signal: this.#stop.signal });
  }
}

/** New packs between two runs. */
const packsBetween = 32;

/** Few enough packs that Git is not slowed down. */
const packsAllowed = 16;

/** Merges small packs so that each is at least twice as large as the next. Large packs stay. */
const mergeSmallPacks = ['--geometric=2', '-d', '-l'];

const indexPack = ['-c', 'pack.writeReverseIndex=false', 'index-pack'];

/** Puts reachable objects into one pack, and keeps the others in a second one for a day. */
const keepUnreachable = ['--cruft', '--cruft-expiration=1.day.ago', '-d', '-l'];

/** Returns whether a `git gc` runs in a folder. As in Git, a gc.pid older than twelve hours is left by a killed gc. */
function isGcRunning(folder: string): boolean {
  const stat = statSync(join(folder, 'gc.pid'), { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs < 12 * 60 * 60 * 1000;
}
