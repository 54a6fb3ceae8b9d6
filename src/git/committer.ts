import { isAbsolute, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stopping } from '../bot/errors.ts';
import { BotshelfError, isError, messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { LogThrottle, retry } from '../lib/retry.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import { CommitEvents, type Editor, type FileEdit, type BranchMove } from './branch-feed.ts';
import { ensureNoOperation } from './locks.ts';
import { removeLeftovers, wasKilled } from './maintenance.ts';
import { GitError } from './run-git.ts';
import { readRef, type Repository, type RepositoryOpener, toUnavailableError } from './repository.ts';
import { type OutdatedPath, WorkTree } from './work-tree.ts';
import { type BatchResult, BranchWriter } from './branch-writer.ts';

export interface CommitterOptions<E extends FileEdit> {
  readonly repositoryOpener: RepositoryOpener;
  /** The folder for what is not in Git; commits of others never write to it. Absolute. */
  readonly var: string;
  /** Makes the new text of files, and the messages of commits, from edits. */
  readonly editor: Editor<E>;
  readonly log: Log;
  /** Milliseconds to wait for a person's git to release index.lock; 5000 if left out. */
  readonly maxLockWaitMs?: number;
  /** Where each commit is published. */
  readonly commits?: CommitEvents;
}

/**
 * Commits edits of files to the checked-out branch. Git's own index.lock is held from the inspection of the files to
 * the last rename, as by any Git command: when an edit resolves, HEAD, index and work tree agree. While a batch is
 * being committed, edits for the next one are gathered; a batch is one commit (branch-writer.ts).
 */
export class Committer<E extends FileEdit> {
  readonly #options: CommitterOptions<E>;
  readonly #queue = new SerialQueue();
  readonly #reasons = new LogThrottle();
  #waiting: QueuedEdit<E>[] = [];
  #lastSize = 0;
  #writer: BranchWriter<E> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #tidying: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: CommitterOptions<E>) {
    this.#options = options;
  }

  /** Returns the paths at which index or work tree are behind the branch, each with the reason. */
  outdatedPaths(): OutdatedPath[] {
    return this.#writer?.workTree.outdated() ?? [];
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
   * @throws {BotshelfError} unavailable, when the branch cannot be moved now
   */
  async move<M extends BranchMove>(
    prepare: (repository: Repository, tip: string) => Promise<M | undefined>,
  ): Promise<M | undefined> {
    const repository = await this.#options.repositoryOpener.open();
    let tip = await readTip(repository);
    let move = await prepare(repository, tip);
    const work = async (writer: BranchWriter<E>): Promise<M | undefined> => {
      ensureNoOperation(writer.repository);
      const now = await readTip(writer.repository);
      if (now !== tip) move = await prepare(writer.repository, (tip = now));
      if (move !== undefined) await writer.moveBranch(tip, move);
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
    await this.#queue.run(async () => await this.#writer?.workTree.close());
  }

  async #commitWaiting(): Promise<void> {
    await this.#gather();
    const batch = this.#waiting.slice(0, batchSize);
    this.#lastSize = batch.length;
    try {
      const edits = batch.map(({ edit }) => edit);
      finishBatch(batch, await this.#locked(async (writer) => await writer.commitBatch(edits)));
    } catch (error) {
      const unavailable = toUnavailableError(error);
      if (this.#reasons.shouldLog(unavailable.message))
        this.#options.log.error({ err: error }, unavailable.message);
      for (const { reject } of batch) reject(unavailable);
    }
    this.#waiting = this.#waiting.slice(batch.length);
    if (this.#waiting.length > 0) void this.#queue.run(async () => await this.#commitWaiting());
  }

  /**
   * Waits while the senders of the last batch send their next edit: the first one to come would be a batch of its own.
   */
  async #gather(): Promise<void> {
    for (let seen = 0; this.#waiting.length < this.#lastSize && this.#waiting.length > seen;) {
      seen = this.#waiting.length;
      await sleep(5);
    }
  }

  /** Runs `work` with the index locked, and again if the branch moved or git was killed. */
  async #locked<T>(work: (writer: BranchWriter<E>) => Promise<T>): Promise<T> {
    const { log } = this.#options;
    const writer = await this.#open();
    const { repository, workTree } = writer;
    // A rebase takes the lock itself: it must not fail because of an edit that is refused anyway.
    repository.branch();
    const repair = async (failure: unknown): Promise<boolean> => {
      log.debug({}, `a commit has failed: ${String(failure)}`);
      if (!(failure instanceof GitError)) return false;
      const removed = await removeLeftovers(repository, failure, log);
      return removed > 0 || (await workTree.repairIndex().catch(() => false));
    };
    try {
      const run = async (): Promise<T> => await work(writer);
      return await workTree.locked(async () => await retry(run, { maxAttempts, isRetriable, repair }));
    } finally {
      this.#tidyIn(1000);
    }
  }

  /** Returns the writer of the repository, once it has finished what a crash interrupted. */
  async #open(): Promise<BranchWriter<E>> {
    const {
      repositoryOpener,
      log,
      editor,
      commits = new CommitEvents(log),
      maxLockWaitMs = 5000,
    } = this.#options;
    const repository = await repositoryOpener.open();
    if (this.#writer?.repository === repository) return this.#writer;
    await this.#writer?.workTree.close();
    const own = relative(repository.folder, this.#options.var);
    const isExcluded = (path: string): boolean =>
      !isAbsolute(own) && (path === own || path.startsWith(`${own}/`));
    const workTree = await WorkTree.open(repository, { log, isExcluded, maxLockWaitMs });
    this.#writer = new BranchWriter(repository, workTree, { editor, commits, log });
    this.#tidyIn(0);
    return this.#writer;
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
      return (await this.#writer?.workTree.tidy(exclusively)) ?? true;
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

/** Edits in one commit, at most. */
const batchSize = 1000;

/** Attempts while the branch moves or git is killed: scripts of people commit fast, too. */
const maxAttempts = 30;

/** Returns the branch's commit. @throws {BotshelfError} unavailable, before the first commit */
export async function readTip(repository: Repository): Promise<string> {
  const tip = await readRef(repository, repository.branch());
  if (tip === null)
    throw new BotshelfError('unavailable', 'the branch has no commit yet: make the first one');
  return tip;
}

/** Returns whether a commit may succeed when it is planned again. */
function isRetriable(error: unknown): boolean {
  return isError(error, 'ref-conflict') || wasKilled(error);
}
