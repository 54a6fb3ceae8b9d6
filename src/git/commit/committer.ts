import { isAbsolute, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WritesUnavailableError } from '../../bot/errors.ts';
import { LogThrottle } from '../../log-throttle.ts';
import type { Log } from '../../log.ts';
import { SerialQueue } from '../../concurrency/serial-queue.ts';
import { messageOf } from '../../system-error.ts';
import { cleanUpAfterCrash, canRetry } from '../locks/stale-locks.ts';
import { type Repository, type RepositoryOpener, unavailableBecause } from '../repository.ts';
import { ensureNoOperation } from '../locks/operation-in-progress.ts';
import type { TextEdit } from './batch-plan.ts';
import { type BatchResult, type BranchMove, BranchWriter } from './branch-writer.ts';
import type { OutdatedPath } from './checkout.ts';
import { CommitEvents } from '../commit-events.ts';
import { withIndexLock } from '../locks/index-lock.ts';
import { readRef, RefConflictError, stateRef } from '../refs.ts';

export interface CommitterOptions {
  readonly repositoryOpener: RepositoryOpener;
  /** The folder for what is not in Git, which no commit of others may write to. Absolute. */
  readonly var: string;
  readonly log: Log;
  /** Where each commit is published. */
  readonly commits?: CommitEvents;
}

/**
 * Commits changes of files to the branch that is checked out. Git's own index.lock is held from the look at the files to
 * the last rename, as by any Git command: when a change is answered, HEAD, index and work tree agree. While a batch is
 * being committed the next one gathers; a batch is one commit (branch-writer.ts).
 */
export class Committer {
  readonly #options: CommitterOptions;
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
  }

  /** The paths in which index or work tree are behind the branch, and why. */
  outdatedPaths(): OutdatedPath[] {
    return this.#writer?.outdated.list() ?? [];
  }

  /** Finishes what a crash has left. Once, before the first change; where there is no repository there is nothing. */
  async recover(): Promise<void> {
    const { repositoryOpener, log } = this.#options;
    if ((await repositoryOpener.open().catch(() => undefined)) === undefined) return;
    try {
      await this.#queue.run(async () => await this.#open());
    } catch (error) {
      log.warn({ err: error }, unavailableBecause(error).message);
    }
  }

  /**
   * Makes a change durable: resolves, when it would survive a power loss and every read returns it, with the commit that
   * holds it; null where the text was as wanted already.
   * @throws what `apply` throws
   * @throws {EditConflictError} while a person edits the file
   * @throws {WritesUnavailableError} when nothing can be committed now; the message says so where the change is saved all the same
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
   * Moves the branch to a commit that `prepare` makes for the tip it is given; undefined is no move. It is called again,
   * with the index locked, when the tip has moved. Returns the new tip.
   * @throws what `prepare` throws
   * @throws {WritesUnavailableError} when the branch cannot be moved now
   */
  async move(
    prepare: (repository: Repository, tip: string) => Promise<BranchMove | undefined>,
  ): Promise<string> {
    const repository = await this.#options.repositoryOpener.open();
    let tip = await tipOf(repository);
    let move = await prepare(repository, tip);
    const work = async (writer: BranchWriter): Promise<string> => {
      ensureNoOperation(writer.repository);
      const now = await tipOf(writer.repository);
      if (now !== tip) move = await prepare(writer.repository, (tip = now));
      if (move === undefined) return tip;
      await writer.moveBranch(tip, move);
      return move.commit;
    };
    return await this.#queue.run(async () => await this.#locked(work));
  }

  /** Commits what was asked for, and ends. */
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
      answer(batch, await this.#locked(async (writer) => await writer.commitBatch(edits)));
    } catch (error) {
      const unavailable = unavailableBecause(error);
      if (this.#reasons.begins(unavailable.message))
        this.#options.log.error({ err: error }, unavailable.message);
      for (const { reject } of batch) reject(unavailable);
    }
    this.#waiting = this.#waiting.slice(batch.length);
    if (this.#waiting.length > 0) void this.#queue.run(async () => await this.#commitWaiting());
  }

  /** Waits while the senders of the last batch send their next change: alone, the first of them would be a batch of its own. */
  async #gather(): Promise<void> {
    // What comes in the same turn of the event loop is in the first batch together.
    await Promise.resolve();
    for (let seen = 0; this.#waiting.length < this.#lastSize && this.#waiting.length > seen;) {
      seen = this.#waiting.length;
      await sleep(5);
    }
  }

  /** Does `work` with the index locked. What may work again is tried again. */
  async #locked<T>(work: (writer: BranchWriter) => Promise<T>): Promise<T> {
    const writer = await this.#open();
    const { repository } = writer;
    // A rebase, which needs the lock itself, must not meet ours for a change that is refused anyway.
    repository.branch();
    try {
      return await withIndexLock(repository, lockPatience, async () => {
        for (let attempt = 1; ; attempt++) {
          try {
            return await work(writer);
          } catch (error) {
            if (attempt >= attempts || !(await this.#canRetry(repository, error))) throw error;
            this.#options.log.debug({ attempt }, `trying again: ${String(error)}`);
          }
        }
      });
    } finally {
      this.#tidyIn(1000);
    }
  }

  /** A branch that has moved is planned on again; so is a git that was killed, once the locks it left are gone. */
  async #canRetry(repository: Repository, error: unknown): Promise<boolean> {
    if (error instanceof RefConflictError) return true;
    const cause = error instanceof WritesUnavailableError ? error.cause : error;
    return await canRetry(repository, refsOf(repository), cause, this.#options.log);
  }

  /** The writer to the repository, which has finished what a crash left there. */
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
    await cleanUpAfterCrash(repository, refsOf(repository), log);
    writer.outdated.add(left, 'was left by a crash');
    this.#writer = writer;
    try {
      await withIndexLock(repository, lockPatience, async () => await writer.outdated.finish(true));
    } catch (error) {
      log.warn({ err: error }, `files that a crash has left are finished later: ${messageOf(error)}`);
    }
    this.#tidyIn(0);
    return writer;
  }

  /** Has `#tidy` run in so many milliseconds, or when it is to run already. */
  #tidyIn(delay: number): void {
    if (this.#closed) return;
    this.#timer ??= setTimeout(() => {
      this.#tidying = this.#tidy().then((isDone) => {
        this.#timer = undefined;
        if (!isDone) this.#tidyIn(5000);
      });
    }, delay).unref();
  }

  /** Finishes what could not be finished, and shortens the intent log. False when there is something left to do. */
  async #tidy(): Promise<boolean> {
    const writer = this.#writer;
    if (writer === undefined) return true;
    const { repository, intents, outdated } = writer;
    try {
      const synced = await intents.syncFiles();
      return await this.#queue.run(async () => {
        if (outdated.size > 0) await withIndexLock(repository, 0, async () => await outdated.finish());
        await intents.shorten(synced, outdated.changes());
        return outdated.size === 0;
      });
    } catch (error) {
      this.#options.log.debug({ err: error }, `index and work tree are finished later: ${messageOf(error)}`);
      return false;
    }
  }
}

/** A change whose sender waits. */
interface QueuedEdit {
  readonly edit: TextEdit;
  readonly resolve: (commit: string | null) => void;
  readonly reject: (error: unknown) => void;
}

function answer(batch: readonly QueuedEdit[], { outcomes, commit, doubt }: BatchResult): void {
  for (const [i, { resolve, reject }] of batch.entries()) {
    const outcome = outcomes[i];
    if (outcome?.kind === 'refused') reject(outcome.error);
    else if (doubt) reject(doubt);
    else resolve(outcome?.kind === 'written' ? commit : null);
  }
}

/** Changes in one commit, at most. */
const batchSize = 1000;

/** Milliseconds that a batch waits for a person's git to release index.lock. */
const lockPatience = 5000;

/** A batch that meets as many moves of the branch, or kills of git, is given up: people's scripts commit fast, too. */
const attempts = 30;

/** @throws {WritesUnavailableError} */
async function tipOf(repository: Repository): Promise<string> {
  const tip = await readRef(repository, repository.branch());
  if (tip === null) throw new WritesUnavailableError('the branch has no commit yet: make the first one');
  return tip;
}

function refsOf(repository: Repository): string[] {
  try {
    return [stateRef, repository.branch()];
  } catch {
    return [stateRef];
  }
}
