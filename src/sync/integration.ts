import { EditConflictError, WritesUnavailableError } from '../bot/errors.ts';
import type { Log } from '../log.ts';
import type { BranchMove } from '../git/commit/branch-writer.ts';
import { diffTrees } from '../git/file-change.ts';
import { readRef } from '../git/refs.ts';
import type { Committer } from '../git/commit/committer.ts';
import { hasCommit, mergeBase } from '../git/history.ts';
import { botOf, mergeBranches, type Merged, replayOnto } from './merge-branches.ts';
import { remoteRefs, setRefs } from './remote-refs.ts';
import type { Repository, RepositoryOpener } from '../git/repository.ts';
import { planTouchEdited } from './touch-edited.ts';
import { listFiles } from '../git/tree-listing.ts';

export interface IntegrationOptions {
  readonly repositoryOpener: RepositoryOpener;
  readonly committer: Committer;
  readonly log: Log;
}

/** Brings what the remote's branch has into the branch that is checked out, and stamps what people changed there. */
export class Integration {
  readonly #options: IntegrationOptions;

  constructor(options: IntegrationOptions) {
    this.#options = options;
  }

  /**
   * Takes in the remote's branch, as it was fetched; null where the remote has no such branch.
   * @throws {WritesUnavailableError} when that cannot or must not be done
   * @throws {GitError}
   */
  async integrate(theirs: string | null): Promise<void> {
    const repository = await this.#options.repositoryOpener.open();
    if (theirs === null) {
      if ((await readRef(repository, remoteRefs.base)) === null) return;
      throw new WritesUnavailableError(branchGone);
    }
    await this.#options.committer.move(
      async (repository, ours) => await this.#moveOf(repository, ours, theirs),
    );
    if ((await readRef(repository, remoteRefs.base)) !== theirs) {
      await setRefs(repository, new Map([[remoteRefs.base, theirs]]));
    }
    await this.#touchEdited(repository, theirs);
  }

  async #moveOf(repository: Repository, ours: string, theirs: string): Promise<BranchMove | undefined> {
    const { log } = this.#options;
    const base = await readRef(repository, remoteRefs.base);
    const refs = new Map([[remoteRefs.base as string, theirs]]);
    if (
      base !== null &&
      !(await hasCommit(repository, theirs, base)) &&
      (await hasCommit(repository, ours, base))
    ) {
      if (!(await isSameCatalogue(repository, base, theirs))) throw new WritesUnavailableError(unrelated);
      const merged = await replayOnto(repository, { base, ours, theirs });
      log.warn(
        { before: ours, after: merged.commit },
        `the remote's branch was rewritten: it is followed, with what was not pushed yet on top; the branch as it was is at ${remoteRefs.rewritten}`,
      );
      this.#tell(merged);
      return { commit: merged.commit, refs: refs.set(remoteRefs.rewritten, ours) };
    }
    if (await hasCommit(repository, ours, theirs)) return undefined;
    if (await hasCommit(repository, theirs, ours)) {
      log.info({ commit: theirs }, 'took in what the remote has');
      return { commit: theirs, refs };
    }
    const parted = await mergeBase(repository, ours, theirs);
    if (parted === undefined) throw new WritesUnavailableError(unrelated);
    const merged = await mergeBranches(repository, { base: parted, ours, theirs });
    log.info({ commit: merged.commit }, 'merged what the remote has');
    this.#tell(merged);
    return { commit: merged.commit, refs };
  }

  #tell({ commit, setAside }: Merged): void {
    const { log } = this.#options;
    for (const change of setAside) {
      const { path, what, of, because } = change;
      const whose = of === 'ours' ? 'from this clone' : 'from the remote';
      const sentence = `set aside ${JSON.stringify(what)} ${whose} in ${JSON.stringify(path)}, as ${because}; it stays in the history`;
      if (because === 'a later post changed the same') log.info({ ...change, commit }, sentence);
      else log.warn({ ...change, commit }, sentence);
    }
  }

  /** Where nothing was ever taken in there is nothing to stamp: that history is as people wanted it. */
  async #touchEdited(repository: Repository, theirs: string): Promise<void> {
    const { committer, log } = this.#options;
    const from = await readRef(repository, remoteRefs.touched);
    if (from === theirs) return;
    if (from !== null && (await hasCommit(repository, theirs, from))) {
      const changes = await planTouchEdited(repository, from, theirs);
      const results = await Promise.allSettled(changes.map(async (edit) => await committer.commit(edit)));
      const failures = results.flatMap((result) =>
        result.status === 'rejected' ? [result.reason as unknown] : [],
      );
      const failure = failures.find((reason) => !(reason instanceof EditConflictError));
      if (failure !== undefined) throw failure;
      // Where a person edits the file in this clone it is tried again at the next round.
      if (failures.length > 0) return;
      if (changes.length > 0) log.info({ bots: changes.length }, 'stamped the bots that people have changed');
    }
    await setRefs(repository, new Map([[remoteRefs.touched, theirs]]));
  }
}

/** Whether two commits have a commit, or at least an unchanged page, in common. */
async function isSameCatalogue(repository: Repository, a: string, b: string): Promise<boolean> {
  if ((await mergeBase(repository, a, b)) !== undefined) return true;
  const files = await listFiles(repository, a);
  const moved = new Set((await diffTrees(repository, a, b)).map(({ path }) => path));
  return files.some(({ path }) => botOf(repository, path) !== undefined && !moved.has(path));
}

const branchGone =
  'the remote has no such branch any more: push it there again, or set BOTSHELF_BRANCH to another one';

const unrelated =
  "the remote's branch has no commit in common with this clone: set BOTSHELF_REMOTE to the repository it is a clone of";
