import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { WritesUnavailable } from '../bot/errors.ts';
import { failpoint } from '../failpoint.ts';
import type { Log } from '../log.ts';
import { type BatchPlan, type Change, type FileEdit, planBatch } from './batch-plan.ts';
import { commitMessage } from './commit-message.ts';
import { clearAfterCrash, clearDeadLocks } from './dead-locks.ts';
import { importCommit, TipMoved } from './fast-import.ts';
import { GitExit } from './git-exit.ts';
import { mergeEdit } from './merge-edit.ts';
import { type Repository, type RepositoryDoor, unavailableBecause } from './repository.ts';
import { type Pending, Settler } from './settler.ts';
import { stateRef } from './state-ref.ts';
import { readTipFiles } from './tip-files.ts';
import { UnsettledNote } from './unsettled.ts';

/** What became of a change. */
export interface Changed {
  /** The commit that holds it, null where the text was as wanted already. */
  readonly commit: string | null;
  /** The file's text with the change made. */
  readonly text: string;
}

export interface CommitterOptions {
  readonly door: RepositoryDoor;
  /** The folder for what is not in Git. */
  readonly var: string;
  readonly log: Log;
  /** Told after every commit, with how many changes are in it. */
  readonly committed?: (changes: number) => void;
}

/**
 * Commits changes of files to the branch that is checked out. While a batch is being committed the next one
 * gathers; a batch is one commit. Work tree and Git's index follow the commit (settler.ts).
 */
export class Committer {
  readonly #options: CommitterOptions;
  readonly #note: UnsettledNote;
  readonly #settler: Settler;
  readonly #queue: Waiting[] = [];
  #running: Promise<void> | undefined;
  #following: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: CommitterOptions) {
    const { door, log } = options;
    this.#options = options;
    this.#note = new UnsettledNote(join(options.var, 'unsettled.ndjson'));
    this.#settler = new Settler(door, this.#note, log);
  }

  /** Whether work tree and index have everything that was committed. */
  get settled(): boolean {
    return this.#running === undefined && this.#settler.settled;
  }

  /**
   * Mends what a crash has left: locks, half-written packs, files and index entries that were not brought to
   * their commit. To be called once, before the first change. Where there is no repository there is nothing.
   */
  async recover(): Promise<void> {
    const { door, log } = this.#options;
    try {
      const repository = await door.open();
      const left = await this.#note.read();
      await clearAfterCrash(repository, this.#refs(repository), log);
      await this.#settler.recover(left.map((entry) => mergeEdit(repository, entry, log)));
    } catch (error) {
      log.warn({ err: error }, unavailableBecause(error).message);
    }
  }

  /**
   * Makes a change durable: resolves when it would survive a power loss.
   * @throws what `apply` throws
   * @throws {WritesUnavailable} when nothing can be committed now; nothing of the change has been written.
   */
  async change(change: Change): Promise<Changed> {
    if (this.#closed)
      throw new WritesUnavailable('the service is stopping: send the change again in a moment');
    return await new Promise((resolve, reject) => {
      this.#queue.push({ change, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Tries to bring work tree and index to the commits now. False when a person's git is at work. */
  async settle(): Promise<boolean> {
    return await this.#settler.settle();
  }

  /** Commits what was asked for, and lets go of everything. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    await this.#settler.close();
  }

  async #run(): Promise<void> {
    // What comes in the same turn of the event loop is in the first batch together.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, batchSize);
      try {
        await this.#commit(batch);
      } catch (error) {
        const unavailable = unavailableBecause(error);
        this.#options.log.error({ err: error }, unavailable.message);
        for (const { reject } of batch) reject(unavailable);
      }
      if (this.#queue.length === 0) await this.#following;
    }
    this.#running = undefined;
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    const { door, log } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#tryToCommit(await door.open(), batch);
        return;
      } catch (error) {
        if (attempt >= attempts || !(await this.#mayWorkAgain(error))) throw error;
        log.debug({ attempt }, `planning the batch again: ${String(error)}`);
      }
    }
  }

  async #tryToCommit(repository: Repository, batch: readonly Waiting[]): Promise<void> {
    const branch = repository.branch();
    const tip = (await repository.objects.readOne(branch))?.id ?? null;
    const changes = batch.map(({ change }) => ({
      ...change,
      apply: change.apply.bind(change),
      path: repository.prefix + change.path,
    }));
    const files = await readTipFiles(repository, tip, [...new Set(changes.map(({ path }) => path))]);
    for (const path of await pathsInConflict(repository)) {
      const file = files.get(path);
      const refusal = new WritesUnavailable(
        `${path} is in conflict in a merge that is under way: finish the merge`,
      );
      if (file) files.set(path, { ...file, refusal });
    }
    const again = await this.#settler.takenBack(repository, tip, files);
    const planned = planBatch([...again, ...changes], files, repository.hash);
    const plan = { ...planned, outcomes: planned.outcomes.slice(again.length) };
    if (plan.edits.length === 0) {
      answer(batch, plan, null);
      return;
    }
    const end = await this.#begin(plan);
    let commit: string;
    try {
      commit = await this.#import(repository, { branch, tip, plan: planned });
    } catch (error) {
      end();
      throw error;
    }
    if (tip !== null)
      await repository.trees.foresee(
        tip,
        plan.edits.map(({ path, after }) => [path, after]),
      );
    // The work tree follows while the next batch is being committed, but never the one after the next.
    await this.#following;
    this.#following = this.#follow({ batch, plan, branch, commit }).finally(end);
  }

  async #follow({ batch, plan, branch, commit }: Committed): Promise<void> {
    const pending = plan.edits.map((edit) => this.#pendingOf(edit, commit, batch));
    await this.#settler.committed(pending, plan.edits, branch);
    failpoint('batch.after-worktree');
    answer(batch, plan, commit);
    this.#options.committed?.(batch.length);
  }

  async #begin(plan: BatchPlan): Promise<() => void> {
    failpoint('batch.before-note');
    return await this.#settler.begin(plan.edits);
  }

  async #import(repository: Repository, { branch, tip, plan }: Planned): Promise<string> {
    failpoint('batch.before-import');
    const subjects = plan.outcomes.flatMap((outcome) =>
      outcome.kind === 'written' ? [outcome.subject] : [],
    );
    const commit = await importCommit(repository, {
      ref: branch,
      onto: tip,
      identity: repository.identity,
      time: Math.floor(Date.now() / 1000),
      message: commitMessage(subjects),
      files: new Map(plan.edits.map((edit) => [edit.path, edit])),
    });
    failpoint('batch.after-import');
    return commit;
  }

  #pendingOf(edit: FileEdit, commit: string, batch: readonly Waiting[]): Pending {
    const { door, log } = this.#options;
    const prefix = door.opened?.prefix ?? '';
    const { path, before, after } = edit;
    return {
      path,
      known: [before],
      after,
      commit,
      changes: batch.flatMap(({ change }) =>
        prefix + change.path === path ? [{ ...change, path, apply: change.apply.bind(change) }] : [],
      ),
      edit: async (current) => {
        try {
          return Buffer.from(edit.apply(current.toString()));
        } catch (error) {
          log.warn(
            { path, err: error },
            'the file has edits that our change cannot be made in: they are left as they are',
          );
          return undefined;
        }
      },
      again: () => {
        for (const { change } of batch) {
          if (change.path !== path.slice(prefix.length)) continue;
          this.change(change).catch((error: unknown) =>
            log.error(
              { path, err: error },
              'a change that was taken back by accident could not be made again',
            ),
          );
        }
      },
    };
  }

  /** A tip that moved is planned on anew; so is a git that was killed, once the locks it left are gone. */
  async #mayWorkAgain(error: unknown): Promise<boolean> {
    if (error instanceof TipMoved) return true;
    const exit = error instanceof WritesUnavailable ? error.cause : error;
    if (!(exit instanceof GitExit) || exit.notStarted) return false;
    const { door, log } = this.#options;
    const repository = door.opened;
    const cleared = repository ? await clearDeadLocks(repository, this.#refs(repository), log) : 0;
    return cleared > 0 || exit.exitCode === null;
  }

  #refs(repository: Repository): string[] {
    try {
      return [stateRef, repository.branch()];
    } catch {
      return [stateRef];
    }
  }
}

interface Waiting {
  readonly change: Change;
  readonly resolve: (changed: Changed) => void;
  readonly reject: (error: unknown) => void;
}

interface Planned {
  readonly branch: string;
  readonly tip: string | null;
  readonly plan: BatchPlan;
}

interface Committed {
  readonly batch: readonly Waiting[];
  readonly plan: BatchPlan;
  readonly branch: string;
  readonly commit: string;
}

/** Changes in one commit, at most. */
const batchSize = 1000;

/** A batch that meets as many moves of the tip, or kills of git, is given up. */
const attempts = 8;

function answer(batch: readonly Waiting[], plan: BatchPlan, commit: string | null): void {
  for (const [i, { resolve, reject }] of batch.entries()) {
    const outcome = plan.outcomes[i];
    if (outcome === undefined) continue;
    if (outcome.kind === 'refused') reject(outcome.error);
    else resolve({ commit: outcome.kind === 'written' ? commit : null, text: outcome.text });
  }
}

/** The files that a merge, cherry-pick or revert under way waits for a person to decide. */
async function pathsInConflict(repository: Repository): Promise<string[]> {
  const { gitDir } = repository;
  const underWay = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD'].some((name) =>
    existsSync(join(gitDir, name)),
  );
  if (!underWay) return [];
  const lines = await repository.run(['ls-files', '--unmerged', '-z']);
  return [...new Set(lines.split('\0').flatMap((line) => line.split('\t').slice(1)))];
}
