import { isAbsolute, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stopping } from '../../bot/errors.ts';
import { BotshelfError, isError, messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { LogThrottle, retry } from '../../lib/retry.ts';
import { SerialQueue } from '../../lib/serial-queue.ts';
import { importCommit, type NewFile, toPackFolder } from '../commit-files.ts';
import { diffTrees, findTreeEntries } from '../trees.ts';
import { removeLeftovers, wasKilled, waitForOrphans } from '../leftovers.ts';
import {
  ensureNoOperation,
  type Repository,
  type RepositoryOpener,
  toUnavailableError,
} from '../repository.ts';
import { fsyncRefs, readRef, listRefFolders, updateRefs } from '../refs.ts';
import { GitError } from '../run-git.ts';
import { type Editor, type FileEdit, planBatch, readCurrentFile, refuseEdits } from './batch.ts';
import type { BranchFeed } from './feed.ts';
import { type OutdatedPath, WorkTree, type UpdatePlan } from './work-tree.ts';

export type { Editor, FileEdit } from './batch.ts';

/** A move of the branch to an existing commit, such as a merge. */
export interface BranchMove {
  readonly commit: string;
  /** Refs that move in the same transaction: ref → commit, null to delete it. */
  readonly refs: ReadonlyMap<string, string | null>;
  /** The new files by path, if they are in memory: then they are served immediately. */
  readonly files?: ReadonlyMap<string, NewFile>;
  /** Whether a person's uncommitted edits in a changed file refuse the move; otherwise that file is left as it is. */
  readonly refusesEdits?: boolean;
}

export interface CommitterOptions<E extends FileEdit> {
  readonly repositoryOpener: RepositoryOpener;
  /** The folder for data that is not in Git; commits of others never write to it. Absolute. */
  readonly var: string;
  /** Makes the new text of files, and the messages of commits, from edits. */
  readonly editor: Editor<E>;
  readonly log: Log;
  /** Milliseconds to wait for a person's git to release index.lock; 5000 if left out. */
  readonly maxLockWaitMs?: number;
  /** Where each commit is published. */
  readonly branch?: Pick<BranchFeed, 'publish'>;
}

/**
 * Commits edits of files to the checked-out branch. Git's own index.lock is held from the inspection of the files to
 * the last rename, as by any Git command: when an edit resolves, HEAD, index and work tree agree. While a batch is
 * being committed, edits for the next one are gathered; a batch is one commit.
 */
export class Committer<E extends FileEdit> {
  readonly #options: CommitterOptions<E>;
  readonly #queue = new SerialQueue();
  readonly #reasons = new LogThrottle();
  #waiting: QueuedEdit<E>[] = [];
  #lastSize = 0;
  #workTree: WorkTree | undefined;
  /** Folders of Git in which a name may not survive a power loss, because their fsync failed. */
  readonly #unsynced = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #tidying: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: CommitterOptions<E>) {
    this.#options = options;
  }

  /** Returns the paths at which index or work tree are behind the branch, each with the reason. */
  outdatedPaths(): OutdatedPath[] {
    return this.#workTree?.outdated() ?? [];
  }

  /** Finishes what a crash interrupted. Call it once, before the first edit; without a repository it does nothing. */
  async recover(): Promise<void> {
    const { repositoryOpener, log } = this.#options;
    if ((await repositoryOpener.open().catch(() => undefined)) === undefined) return;
    try {
      await this.#queue.run(async () => await this.#open());
    } catch (error) {
      log.warn({ err: error }, toUnavailableError(error).message);
    }
  }

  /**
   * Commits an edit. Resolves when it would survive a power loss and every read returns it, with the commit that has
   * it; null if the text has the edit already.
   * @throws what the editor throws
   * @throws {BotshelfError} edit-conflict, while a person edits the file
   * @throws {BotshelfError} unavailable, when nothing can be committed now, or the disk did not confirm it, as the message
   * says
   */
  async commit(edit: E): Promise<string | null> {
    if (this.#closed) throw new BotshelfError('unavailable', stopping);
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ edit, resolve, reject });
      if (this.#waiting.length === 1) void this.#queue.run(async () => await this.#commitWaiting());
    });
  }

  /**
   * Moves the branch to a commit that `prepare` makes for the current tip. Returns the move, or undefined without one.
   * `prepare` is called again, with the index locked, when the tip has moved.
   * @throws what `prepare` throws
   * @throws {BotshelfError} edit-conflict, if the move refuses edits of a person
   * @throws {BotshelfError} unavailable, when the branch cannot be moved now
   */
  async move<M extends BranchMove>(
    prepare: (repository: Repository, tip: string) => Promise<M | undefined>,
  ): Promise<M | undefined> {
    return await this.moveOrBegin(async (repository, tip) => await prepare(repository, requireTip(tip)));
  }

  /** Does what `move` does, and makes the first commit of a branch, for a tip of null. @throws as move does */
  async moveOrBegin<M extends BranchMove>(
    prepare: (repository: Repository, tip: string | null) => Promise<M | undefined>,
  ): Promise<M | undefined> {
    const repository = await this.#options.repositoryOpener.open();
    let tip = await readRef(repository, repository.branch());
    let move = await prepare(repository, tip);
    const work = async (workTree: WorkTree): Promise<M | undefined> => {
      const { repository } = workTree;
      ensureNoOperation(repository);
      const now = await readRef(repository, repository.branch());
      if (now !== tip) move = await prepare(repository, (tip = now));
      if (move !== undefined) await this.#moveBranch(workTree, tip, move);
      return move;
    };
    return await this.#queue.run(async () => await this.#locked(work));
  }

  /** Commits the waiting edits and ends. */
  async close(): Promise<void> {
    this.#closed = true;
    while (this.#waiting.length > 0) await this.#queue.run(async () => {});
    clearTimeout(this.#timer);
    await this.#tidying;
    await this.#tidy();
  }

  async #commitWaiting(): Promise<void> {
    await this.#gather();
    const batch = this.#waiting.slice(0, batchSize);
    this.#lastSize = batch.length;
    try {
      const edits = batch.map(({ edit }) => edit);
      finishBatch(batch, await this.#locked(async (workTree) => await this.#commitBatch(workTree, edits)));
    } catch (error) {
      const unavailable = toUnavailableError(error);
      if (this.#reasons.shouldLog(unavailable.message))
        this.#options.log.error({ err: error }, unavailable.message);
      for (const { reject } of batch) reject(unavailable);
    }
    this.#waiting = this.#waiting.slice(batch.length);
    if (this.#waiting.length > 0) void this.#queue.run(async () => await this.#commitWaiting());
  }

  /** Waits for the next edits of the last batch's senders; otherwise the first of them would be a batch of its own. */
  async #gather(): Promise<void> {
    for (let seen = 0; this.#waiting.length < this.#lastSize && this.#waiting.length > seen;) {
      seen = this.#waiting.length;
      await sleep(5);
    }
  }

  /** Runs `work` with the index locked, and again if the branch moved or git was killed. */
  async #locked<T>(work: (workTree: WorkTree) => Promise<T>): Promise<T> {
    const { log } = this.#options;
    const workTree = await this.#open();
    const { repository } = workTree;
    // A rebase takes the lock itself: it must not fail because of an edit that is refused anyway.
    repository.branch();
    const repair = async (failure: unknown): Promise<boolean> => {
      log.debug({}, `a commit has failed: ${String(failure)}`);
      if (!(failure instanceof GitError)) return false;
      const removed = await removeLeftovers(repository, failure, log);
      return removed > 0 || (await workTree.repairIndex().catch(() => false));
    };
    try {
      const run = async (): Promise<T> => await work(workTree);
      return await workTree.locked(async () => await retry(run, { maxAttempts, isRetriable, repair }));
    } finally {
      this.#tidyIn(1000);
    }
  }

  /** Returns the work tree of the repository, once it has finished what a crash interrupted. */
  async #open(): Promise<WorkTree> {
    const { repositoryOpener, log, maxLockWaitMs = 5000 } = this.#options;
    const repository = await repositoryOpener.open();
    if (this.#workTree?.repository === repository) return this.#workTree;
    const own = relative(repository.folder, this.#options.var);
    const isExcluded = (path: string): boolean =>
      !isAbsolute(own) && (path === own || path.startsWith(`${own}/`));
    this.#workTree = await WorkTree.open(repository, { log, isExcluded, maxLockWaitMs });
    this.#unsynced.clear();
    this.#tidyIn(0);
    return this.#workTree;
  }

  /**
   * Makes one commit of many edits.
   * @throws {BotshelfError} ref-conflict, {GitError} or a system error: nothing was committed
   * @throws {BotshelfError} unknown-outcome
   */
  async #commitBatch(workTree: WorkTree, edits: readonly E[]): Promise<BatchResult> {
    const { repository } = workTree;
    const branch = repository.branch();
    const tip = await readRef(repository, branch);
    const paths = [...new Set(edits.map(({ path }) => repository.prefix + path))];
    const [seen, entries] = await Promise.all([
      workTree.inspect(paths, true),
      findTreeEntries(repository, tip, paths),
    ]);
    const current = paths.map((path) => {
      const file = readCurrentFile(path, entries.get(path) ?? null, seen, workTree.failureOf(path));
      return [path, file] as const;
    });
    const plan = planBatch(edits, new Map(current), repository, this.#options.editor);
    const { changes, files, message, outcomes } = plan;
    if (changes.length === 0)
      return { outcomes, commit: null, durabilityError: await this.#confirm(repository) };
    const commit = await this.#advance(
      workTree,
      { branch, changes, contents: toContents(files), seen },
      async () => await importCommit(repository, { ref: branch, onto: tip, message, urgent: true, files }),
    );
    return { outcomes, commit, durabilityError: await this.#confirm(repository) };
  }

  /**
   * Moves the branch to an existing commit, and other refs with it.
   * @param tip the current tip of the branch, null before the first commit
   * @throws as #commitBatch does, and {BotshelfError} unavailable, when the disk did not confirm it
   * @throws {BotshelfError} edit-conflict
   */
  async #moveBranch(
    workTree: WorkTree,
    tip: string | null,
    { commit, refs, files, refusesEdits = false }: BranchMove,
  ): Promise<void> {
    const { repository } = workTree;
    const branch = repository.branch();
    const changes = await diffTrees(repository, tip, commit);
    const paths = changes.map(({ path }) => path);
    const seen = await workTree.inspect(paths, false);
    if (refusesEdits) refuseEdits(changes, seen, workTree);
    const updates = new Map<string, { from: string | null; to: string | null }>();
    updates.set(branch, { from: tip, to: commit });
    for (const [ref, to] of refs) {
      const from = await readRef(repository, ref);
      if (from !== to) updates.set(ref, { from, to });
    }
    const contents = files && toContents(files);
    await this.#advance(workTree, { branch, changes, contents, seen }, async () => {
      await updateRefs(repository, updates).catch(async (error: unknown) => {
        if (!wasKilled(error)) throw error;
        // A git continues after its runner was killed, and may have moved the refs after they were read.
        await waitForOrphans(repository);
        await updateRefs(repository, updates);
      });
      return commit;
    });
    // Synced after those of the branch: after a power loss, no proposal may be accepted that the branch does not have.
    for (const ref of refs.keys())
      for (const folder of listRefFolders(repository, ref)) this.#unsynced.add(folder);
    const durabilityError = await this.#confirm(repository);
    if (durabilityError) throw durabilityError;
  }

  /**
   * Moves the branch and updates the work tree. Once the branch has moved, nothing is undone: a later step that fails
   * is retried, and never reported as a change that was not made.
   */
  async #advance(workTree: WorkTree, plan: UpdatePlan, moveBranch: () => Promise<string>): Promise<string> {
    const { repository } = workTree;
    const { branch, changes, contents } = plan;
    const update = await workTree.prepare(plan);
    const commit = await moveBranch().catch(async (error: unknown) => {
      await workTree.abandon(update, error);
      throw error;
    });
    for (const folder of [toPackFolder(repository), ...listRefFolders(repository, branch)])
      this.#unsynced.add(folder);
    await workTree.apply(update);
    this.#options.branch?.publish({ ref: 'branch', commit, changes, contents });
    return commit;
  }

  /** Makes names in Git's folders durable. Returns the error if that failed: then no change counts as saved. */
  async #confirm(repository: Repository): Promise<BotshelfError | undefined> {
    try {
      await retry(async () => await fsyncRefs(repository, this.#unsynced), {
        maxAttempts: 4,
        delay: (attempt) => 20 * 2 ** attempt,
      });
      this.#unsynced.clear();
      return undefined;
    } catch (error) {
      const message = 'the change is saved in Git, but the disk did not confirm it: send it again';
      this.#options.log.error({ err: error }, `${message} (${messageOf(error)})`);
      return new BotshelfError('unavailable', message, { cause: error });
    }
  }

  /** Schedules `#tidy` in `delay` milliseconds, unless it is scheduled. */
  #tidyIn(delay: number): void {
    if (this.#closed) return;
    this.#timer ??= setTimeout(() => {
      this.#tidying = this.#tidy().then((isDone) => {
        this.#timer = undefined;
        if (!isDone) this.#tidyIn(5000);
      });
    }, delay).unref();
  }

  /** Tidies the work tree. Returns whether nothing is left to do. */
  async #tidy(): Promise<boolean> {
    try {
      const exclusively = async <T>(work: () => Promise<T>): Promise<T> => await this.#queue.run(work);
      return (await this.#workTree?.tidy(exclusively)) ?? true;
    } catch (error) {
      this.#options.log.debug(
        { err: error },
        `could not update index and work tree: ${messageOf(error)}; retrying in 5 s`,
      );
      return false;
    }
  }
}

/** An edit whose sender waits. */
interface QueuedEdit<E> {
  readonly edit: E;
  readonly resolve: (commit: string | null) => void;
  readonly reject: (error: unknown) => void;
}

interface BatchResult extends Pick<ReturnType<typeof planBatch>, 'outcomes'> {
  /** Null if nothing had to be committed. */
  readonly commit: string | null;
  /** Set if the disk did not confirm the commit: a power loss may undo it. */
  readonly durabilityError: BotshelfError | undefined;
}

function finishBatch(
  batch: readonly QueuedEdit<unknown>[],
  { outcomes, commit, durabilityError }: BatchResult,
): void {
  for (const [i, { resolve, reject }] of batch.entries()) {
    const outcome = outcomes[i];
    if (outcome?.kind === 'refused') reject(outcome.error);
    else if (durabilityError) reject(durabilityError);
    else resolve(outcome?.kind === 'written' ? commit : null);
  }
}

/** Returns the bytes of new files, by path. */
function toContents(files: ReadonlyMap<string, NewFile>): Map<string, Buffer> {
  return new Map(
    [...files].flatMap(([path, file]) => (file && 'content' in file ? [[path, file.content] as const] : [])),
  );
}

/** Edits in one commit, at most. */
const batchSize = 1000;

/** Attempts while the branch moves or git is killed: people's scripts commit fast, too. */
const maxAttempts = 30;

/** Returns the branch's commit. @throws {BotshelfError} unavailable, before the first commit */
export async function readTip(repository: Repository): Promise<string> {
  return requireTip(await readRef(repository, repository.branch()));
}

function requireTip(tip: string | null): string {
  if (tip === null)
    throw new BotshelfError('unavailable', 'the branch has no commit yet: make the first one');
  return tip;
}

/** Returns whether a commit may succeed when it is planned again. */
function isRetriable(error: unknown): boolean {
  return isError(error, 'ref-conflict') || wasKilled(error);
}
