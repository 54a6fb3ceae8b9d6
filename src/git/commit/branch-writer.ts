import { WritesUnavailableError } from '../../bot/errors.ts';
import { messageOf } from '../../lib/errors.ts';
import { fsyncFolders } from '../../lib/fsync.ts';
import type { Log } from '../../lib/log.ts';
import { retry } from '../../lib/retry.ts';
import { waitForOrphans, wasKilled } from '../leftovers.ts';
import type { CommitEvents } from '../commit-events.ts';
import { diffTrees } from '../diff.ts';
import { listRefFolders, readRef, updateRefs } from '../refs.ts';
import type { Repository } from '../repository.ts';
import { findTreeEntries } from '../tree-listing.ts';
import type { UpdatePlan, WorkTree } from '../work-tree/work-tree.ts';
import { type BatchPlan, type Editor, type FileEdit, planBatch, readCurrentFile } from './batch-plan.ts';
import { importCommit, toPackFolder } from './fast-import.ts';

/** A move of the branch to an existing commit, such as a merge. */
export interface BranchMove {
  readonly commit: string;
  /** Refs that move in the same transaction: ref → commit, null to delete it. */
  readonly refs: ReadonlyMap<string, string | null>;
  /** The new bytes by path, where they are in memory: then they are served at once. */
  readonly contents?: ReadonlyMap<string, Buffer>;
}

export interface BranchWriterOptions<E extends FileEdit> {
  readonly editor: Editor<E>;
  readonly commits: CommitEvents;
  readonly log: Log;
}

export interface BatchResult extends Pick<BatchPlan, 'outcomes'> {
  /** Null where nothing had to be committed. */
  readonly commit: string | null;
  /** Set where the disk did not confirm the commit: a power loss may undo it. */
  readonly durabilityError: WritesUnavailableError | undefined;
}

/** Moves the checked-out branch, and the work tree with it. Call its methods one at a time, with the work tree locked. */
export class BranchWriter<E extends FileEdit> {
  readonly repository: Repository;
  readonly workTree: WorkTree;
  readonly #options: BranchWriterOptions<E>;
  /** Folders of Git in which a name may not survive a power loss, as their fsync failed. */
  readonly #unsynced = new Set<string>();

  constructor(repository: Repository, workTree: WorkTree, options: BranchWriterOptions<E>) {
    this.repository = repository;
    this.workTree = workTree;
    this.#options = options;
  }

  /**
   * Makes one commit of many edits.
   * @throws {RefConflictError} {GitError} or a system error: nothing was committed
   * @throws {UnknownOutcomeError}
   */
  async commitBatch(edits: readonly E[]): Promise<BatchResult> {
    const { repository, workTree } = this;
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
    const { changes, files, contents, message, outcomes } = plan;
    if (changes.length === 0) return { outcomes, commit: null, durabilityError: await this.#confirm() };
    const commit = await this.#advance(
      { branch, changes, contents, seen },
      async () => await importCommit(repository, { ref: branch, onto: tip, message, urgent: true, files }),
    );
    return { outcomes, commit, durabilityError: await this.#confirm() };
  }

  /**
   * Moves the branch to an existing commit, and other refs with it.
   * @param tip the present tip of the branch
   * @throws as commitBatch does, and {WritesUnavailableError} when the disk did not confirm it
   */
  async moveBranch(tip: string, { commit, refs, contents }: BranchMove): Promise<void> {
    const { repository, workTree } = this;
    const branch = repository.branch();
    const changes = await diffTrees(repository, tip, commit);
    const paths = changes.map(({ path }) => path);
    const seen = await workTree.inspect(paths, false);
    const updates = new Map<string, { from: string | null; to: string | null }>();
    updates.set(branch, { from: tip, to: commit });
    for (const [ref, to] of refs) updates.set(ref, { from: await readRef(repository, ref), to });
    await this.#advance({ branch, changes, seen, ...(contents && { contents }) }, async () => {
      await updateRefs(repository, updates).catch(async (error: unknown) => {
        if (!wasKilled(error)) throw error;
        // A git whose runner was killed goes on, and may have moved them after it was read.
        await waitForOrphans(repository);
        await updateRefs(repository, updates);
      });
      return commit;
    });
    // Synced after those of the branch: a power loss must not leave a proposal accepted that the branch does not have.
    for (const ref of refs.keys())
      for (const folder of listRefFolders(repository, ref)) this.#unsynced.add(folder);
    const durabilityError = await this.#confirm();
    if (durabilityError) throw durabilityError;
  }

  /**
   * Moves the branch and updates the work tree. Once the branch has moved nothing is undone: what fails after that is
   * retried, and never reported as a change that was not made.
   */
  async #advance(plan: UpdatePlan, moveBranch: () => Promise<string>): Promise<string> {
    const { repository, workTree } = this;
    const { branch, changes, contents } = plan;
    const update = await workTree.prepare(plan);
    const commit = await moveBranch().catch(async (error: unknown) => {
      await workTree.abandon(update, error);
      throw error;
    });
    for (const folder of [toPackFolder(repository), ...listRefFolders(repository, branch)])
      this.#unsynced.add(folder);
    await workTree.apply(update);
    this.#options.commits.publish({ ref: 'branch', commit, changes, contents });
    return commit;
  }

  /** Makes names in Git's folders durable, or returns why that failed: then no change counts as saved. */
  async #confirm(): Promise<WritesUnavailableError | undefined> {
    try {
      await retry(async () => await fsyncFolders(this.#unsynced), {
        maxAttempts: 4,
        delay: (attempt) => 20 * 2 ** attempt,
      });
      this.#unsynced.clear();
      return undefined;
    } catch (error) {
      const message = 'the change is saved in Git, but the disk did not confirm it: send it again';
      this.#options.log.error({ err: error }, `${message} (${messageOf(error)})`);
      return new WritesUnavailableError(message, 'stated', error);
    }
  }
}
