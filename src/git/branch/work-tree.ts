import { open, readFile, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isError, messageOf } from '../../lib/errors.ts';
import { failpoint } from '../../lib/failpoint.ts';
import {
  removeUnfinishedWrites,
  writeAtomically,
  listFoldersUpTo,
  fsyncFiles,
  fsyncFolder,
  fsyncFolders,
  makeFolder,
} from '../../lib/files.ts';
import type { Log } from '../../lib/log.ts';
import { cleanUpAfterCrash, waitForOrphans } from '../leftovers.ts';
import { toKind } from '../objects.ts';
import { findBranch, type Repository } from '../repository.ts';
import { type FileChange, findTreeEntries } from '../trees.ts';
import { readHead } from '../refs.ts';
import { type Checkout, inspect, type Inspection, type Obstacle, prepareCheckout } from './checkout.ts';
import {
  isIndexDamaged,
  isIndexMissing,
  rebuildIndex,
  removeStaleIndexLock,
  withIndexLock,
} from './git-index.ts';

interface WorkTreeOptions {
  readonly log: Log;
  /** Whether a path is never written by a commit of others, because files of the service are there. */
  readonly isExcluded: (path: string) => boolean;
  /** Milliseconds to wait for a person's git to release index.lock. */
  readonly maxLockWaitMs: number;
}

/** A path at which index or work tree are behind the branch. */
export interface OutdatedPath extends Obstacle {
  readonly path: string;
}

/** The changes of a commit. */
export interface UpdatePlan {
  /** The branch that is about to move. */
  readonly branch: string;
  readonly changes: readonly FileChange[];
  /** The new bytes by path, if they are in memory. */
  readonly contents?: ReadonlyMap<string, Buffer> | undefined;
  /** The files of index and work tree at the changed paths. */
  readonly seen: Inspection;
}

/** A plan whose intent is durable, and whose files are being prepared. */
interface PreparedUpdate extends UpdatePlan {
  readonly checkout: Checkout;
}

/**
 * Updates index and work tree of the clone to the branch. Once the branch has moved, nothing is undone: a path whose
 * update fails, or that a person edits, is remembered and retried; after a crash the intent log on disk lists it. Call
 * its methods one at a time, in `locked` unless they say otherwise.
 */
export class WorkTree {
  readonly repository: Repository;
  readonly #options: WorkTreeOptions;
  readonly #intents: IntentLog;
  readonly #outdated = new Map<string, Outdated>();
  /** The reason why Git's damaged index could not be rebuilt. */
  #indexFault: string | undefined;

  private constructor(repository: Repository, options: WorkTreeOptions) {
    this.repository = repository;
    this.#options = options;
    this.#intents = new IntentLog(repository);
  }

  /**
   * Opens a work tree and finishes what a crash left, as far as possible now. Call it while this service runs no other git.
   * @throws a system error
   */
  static async open(repository: Repository, options: WorkTreeOptions): Promise<WorkTree> {
    const { log } = options;
    const workTree = new WorkTree(repository, options);
    const left = await workTree.#intents.read();
    await waitForOrphans(repository);
    if (await removeStaleIndexLock(repository))
      log.warn({}, 'removed the stale index lock of a killed service');
    await cleanUpAfterCrash(repository, log);
    for (const change of left) workTree.#add(change, { reason: 'was left by a crash', failed: true });
    try {
      await workTree.locked(async () => await workTree.finish(true));
    } catch (error) {
      log.warn(
        { err: error },
        `could not update the files that a crash left behind the branch: ${messageOf(error)}; retrying in the background`,
      );
    }
    return workTree;
  }

  /** Runs `work` with Git's index.lock, as any Git command does. @throws as withIndexLock does */
  async locked<T>(work: () => Promise<T>, maxWaitMs = this.#options.maxLockWaitMs): Promise<T> {
    return await withIndexLock(this.repository, maxWaitMs, work);
  }

  /** Returns the paths at which index or work tree are behind the branch. Needs no lock. */
  outdated(): OutdatedPath[] {
    const paths = [...this.#outdated].map(([path, { reason, failed }]) => ({ path, reason, failed }));
    if (this.#indexFault === undefined) return paths;
    const reason = `is damaged and could not be rebuilt (${this.#indexFault}): run "git fsck"`;
    return [{ path: '.git/index', reason, failed: true }, ...paths];
  }

  /** Returns why a path could not be written; undefined if it was written, or a person edits the file. */
  failureOf(path: string): string | undefined {
    const entry = this.#outdated.get(path);
    return entry?.failed ? entry.reason : undefined;
  }

  /**
   * Reads index and work tree at these paths, after a retry of what failed there.
   * @param keep whether to keep the bytes of files
   * @throws {GitError} and system errors
   */
  async inspect(paths: readonly string[], keep: boolean): Promise<Inspection> {
    if (await isIndexMissing(this.repository)) await this.repairIndex();
    await this.#retryFailed(paths);
    return await inspect(this.repository, paths, keep);
  }

  /**
   * Writes the intent durably, then begins to prepare files and index next to those in use, so that nothing is visible yet.
   * @throws a system error: then the branch must not move
   */
  async prepare(plan: UpdatePlan): Promise<PreparedUpdate> {
    failpoint('advance.before-intent');
    await this.#intents.append(plan.changes);
    const checkout = this.#prepareCheckout(plan, false);
    failpoint('advance.before-branch');
    return { ...plan, checkout };
  }

  /** Puts files and index into place, once the branch has moved. Never throws: failed paths are retried later. */
  async apply({ branch, changes, checkout }: PreparedUpdate): Promise<void> {
    failpoint('advance.after-branch');
    const obstacles = await checkout.apply();
    failpoint('advance.after-checkout');
    // A person may have switched branches since: then index and work tree must be as on the other branch.
    const elsewhere = findBranch(this.repository) === branch ? undefined : onOtherBranch;
    for (const change of changes) {
      const obstacle = elsewhere ?? obstacles.get(change.path);
      if (obstacle) this.#add(change, obstacle);
      else this.#outdated.delete(change.path);
    }
    await this.#retryFailed(changes.map(({ path }) => path));
  }

  /** Ends an update whose branch did not move, or may not have; the error says which. */
  async abandon({ changes, checkout }: PreparedUpdate, error: unknown): Promise<void> {
    await checkout.discard();
    if (!isError(error, 'unknown-outcome')) return;
    for (const change of changes) this.#add(change, { reason: 'may be committed', failed: true });
  }

  /**
   * Updates files that are behind the branch to HEAD, as far as possible now.
   * @param torn whether a power loss may have torn files or the index
   * @throws {GitError}
   */
  async finish(torn = false): Promise<void> {
    if (this.outdated().length === 0 && !torn) return;
    await this.repairIndex();
    const repository = this.repository;
    const paths = [...this.#outdated.keys()];
    const entries = await findTreeEntries(repository, await readHead(repository), paths);
    const changes = [...this.#outdated].map(([path, { changes }]): FileChange => {
      const after = entries.get(path) ?? null;
      return {
        path,
        before: changes[0]?.before ?? null,
        after: after && toKind(after.mode) === 'folder' ? null : after,
      };
    });
    const seen = await inspect(repository, paths, torn);
    const obstacles = await this.#prepareCheckout({ changes, seen }, torn).apply();
    for (const [path, { changes }] of this.#outdated) {
      const obstacle = obstacles.get(path);
      if (obstacle) this.#set(path, { ...obstacle, changes }, true);
      else this.#outdated.delete(path);
    }
  }

  /**
   * Rebuilds the index from HEAD if git cannot read it, and returns whether it did. `outdated` names a failure.
   * @throws {GitError} and system errors
   */
  async repairIndex(): Promise<boolean> {
    const isDamaged = await isIndexDamaged(this.repository);
    try {
      if (isDamaged) await rebuildIndex(this.repository);
    } catch (error) {
      this.#indexFault = messageOf(error);
      throw error;
    }
    this.#indexFault = undefined;
    if (isDamaged) this.#options.log.warn({}, rebuilt);
    return isDamaged;
  }

  /**
   * Retries paths that are behind the branch, makes updated ones durable and drops their intents. Returns whether
   * nothing is left to do. It takes the lock itself.
   * @param exclusively runs work while no other method is called
   * @throws {BotshelfError} locked, if another process holds index.lock; {GitError} and system errors
   */
  async tidy(exclusively: <T>(work: () => Promise<T>) => Promise<T>): Promise<boolean> {
    // Between two updates, each change of the log is in place or behind the branch.
    const { logged, left } = await exclusively(async () => {
      if (this.outdated().length > 0) await this.locked(async () => await this.finish(), 0);
      const left = [...this.#outdated.values()].flatMap(({ changes }) => changes);
      return { logged: this.#intents.changes(), left };
    });
    await this.#intents.syncFiles(logged);
    await exclusively(async () => await this.#intents.shorten(logged.length, left));
    return left.length === 0;
  }

  #prepareCheckout({ changes, seen, contents }: Omit<UpdatePlan, 'branch'>, torn: boolean): Checkout {
    const { isExcluded } = this.#options;
    const replaceable = (change: FileChange): ReadonlySet<string | null> => {
      const known = [...(this.#outdated.get(change.path)?.changes ?? []), change];
      return new Set(known.flatMap(({ before, after }) => [before?.id ?? null, after?.id ?? null]));
    };
    return prepareCheckout(this.repository, changes, seen, { replaceable, contents, isExcluded, torn });
  }

  /** Retries the failed ones of these paths, a few times because git may be killed again. */
  async #retryFailed(paths: readonly string[]): Promise<void> {
    for (let attempt = 1; attempt <= 3; attempt++) {
      if (!paths.some((path) => this.failureOf(path) !== undefined)) return;
      await this.finish().catch(() => {});
    }
  }

  #add(change: FileChange, obstacle: Obstacle): void {
    const earlier = this.#outdated.get(change.path)?.changes ?? [];
    this.#set(change.path, { ...obstacle, changes: [...earlier, change] }, !obstacle.failed);
  }

  /** Sets the reason why a path is outdated, and logs a new one; a failure only after a retry. */
  #set(path: string, entry: Omit<Outdated, 'logged'>, logs: boolean): void {
    const { reason } = entry;
    const logged = this.#outdated.get(path)?.logged;
    const isNews = logs && reason !== logged;
    if (isNews)
      this.#options.log.warn({ path }, `${JSON.stringify(path)} is behind the branch: it ${reason}`);
    this.#outdated.set(path, { ...entry, logged: isNews ? reason : logged });
  }
}

interface Outdated extends Obstacle {
  /** The commits' changes of the file, oldest first. */
  readonly changes: readonly FileChange[];
  /** The reason that was logged last. */
  readonly logged: string | undefined;
}

const onOtherBranch: Obstacle = { reason: 'is of a branch that is not checked out', failed: true };

const rebuilt =
  "Git's index was missing or damaged, as by a power loss, and was rebuilt from the last commit: stage again what was staged";

/**
 * The write-ahead log of index and work tree: which files are about to change, on disk before the branch moves. After a
 * crash it names exactly the paths to update to the tip. One line of JSON for each batch. For one caller at a time.
 */
export class IntentLog {
  readonly #path: string;
  readonly #repository: Pick<Repository, 'gitDir' | 'folder'>;
  /** Bytes of whole lines. */
  #size = 0;
  /** Whether something may follow the last whole line. */
  #torn = true;
  /** The intents in the log: changes whose files may not be durable in the work tree. */
  #changes: FileChange[] = [];

  constructor(repository: Pick<Repository, 'gitDir' | 'folder'>) {
    this.#path = join(repository.gitDir, 'botshelf/intents');
    this.#repository = repository;
  }

  /**
   * Returns what a crash left. Call it once, before the first append. A torn line was never acted on.
   * @throws a system error
   */
  async read(): Promise<FileChange[]> {
    const folder = dirname(this.#path);
    await makeFolder(folder);
    await removeUnfinishedWrites(folder);
    await writeFile(this.#path, '', { flag: 'a' });
    await fsyncFolder(folder);
    const text = await readFile(this.#path);
    this.#size = text.lastIndexOf('\n') + 1;
    this.#changes = text.toString('utf8', 0, this.#size).split('\n').flatMap(parseLine);
    return this.changes();
  }

  /** Appends a batch durably. @throws a system error: then the branch must not move */
  async append(changes: readonly FileChange[]): Promise<void> {
    const entries = changes.map(({ path, before, after }) => ({ path, before, after }));
    const line = Buffer.from(`${JSON.stringify(entries)}\n`);
    // A full disk may have left a part of a line, which would corrupt the next one.
    if (this.#torn) await truncate(this.#path, this.#size);
    this.#torn = true;
    const file = await open(this.#path, 'a');
    try {
      await file.appendFile(line);
      await file.datasync();
    } finally {
      await file.close();
    }
    this.#torn = false;
    this.#size += line.length;
    // Not as arguments of one call: an import has more files than fit on the stack.
    for (const entry of entries) this.#changes.push(entry);
  }

  /** Returns the changes in the log. */
  changes(): FileChange[] {
    return [...this.#changes];
  }

  /** Makes the files of these changes durable, as they are now, and the index. @throws a system error */
  async syncFiles(changes: readonly FileChange[]): Promise<void> {
    const { gitDir, folder } = this.#repository;
    const paths = [...new Set(changes.map(({ path }) => join(folder, path)))];
    await fsyncFiles(paths);
    await fsyncFolders([gitDir, ...paths.flatMap((path) => listFoldersUpTo(folder, path))]);
  }

  /** Rewrites the log without the oldest `synced` changes, but with those in `keep`. @throws a system error */
  async shorten(synced: number, keep: readonly FileChange[]): Promise<void> {
    const changes = [...keep, ...this.#changes.slice(synced)];
    const text = changes.length > 0 ? `${JSON.stringify(changes)}\n` : '';
    await writeAtomically(this.#path, text, { fsync: 'content and name' });
    this.#size = Buffer.byteLength(text);
    this.#torn = false;
    this.#changes = changes;
  }
}

function parseLine(line: string): FileChange[] {
  try {
    return JSON.parse(line) as FileChange[];
  } catch {
    return [];
  }
}
