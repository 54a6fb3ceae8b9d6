import { setTimeout as sleep } from 'node:timers/promises';
import { WritesUnavailableError } from '../../bot/errors.ts';
import { failpoint } from '../../lib/failpoint.ts';
import { messageOf } from '../../lib/errors.ts';
import { fsyncFolders } from '../../lib/fsync.ts';
import type { Repository } from '../repository.ts';
import { type BatchPlan, type TextEdit, planBatch } from './batch-plan.ts';
import { inspect, type Inspection, prepareCheckout } from './checkout.ts';
import { commitMessage } from './commit-message.ts';
import { importCommit, toPackFolder } from './fast-import.ts';
import type { CommitEvents } from '../commit-events.ts';
import { diffTrees, type FileChange } from '../file-change.ts';
import { IntentLog } from './intent-log.ts';
import { listRefFolders, readRef, UnknownOutcomeError, updateRefs } from '../refs.ts';
import { readCurrentFile, readTipEntries } from './tip-files.ts';
import { OutdatedPaths, type OutdatedPathsOptions } from './outdated-paths.ts';

/** A move of the branch to an existing commit, such as a merge. */
export interface BranchMove {
  readonly commit: string;
  /** Refs that move in the same transaction: ref → commit. */
  readonly refs: ReadonlyMap<string, string>;
}

export interface BranchWriterOptions extends OutdatedPathsOptions {
  readonly commits: CommitEvents;
}

export interface BatchResult extends BatchPlan {
  /** Null where nothing had to be committed. */
  readonly commit: string | null;
  /** Set where the disk did not confirm the commit: a power loss may undo it. */
  readonly durabilityError: WritesUnavailableError | undefined;
}

/**
 * Moves the checked-out branch, and index and work tree with it. Call its methods one at a time, with the index locked.
 */
export class BranchWriter {
  readonly repository: Repository;
  readonly intents: IntentLog;
  readonly outdated: OutdatedPaths;
  readonly #options: BranchWriterOptions;
  /** Folders of Git in which a name may not survive a power loss, as their fsync failed. */
  readonly #unsynced = new Set<string>();

  constructor(repository: Repository, options: BranchWriterOptions) {
    this.repository = repository;
    this.intents = new IntentLog(repository);
    this.outdated = new OutdatedPaths(repository, options);
    this.#options = options;
  }

  /**
   * Makes one commit of many edits.
   * @throws {RefConflictError} {GitError} or a system error: nothing was committed
   * @throws {UnknownOutcomeError}
   */
  async commitBatch(batch: readonly TextEdit[]): Promise<BatchResult> {
    const { repository, outdated } = this;
    const branch = repository.branch();
    const tip = await readRef(repository, branch);
    const edits = batch.map((edit) => ({
      subject: edit.subject,
      path: repository.prefix + edit.path,
      apply: edit.apply.bind(edit),
    }));

    const paths = [...new Set(edits.map(({ path }) => path))];
    await outdated.retry(paths);
    const looking = inspect(repository, paths, true);
    const [entries, inspection] = await Promise.all([readTipEntries(repository, tip, paths), looking]);
    const files = paths.map((path) => {
      const entry = entries.get(path) ?? null;
      return [path, readCurrentFile(path, entry, inspection, outdated.failureOf(path))] as const;
    });
    const plan = planBatch(edits, new Map(files), repository.hash);
    const { changes, contents } = plan;
    if (changes.length === 0) return { ...plan, commit: null, durabilityError: await this.#confirm([]) };

    const message = commitMessage(
      plan.outcomes.flatMap((outcome) => (outcome.kind === 'written' ? [outcome.subject] : [])),
    );
    const moved = await this.#advance({ branch, changes, contents, inspection }, async () => {
      const files = new Map(
        changes.map(({ path, after }) => {
          const content = contents.get(path);
          return [path, after && content ? { ...after, content } : after];
        }),
      );
      return await importCommit(repository, { ref: branch, onto: tip, message, urgent: true, files });
    });
    return { ...plan, ...moved };
  }

  /**
   * Moves the branch to an existing commit, and other refs with it.
   * @param tip the present tip of the branch
   * @throws as commitBatch does, and {WritesUnavailableError} when the disk did not confirm it
   */
  async moveBranch(tip: string, { commit, refs }: BranchMove): Promise<void> {
    const { repository } = this;
    const branch = repository.branch();
    const changes = await diffTrees(repository, tip, commit);
    const inspection = await inspect(
      repository,
      changes.map(({ path }) => path),
    );
    const updates = new Map([[branch, { from: tip as string | null, to: commit }]]);
    for (const [ref, to] of refs) updates.set(ref, { from: await readRef(repository, ref), to });
    const advance = { branch, changes, contents: undefined, inspection };
    const { durabilityError } = await this.#advance(advance, async () => {
      await updateRefs(repository, updates);
      return commit;
    });
    if (durabilityError) throw durabilityError;
  }

  /**
   * Runs the steps of a batch or a merge. Once the branch has moved nothing is undone: what fails after that is
   * retried, and never reported as a change that was not made.
   */
  async #advance(
    { branch, changes, contents, inspection }: Advance,
    moveBranch: () => Promise<string>,
  ): Promise<Pick<BatchResult, 'durabilityError'> & { readonly commit: string }> {
    const { repository, intents, outdated } = this;
    failpoint('advance.before-intent');
    await intents.append(changes);
    const { commits, isExcluded } = this.#options;
    const checkout = prepareCheckout(repository, changes, inspection, {
      isExcluded,
      ...(contents && { contents }),
    });
    let commit: string;
    try {
      failpoint('advance.before-branch');
      commit = await moveBranch();
    } catch (error) {
      await checkout.discard();
      if (error instanceof UnknownOutcomeError) outdated.add(changes, 'may be committed');
      throw error;
    }
    failpoint('advance.after-branch');
    // Own edits are served before the files are written: the watcher then sees nothing new. A merge is read from its files.
    const event = { ref: 'branch', commit, changes, contents } as const;
    if (contents) commits.publish(event);
    outdated.add(changes, await checkout.apply());
    failpoint('advance.after-checkout');
    // A person may have switched branches since: then index and work tree must be as on the other branch.
    if (!isCheckedOut(repository, branch)) outdated.add(changes, 'is of a branch that is not checked out');
    await outdated.retry(changes.map(({ path }) => path));
    if (!contents) commits.publish(event);
    const durabilityError = await this.#confirm([
      toPackFolder(repository),
      ...listRefFolders(repository, branch),
    ]);
    return { commit, durabilityError };
  }

  /** Makes names in Git's folders durable, or returns why that failed: then no change counts as saved. */
  async #confirm(folders: readonly string[]): Promise<WritesUnavailableError | undefined> {
    for (const folder of folders) this.#unsynced.add(folder);
    for (let attempt = 1; ; attempt++) {
      try {
        await fsyncFolders(this.#unsynced);
        this.#unsynced.clear();
        return undefined;
      } catch (error) {
        if (attempt === 4) return this.#unconfirmed(error);
        await sleep(20 * 2 ** attempt);
      }
    }
  }

  #unconfirmed(error: unknown): WritesUnavailableError {
    const message = 'the change is saved in Git, but the disk did not confirm it: send it again';
    this.#options.log.error({ err: error }, `${message} (${messageOf(error)})`);
    return new WritesUnavailableError(message, 'stated', error);
  }
}

/** A move of the branch, and its changes of files. */
interface Advance {
  readonly branch: string;
  readonly changes: readonly FileChange[];
  readonly contents: ReadonlyMap<string, Buffer> | undefined;
  readonly inspection: Inspection;
}

function isCheckedOut(repository: Repository, branch: string): boolean {
  try {
    return repository.branch() === branch;
  } catch {
    return false;
  }
}
