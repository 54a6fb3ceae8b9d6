import type { Log } from '../../log.ts';
import type { Repository } from '../repository.ts';
import { inspect, prepareCheckout, type Unapplied } from './checkout.ts';
import type { FileChange } from '../file-change.ts';
import { readHead } from '../refs.ts';
import { readTipEntries } from './tip-files.ts';

export interface UnfinishedOptions {
  readonly log: Log;
  readonly isExcluded: (path: string) => boolean;
}

interface Entry extends Omit<Unapplied, 'path'> {
  /** What commits made of the file, one after the other. */
  readonly changes: readonly FileChange[];
  /** The reason that was logged last. */
  readonly logged: string | undefined;
}

/** The paths in which index or work tree have not followed the branch: after a failure, a crash, or beside a person. */
export class Unfinished {
  readonly #entries = new Map<string, Entry>();
  readonly #repository: Repository;
  readonly #options: UnfinishedOptions;

  constructor(repository: Repository, options: UnfinishedOptions) {
    this.#repository = repository;
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The paths, and why. */
  list(): Unapplied[] {
    return [...this.#entries].map(([path, { reason, failed }]) => ({ path, reason, failed }));
  }

  /** Why a path could not be written; undefined where it was, or a person edits the file. */
  failureOf(path: string): string | undefined {
    const entry = this.#entries.get(path);
    return entry?.failed ? entry.reason : undefined;
  }

  changes(): FileChange[] {
    return [...this.#entries.values()].flatMap(({ changes }) => changes);
  }

  /** Adds changes for one reason, or those of them that could not be applied. A path is logged when its reason is new. */
  add(changes: readonly FileChange[], why: string | readonly Unapplied[]): void {
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
   * Brings index and work tree to what is checked out, as far as that can be done now; the index has to be locked.
   * @param torn whether a power loss may have torn files
   * @throws {GitError}
   */
  async finish(torn = false): Promise<void> {
    if (this.size === 0) return;
    const repository = this.#repository;
    const paths = [...this.#entries.keys()];
    const tip = await readHead(repository);
    const files = await readTipEntries(repository, tip, paths);
    const changes = [...this.#entries].map(([path, { changes }]): FileChange => {
      const after = files.get(path) ?? null;
      return { path, before: changes[0]?.before ?? null, after: after?.mode === '40000' ? null : after };
    });
    const inspection = await inspect(repository, paths, torn);
    const checkout = prepareCheckout(repository, changes, inspection, {
      known: (path) => this.#known(path),
      isExcluded: this.#options.isExcluded,
      torn,
    });
    const unapplied = new Map((await checkout.apply()).map((each) => [each.path, each]));
    for (const [path, { changes }] of this.#entries) {
      const because = unapplied.get(path);
      if (because === undefined) this.#entries.delete(path);
      else this.#set(path, { ...because, changes }, false);
    }
  }

  /** Finishes these paths if they have failed and may work at once; a few times, as git may be killed again. */
  async retry(paths: Iterable<string>): Promise<void> {
    const all = [...paths];
    for (let attempt = 1; attempt <= 3; attempt++) {
      if (!all.some((path) => this.#entries.get(path)?.failed)) return;
      await this.finish().catch(() => {});
    }
  }

  /** The blobs of a path that are ours to replace. */
  #known(path: string): Set<string | null> {
    const changes = this.#entries.get(path)?.changes ?? [];
    return new Set(changes.flatMap(({ before, after }) => [before?.id ?? null, after?.id ?? null]));
  }

  /** What has failed for the first time is tried again before it is worth a word. */
  #set(path: string, entry: Omit<Entry, 'logged'>, isFirst: boolean): void {
    const { reason, failed } = entry;
    const logged = this.#entries.get(path)?.logged;
    const isNews = reason !== logged && !(isFirst && failed);
    if (isNews)
      this.#options.log.warn({ path }, `${JSON.stringify(path)} has not followed the branch: it ${reason}`);
    this.#entries.set(path, { ...entry, logged: isNews ? reason : logged });
  }
}
