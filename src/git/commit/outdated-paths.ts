import type { Log } from '../../lib/log.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Repository } from '../repository.ts';
import { inspect, prepareCheckout, type OutdatedPath } from './checkout.ts';
import type { FileChange } from '../file-change.ts';
import { isIndexDamaged, rebuildIndex } from './git-index.ts';
import { toKind } from '../objects/tree.ts';
import { readHead } from '../refs.ts';
import { readTipEntries } from './tip-files.ts';

export interface OutdatedPathsOptions {
  readonly log: Log;
  /** Whether a path is never written by a commit of others, as files of the service are there. */
  readonly isExcluded: (path: string) => boolean;
}

interface Entry extends Omit<OutdatedPath, 'path'> {
  /** The commits' changes of the file, oldest first. */
  readonly changes: readonly FileChange[];
  /** The reason that was logged last. */
  readonly logged: string | undefined;
}

/**
 * The paths at which index or work tree are behind the branch: after a failure or a crash, or as a person edits the
 * file.
 */
export class OutdatedPaths {
  readonly #entries = new Map<string, Entry>();
  readonly #repository: Repository;
  readonly #options: OutdatedPathsOptions;
  /** Why Git's index, which is damaged, could not be rebuilt. */
  #indexFault: string | undefined;

  constructor(repository: Repository, options: OutdatedPathsOptions) {
    this.#repository = repository;
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size + (this.#indexFault === undefined ? 0 : 1);
  }

  /** Returns the paths, each with the reason. */
  list(): OutdatedPath[] {
    const paths = [...this.#entries].map(([path, { reason, failed }]) => ({ path, reason, failed }));
    if (this.#indexFault === undefined) return paths;
    const reason = `is damaged and could not be rebuilt (${this.#indexFault}): run "git fsck"`;
    return [{ path: '.git/index', reason, failed: true }, ...paths];
  }

  /** Returns why a path could not be written; undefined where it was written, or a person edits the file. */
  failureOf(path: string): string | undefined {
    const entry = this.#entries.get(path);
    return entry?.failed ? entry.reason : undefined;
  }

  /** Returns the changes that are not applied. */
  changes(): FileChange[] {
    return [...this.#entries.values()].flatMap(({ changes }) => changes);
  }

  /**
   * Adds changes that were not applied.
   * @param why one reason for all of them, or the paths to add, each with its reason
   */
  add(changes: readonly FileChange[], why: string | readonly OutdatedPath[]): void {
    if (why.length === 0) return;
    const reasons = typeof why === 'string' ? why : new Map(why.map((each) => [each.path, each]));
    for (const change of changes) {
      const { path } = change;
      const because = typeof reasons === 'string' ? { reason: reasons, failed: true } : reasons.get(path);
      if (because === undefined) continue;
      const earlier = this.#entries.get(path)?.changes ?? [];
      this.#set(path, { ...because, changes: [...earlier, change] }, true);
    }
  }

  /**
   * Updates index and work tree to HEAD at these paths, as far as possible now. The index must be locked.
   * @param torn whether a power loss may have torn files or the index
   * @throws {GitError}
   */
  async finish(torn = false): Promise<void> {
    if (this.size === 0 && !torn) return;
    await this.repairIndex();
    const repository = this.#repository;
    const paths = [...this.#entries.keys()];
    const tip = await readHead(repository);
    const files = await readTipEntries(repository, tip, paths);
    const changes = [...this.#entries].map(([path, { changes }]): FileChange => {
      const after = files.get(path) ?? null;
      return {
        path,
        before: changes[0]?.before ?? null,
        after: after && toKind(after.mode) === 'folder' ? null : after,
      };
    });
    const inspection = await inspect(repository, paths, torn);
    const checkout = prepareCheckout(repository, changes, inspection, {
      known: (path) => this.#known(path),
      isExcluded: this.#options.isExcluded,
      torn,
    });
    const outdated = new Map((await checkout.apply()).map((each) => [each.path, each]));
    for (const [path, { changes }] of this.#entries) {
      const because = outdated.get(path);
      if (because === undefined) this.#entries.delete(path);
      else this.#set(path, { ...because, changes }, false);
    }
  }

  /**
   * Rebuilds the index from HEAD where git cannot read it, and returns whether it did. The index must be locked.
   * @throws {GitError} and system errors
   */
  async repairIndex(): Promise<boolean> {
    const isDamaged = await isIndexDamaged(this.#repository);
    try {
      if (isDamaged) await rebuildIndex(this.#repository);
    } catch (error) {
      this.#indexFault = messageOf(error);
      throw error;
    }
    this.#indexFault = undefined;
    if (isDamaged) this.#options.log.warn({}, rebuilt);
    return isDamaged;
  }

  /** Retries those of these paths that have failed; a few times, as git may be killed again. */
  async retry(paths: Iterable<string>): Promise<void> {
    const all = [...paths];
    for (let attempt = 1; attempt <= 3; attempt++) {
      if (!all.some((path) => this.#entries.get(path)?.failed)) return;
      await this.finish().catch(() => {});
    }
  }

  /** Returns the blobs at a path that the service may replace; null is no file. */
  #known(path: string): Set<string | null> {
    const changes = this.#entries.get(path)?.changes ?? [];
    return new Set(changes.flatMap(({ before, after }) => [before?.id ?? null, after?.id ?? null]));
  }

  /** Logs a path when its reason is new. A first failure is retried before it is logged. */
  #set(path: string, entry: Omit<Entry, 'logged'>, isFirst: boolean): void {
    const { reason, failed } = entry;
    const logged = this.#entries.get(path)?.logged;
    const isNews = reason !== logged && !(isFirst && failed);
    if (isNews)
      this.#options.log.warn({ path }, `${JSON.stringify(path)} is behind the branch: it ${reason}`);
    this.#entries.set(path, { ...entry, logged: isNews ? reason : logged });
  }
}

const rebuilt =
  "Git's index was damaged, as by a power loss, and was rebuilt from the last commit: stage again what was staged";
