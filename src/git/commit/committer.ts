import { isAbsolute, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WritesUnavailableError } from '../../bot/errors.ts';
import { LogThrottle } from '../../lib/log-throttle.ts';
import type { Log } from '../../lib/log.ts';
import { SerialQueue } from '../../lib/serial-queue.ts';
import { messageOf } from '../../lib/errors.ts';
import { cleanUpAfterCrash, prepareRetry } from '../locks/stale-locks.ts';
import { type Repository, type RepositoryOpener, toUnavailableError } from '../repository.ts';
import type { TextEdit } from './batch-plan.ts';
import { type BatchResult, type BranchMove, BranchWriter } from './branch-writer.ts';
import type { OutdatedPath } from './checkout.ts';
import { CommitEvents } from '../commit-events.ts';
import { GitError } from '../process/git-error.ts';
import { ensureNoOperation, withIndexLock } from '../locks/index-lock.ts';
import { readRef, RefConflictError } from '../refs.ts';

export interface CommitterOptions {
  readonly repositoryOpener: RepositoryOpener;
  /** The folder for what is not in Git; commits of others never write to it. Absolute. */
  readonly var: string;
  readonly log: Log;
  /** Milliseconds to wait for a person's git to release index.lock; 5000 where left out. */
  readonly lockPatience?: number;
  /** Where each commit is published. */
  readonly commits?: CommitEvents;
}

/**
 * Commits edits of files to the checked-out branch. Git's own index.lock is held from the inspection of the files to
 * the last rename, as by any Git command: when an edit resolves, HEAD, index and work tree agree. While a batch is
 * being committed, edits for the next one are gathered; a batch is one commit (branch-writer.ts).
 */
export class Committer {
  readonly #options: CommitterOptions;
  readonly #lockPatience: number;
  readonly #queue = new SerialQueue();
  readonly #reasons = new LogThrottle();
  #waiting: QueuedEdit[] = [];
  #lastSize = 0;
  #writer: BranchWriter | undefined;
  #timer: NodeJS.Timeout | undefined;
  #tidying: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.#lockPatience = options.lockPatience ?? 5000;
  }

  /** Returns the paths at which index or work tree are behind the branch, each with the reason. */
  outdatedPaths(): OutdatedPath[] {
    return this.#writer?.outdated.list() ?? [];
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
   * it; null where the text has the edit already.
   * @throws what `apply` throws
   * @throws {EditConflictError} while a person edits the file
   * @throws {WritesUnavailableError} when nothing can be committed now, or the disk did not confirm it, as the message
   * says
   */
  async commit(edit: TextEdit): Promise<string | null> {
    if (this.#closed)
      throw new WritesUnavailableError('the service is stopping: send the change again in a moment');
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ edit, resolve, reject });
      if (this.#waiting.length === 1) void this.#queue.run(async () => await this.#commitWaiting());
    });
  }

  /**
   * Moves the branch to a commit that `prepare` makes for the present tip, and returns the new tip; undefined is no
   * move. `prepare` is called again, with the index locked, when the tip has moved.
   * @throws what `prepare` throws
   * @throws {WritesUnavailableError} when the branch cannot be moved now
   */
  async move(
    prepare: (repository: Repository, tip: string) => Promise<BranchMove | undefined>,
  ): Promise<string> {
    const repository = await this.#options.repositoryOpener.open();
    let tip = await readTip(repository);
    let move = await prepare(repository, tip);
    const work = async (writer: BranchWriter): Promise<string> => {
      ensureNoOperation(writer.repository);
      const now = await readTip(writer.repository);
      if (now !== tip) move = await prepare(writer.repository, (tip = now));
      if (move === undefined) return tip;
      await writer.moveBranch(tip, move);
      return move.commit;
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
    await this.#queue.run(async () => await this.#writer?.intents.close());
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
    // Edits of the same tick of the event loop are one batch.
    await Promise.resolve();
    for (let seen = 0; this.#waiting.length < this.#lastSize && this.#waiting.length > seen;) {
      seen = this.#waiting.length;
      await sleep(5);
    }
  }

  /** Runs `work` with the index locked, with retries. */
  async #locked<T>(work: (writer: BranchWriter) => Promise<T>): Promise<T> {
    const writer = await this.#open();
    const { repository } = writer;
    // A rebase takes the lock itself: it must not fail because of an edit that is refused anyway.
    repository.branch();
    try {
      return await withIndexLock(repository, this.#lockPatience, async () => {
        for (let attempt = 1; ; attempt++) {
          try {
            return await work(writer);
          } catch (error) {
            if (attempt >= maxAttempts || !(await this.#prepareRetry(writer, error))) throw error;
            this.#options.log.debug({ attempt }, `retrying a commit: ${String(error)}`);
          }
        }
      });
    } finally {
      this.#tidyIn(1000);
    }
  }

  /** Removes stale locks or repairs the index. Returns whether to retry: that was done, or the branch has moved. */
  async #prepareRetry({ repository, outdated }: BranchWriter, error: unknown): Promise<boolean> {
    if (error instanceof RefConflictError) return true;
    const cause = error instanceof WritesUnavailableError ? error.cause : error;
    if (await prepareRetry(repository, cause, this.#options.log)) return true;
    return cause instanceof GitError && (await outdated.repairIndex().catch(() => false));
  }

  /** Returns the writer of the repository, once it has finished what a crash interrupted. */
  async #open(): Promise<BranchWriter> {
    const { repositoryOpener, log, commits = new CommitEvents(log) } = this.#options;
    const repository = await repositoryOpener.open();
    if (this.#writer?.repository === repository) return this.#writer;
    await this.#writer?.intents.close();
    const own = relative(repository.folder, this.#options.var);
    const isExcluded = (path: string): boolean =>
      !isAbsolute(own) && (path === own || path.startsWith(`${own}/`));
    const writer = new BranchWriter(repository, { log, isExcluded, commits });
    const left = await writer.intents.read();
    await cleanUpAfterCrash(repository, log);
    writer.outdated.add(left, 'was left by a crash');
    this.#writer = writer;
    try {
      await withIndexLock(repository, this.#lockPatience, async () => await writer.outdated.finish(true));
    } catch (error) {
      log.warn(
        { err: error },
        `could not update the files that a crash left behind the branch: ${messageOf(error)}; retrying in the background`,
      );
    }
    this.#tidyIn(0);
    return writer;
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

  /** Retries what is behind the branch, and shortens the intent log. Returns whether nothing is left to do. */
  async #tidy(): Promise<boolean> {
    const writer = this.#writer;
    if (writer === undefined) return true;
    const { repository, intents, outdated } = writer;
    try {
      // Between two batches, each change of the log is in place or behind the branch.
      const [logged, left] = await this.#queue.run(async () => {
        if (outdated.size > 0) await withIndexLock(repository, 0, async () => await outdated.finish());
        return [intents.changes(), outdated.changes()];
      });
      await intents.syncFiles(logged);
      await this.#queue.run(async () => await intents.shorten(logged.length, left));
      return left.length === 0;
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
interface QueuedEdit {
  readonly edit: TextEdit;
  readonly resolve: (commit: string | null) => void;
  readonly reject: (error: unknown) => void;
}

function finishBatch(batch: readonly QueuedEdit[], { outcomes, commit, durabilityError }: BatchResult): void {
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

/** @throws {WritesUnavailableError} */
async function readTip(repository: Repository): Promise<string> {
  const tip = await readRef(repository, repository.branch());
  if (tip === null) throw new WritesUnavailableError('the branch has no commit yet: make the first one');
  return tip;
}
