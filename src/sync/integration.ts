import { WritesUnavailableError } from '../bot/errors.ts';
import { parsePagePath } from '../catalogue/page/layout.ts';
import type { Log } from '../lib/log.ts';
import type { BranchMove } from '../git/commit/branch-writer.ts';
import { DiffLimitError, diffTrees } from '../git/diff.ts';
import { readRef } from '../git/refs.ts';
import type { Committer } from '../git/commit/committer.ts';
import { countCommits, hasCommit, mergeBase } from '../git/history.ts';
import { mergeBranches, replayOnto } from './merge-branches.ts';
import { remoteRefs, setRefs } from './remote.ts';
import { type DroppedEdit, formatDroppedEdit } from './dropped-edits.ts';
import type { Repository } from '../git/repository.ts';
import { listFiles } from '../git/tree-listing.ts';
import { formatCount } from '../lib/counted.ts';

export interface IntegrationOptions {
  readonly committer: Pick<Committer<never>, 'move'>;
  readonly log: Log;
  /** Gets what a merge has set aside of files that are not pages of bots. */
  readonly onSideFilesDropped?: (edits: readonly DroppedEdit[]) => void;
  /** Whether this clone has nothing of its own: its branch becomes the remote's, whatever that is. */
  readonly followsOnly?: boolean;
}

/**
 * Integrates the fetched tip of the remote's branch into the checked-out one: fast-forwards to it, merges it, or replays
 * our commits on it if it was rewritten. A clone that follows only resets its branch to it.
 * @param theirs the tip, null where the remote has no such branch
 * @throws {WritesUnavailableError} when that cannot or must not be done
 * @throws {GitError}
 */
export async function integrate(
  repository: Repository,
  theirs: string | null,
  options: IntegrationOptions,
): Promise<void> {
  if (theirs === null) {
    if ((await readRef(repository, remoteRefs.base)) === null) return;
    throw new WritesUnavailableError(branchGone);
  }
  const move = await options.committer
    .move(async (repository, ours) => await planMove(repository, ours, theirs, options.followsOnly))
    .catch((error: unknown) => {
      throw error instanceof DiffLimitError
        ? new WritesUnavailableError(`${error.message}: ${tooManyFiles}`)
        : error;
    });
  if (move) {
    report(move, options.log);
    options.onSideFilesDropped?.(
      move.droppedEdits.filter(({ path }) => !parsePagePath(path, repository.prefix)),
    );
  }
  if ((await readRef(repository, remoteRefs.base)) !== theirs)
    await setRefs(repository, new Map([[remoteRefs.base, theirs]]));
}

async function planMove(
  repository: Repository,
  ours: string,
  theirs: string,
  followsOnly = false,
): Promise<LoggedMove | undefined> {
  const base = await readRef(repository, remoteRefs.base);
  const refs = new Map([[remoteRefs.base as string, theirs]]);
  const former = `the former branch is at ${remoteRefs.rewritten}`;
  if (followsOnly && !(await hasCommit(repository, theirs, ours))) {
    const message = `the remote's branch was rewritten, or this clone had commits of its own: reset to the remote's; ${former}`;
    refs.set(remoteRefs.rewritten, ours);
    return { commit: theirs, refs, isRewrite: true, message, droppedEdits: [] };
  }
  if (
    base !== null &&
    !(await hasCommit(repository, theirs, base)) &&
    (await hasCommit(repository, ours, base))
  ) {
    if (!(await isSameCatalogue(repository, base, theirs))) throw new WritesUnavailableError(unrelated);
    const { commit, droppedEdits } = await replayOnto(repository, { base, ours, theirs });
    const message = `the remote's branch was rewritten: replayed the commits that were not pushed yet; ${former}`;
    return { commit, refs: refs.set(remoteRefs.rewritten, ours), isRewrite: true, message, droppedEdits };
  }
  if (await hasCommit(repository, ours, theirs)) return undefined;
  const commits = await countCommits(repository, [theirs], [ours]);
  if (await hasCommit(repository, theirs, ours)) {
    const files = (await diffTrees(repository, ours, theirs)).length;
    const message = `fast-forwarded to the remote's branch (${formatCount(commits, 'commit')}, ${formatCount(files, 'file')})`;
    return { commit: theirs, refs, isRewrite: false, message, droppedEdits: [] };
  }
  const parted = await mergeBase(repository, ours, theirs);
  if (parted === undefined) throw new WritesUnavailableError(unrelated);
  const { commit, droppedEdits } = await mergeBranches(repository, { base: parted, ours, theirs });
  const message = `merged the remote's branch (${formatCount(commits, 'commit')}), the merge is pushed next`;
  return { commit, refs, isRewrite: false, message, droppedEdits };
}

function report({ commit, isRewrite, message, droppedEdits }: LoggedMove, log: Log): void {
  if (isRewrite) log.warn({ commit }, message);
  else log.info({ commit }, message);
  for (const change of droppedEdits) {
    const sentence = formatDroppedEdit(change);
    if (change.because === 'a later post changed the same') log.info({ ...change, commit }, sentence);
    else log.warn({ ...change, commit }, sentence);
  }
}

/** A move of the branch, with what is logged once it is made. */
interface LoggedMove extends BranchMove {
  readonly isRewrite: boolean;
  readonly message: string;
  readonly droppedEdits: readonly DroppedEdit[];
}

/** Returns whether two commits have a commit, or at least an unchanged page, in common. */
async function isSameCatalogue(repository: Repository, a: string, b: string): Promise<boolean> {
  if ((await mergeBase(repository, a, b)) !== undefined) return true;
  const files = await listFiles(repository, a);
  const changed = new Set((await diffTrees(repository, a, b)).map(({ path }) => path));
  return files.some(({ path }) => parsePagePath(path, repository.prefix) && !changed.has(path));
}

const branchGone =
  'the remote has no such branch any more: push it there again, or set BOTSHELF_BRANCH to another one';

const tooManyFiles = `stop the service, run "git merge ${remoteRefs.branch}" in its clone, and start it`;

const unrelated =
  "the remote's branch has no commit in common with this clone: set BOTSHELF_REMOTE to the repository it is a clone of";
