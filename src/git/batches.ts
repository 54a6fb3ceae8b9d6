import { WritesUnavailable } from '../bot/errors.ts';
import { failpoint } from '../failpoint.ts';
import type { Log } from '../log.ts';
import { type BatchPlan, type Change, planBatch } from './batch-plan.ts';
import { commitMessage } from './commit-message.ts';
import { importCommit } from './fast-import.ts';
import { pendingEdit } from './pending-edit.ts';
import type { Repository } from './repository.ts';
import type { Settler } from './settler.ts';
import { readTipFiles } from './tip-files.ts';
import { pathsInConflict } from './under-way.ts';

/** What became of a change. */
export interface Changed {
  /** The commit that holds it, null where the text was as wanted already. */
  readonly commit: string | null;
  /** The file's text with the change made. */
  readonly text: string;
}

/** A change that somebody waits for. */
export interface Waiting {
  readonly change: Change;
  readonly resolve: (changed: Changed) => void;
  readonly reject: (error: unknown) => void;
}

export interface BatchesOptions {
  readonly settler: Settler;
  readonly log: Log;
  /** Asks for a change once more, in a commit of its own. */
  readonly again: (change: Change) => Promise<Changed>;
  /** Told after every batch, with how many changes were in it. */
  readonly committed: (changes: number) => void;
}

/** Makes one commit of many changes; its files follow while the next one is being made. */
export class Batches {
  readonly #options: BatchesOptions;
  #following: Promise<void> = Promise.resolve();

  constructor(options: BatchesOptions) {
    this.#options = options;
  }

  /** Resolves when the work tree has what was committed, and everybody in the batches has an answer. */
  async followed(): Promise<void> {
    await this.#following;
  }

  /**
   * Commits the changes on top of the branch that is checked out, and answers those who wait for them.
   * @throws {TipMoved} {GitExit} a system error: nothing was committed, and nobody was answered
   */
  async commit(repository: Repository, batch: readonly Waiting[]): Promise<void> {
    const { settler } = this.#options;
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
    const again = await settler.takenBack(repository, tip, files);
    const planned = planBatch([...again, ...changes], files, repository.hash);
    const plan = { ...planned, outcomes: planned.outcomes.slice(again.length) };
    if (plan.edits.length === 0) {
      answer(batch, plan, null);
      return;
    }
    failpoint('batch.before-note');
    const end = await settler.begin(plan.edits);
    let commit: string;
    try {
      commit = await importPlan(repository, { branch, tip, plan: planned });
    } catch (error) {
      end();
      throw error;
    }
    // The work tree follows while the next batch is being committed, but never the one after the next.
    await this.#following;
    this.#following = this.#follow(repository, { batch, changes, plan, branch, commit }).finally(end);
  }

  async #follow({ prefix }: Repository, { batch, changes, plan, branch, commit }: Committed): Promise<void> {
    const { settler, log, committed } = this.#options;
    const again = async (change: Change): Promise<Changed> =>
      await this.#options.again({ ...change, path: change.path.slice(prefix.length) });
    const pending = plan.edits.map((edit) => pendingEdit(edit, commit, changes, again, log));
    const contents = new Map(plan.edits.map((edit) => [edit.path, { ...edit, id: edit.after }]));
    await settler.committed(pending, contents, branch);
    failpoint('batch.after-worktree');
    answer(batch, plan, commit);
    committed(batch.length);
  }
}

interface Planned {
  readonly branch: string;
  readonly tip: string | null;
  readonly plan: BatchPlan;
}

interface Committed {
  readonly batch: readonly Waiting[];
  /** Its changes, with paths from the top of the repository. */
  readonly changes: readonly Change[];
  readonly plan: BatchPlan;
  readonly branch: string;
  readonly commit: string;
}

async function importPlan(repository: Repository, { branch, tip, plan }: Planned): Promise<string> {
  failpoint('batch.before-import');
  const subjects = plan.outcomes.flatMap((outcome) => (outcome.kind === 'written' ? [outcome.subject] : []));
  const commit = await importCommit(repository, {
    ref: branch,
    onto: tip,
    identity: repository.identity,
    time: Math.floor(Date.now() / 1000),
    message: commitMessage(subjects),
    urgent: true,
    files: new Map(plan.edits.map((edit) => [edit.path, { ...edit, id: edit.after }])),
  });
  failpoint('batch.after-import');
  return commit;
}

function answer(batch: readonly Waiting[], plan: BatchPlan, commit: string | null): void {
  for (const [i, { resolve, reject }] of batch.entries()) {
    const outcome = plan.outcomes[i];
    if (outcome === undefined) continue;
    if (outcome.kind === 'refused') reject(outcome.error);
    else resolve({ commit: outcome.kind === 'written' ? commit : null, text: outcome.text });
  }
}
