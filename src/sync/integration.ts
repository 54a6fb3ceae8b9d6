import { BotshelfError, isError } from '../lib/errors.ts';
import type { BotId } from '../bot/id.ts';
import { parseFilePath, parsePagePath } from '../catalogue/page/layout.ts';
import { readCommittedPages } from '../catalogue/page/page-file.ts';
import { parsePage } from '../catalogue/page/page.ts';
import { isMainPage } from '../catalogue/page/rules.ts';
import { type NewFile, writeCommit } from '../git/commit-files.ts';
import type { BranchMove, Committer } from '../git/branch/committer.ts';
import { countCommits, isAncestor, mergeBase } from '../git/history.ts';
import { diffTrees, type FileChange, type GitFile, readTreeId } from '../git/trees.ts';
import type { Repository } from '../git/repository.ts';
import { readRef } from '../git/refs.ts';
import type { Log } from '../lib/log.ts';
import { formatCount } from '../lib/text.ts';
import { isMergedByKey } from './key-merge.ts';
import {
  type DroppedEdit,
  formatDroppedEdit,
  type FileVersions,
  isFile,
  type MergedFiles,
  mergeFiles,
  type Sides,
  toCataloguePath,
  formatMergeMessage,
} from './merge-files.ts';
import {
  hasLostState,
  listLosses,
  markLoss,
  type RemoteBranch,
  remoteRefs,
  setRefs,
  toBaseRef,
  toMissingRef,
} from './remote.ts';
import { describeRewrite, toRewriteRef } from './rewrites.ts';

export interface IntegrationOptions {
  readonly committer: Pick<Committer<never>, 'move'>;
  readonly log: Log;
  /** Whether this clone has nothing of its own: its branch becomes the remote's, whatever that is. */
  readonly followsOnly?: boolean;
}

/** The remote's branch, with `baseRef` from before the fetch. */
export type FetchedBranch = Pick<RemoteBranch, 'address' | 'branch' | 'baseRef'>;

/**
 * Integrates the fetched tip of the remote's branch into the checked-out one: fast-forwards to it, merges it, or
 * replays our commits on it if it was rewritten. If the remote has lost commits, our branch stays, to be pushed again.
 * A clone that follows only resets its branch to it. Returns the edits that this set aside in files that are not pages of
 * bots.
 * @param theirs the tip, null if the remote has no such branch
 * @throws {BotshelfError} unavailable, when that cannot or must not be done
 * @throws {GitError}
 */
export async function integrate(
  repository: Repository,
  theirs: string | null,
  remote: FetchedBranch,
  options: IntegrationOptions,
): Promise<readonly DroppedEdit[]> {
  const missingRef = toMissingRef(remote);
  if (theirs === null) {
    const known = await readRef(repository, remoteRefs.branch);
    if (known === null) return [];
    await setRefs(repository, new Map([[missingRef, known]]));
    throw new BotshelfError('unavailable', branchGone);
  }
  const merged = new Map([
    [remote.baseRef, theirs],
    [remoteRefs.seenState, await readRef(repository, remoteRefs.state)],
    [missingRef, null],
  ]);
  const move = await options.committer
    .move(async (repository, ours) => {
      if (toBaseRef(repository) !== remote.baseRef) throw new BotshelfError('unavailable', otherBranch);
      const plan = await planMove(repository, remote, { ours, theirs }, options.followsOnly);
      return plan && { ...plan, refs: new Map([...merged, ...plan.refs]) };
    })
    .catch((error: unknown) => {
      throw isError(error, 'diff-too-large')
        ? new BotshelfError('unavailable', `${error.message}: ${tooManyFiles}`)
        : error;
    });
  if (move) report(move, options.log);
  await setRefs(repository, merged);
  return (move?.droppedEdits ?? []).filter(({ path }) => !parseFilePath(path, repository.prefix));
}

async function planMove(
  repository: Repository,
  remote: FetchedBranch,
  { ours, theirs }: Omit<Sides, 'base'>,
  followsOnly = false,
): Promise<LoggedMove | undefined> {
  const before = { ref: toRewriteRef(Date.now()), commit: ours };
  const refs = new Map([[before.ref, ours]]);
  if (followsOnly && !(await isAncestor(repository, ours, theirs))) {
    const message = `the remote's branch was rewritten, or this clone had commits of its own: reset to the remote's; the former branch is at ${before.ref}`;
    return { commit: theirs, refs, isWarning: true, message, droppedEdits: [] };
  }
  const base = (await readRef(repository, remote.baseRef)) ?? (await readForkPoint(repository, remote, ours));
  const isWithout =
    base !== null &&
    !(await isAncestor(repository, base, theirs)) &&
    (await isAncestor(repository, base, ours));
  const isBehind = await isAncestor(repository, theirs, ours);
  const state = await readRef(repository, remoteRefs.state);
  const isStateLost = !followsOnly && (await hasLostState(repository, state));
  const wasMissing = isWithout && (await readRef(repository, toMissingRef(remote))) !== null;
  const isSeen = isWithout && isBehind ? isStateLost || wasMissing : isStateLost && state !== null;
  if (isSeen) await markLoss(repository, theirs);
  const isLoss = isWithout && (isSeen || (await isMarked(repository, state, theirs, isBehind)));
  if (isWithout && !isLoss) {
    const { commit, droppedEdits } = await replayOnto(repository, { base, ours, theirs });
    const former = await describeRewrite(repository, before, theirs, remote.address);
    const message = `the remote's branch was rewritten: replayed the commits that were not pushed yet; ${former}`;
    return { commit, refs, isWarning: true, message, droppedEdits };
  }
  const move = { refs: new Map<string, string>(), isWarning: isLoss, droppedEdits: [] };
  const lost = isLoss ? 'the remote has lost commits, as after a restore from a backup: ' : '';
  if (isBehind) {
    const commits = formatCount(await countCommits(repository, [ours], [theirs]), 'commit');
    return isLoss ? { ...move, commit: ours, message: `${lost}pushing ${commits} again` } : undefined;
  }
  const commits = formatCount(await countCommits(repository, [theirs], [ours]), 'commit');
  if (await isAncestor(repository, ours, theirs)) {
    const files = (await diffTrees(repository, ours, theirs)).length;
    const message = `fast-forwarded to the remote's branch (${commits}, ${formatCount(files, 'file')})`;
    return { ...move, commit: theirs, message };
  }
  const parted = await mergeBase(repository, ours, theirs);
  if (parted === undefined) throw new BotshelfError('unavailable', unrelated);
  const { commit, droppedEdits } = await mergeBranches(repository, { base: parted, ours, theirs });
  const message = `${lost}merged the remote's branch (${commits}), the merge is pushed next`;
  return { ...move, commit, message, droppedEdits };
}

/**
 * Returns whether another machine has marked that the remote lost what its branch does not have, which is the history of the
 * commit that it came back at.
 */
async function isMarked(
  repository: Repository,
  state: string | null,
  theirs: string,
  isBehind: boolean,
): Promise<boolean> {
  for (const tip of await listLosses(repository, state))
    if (isBehind || ((await repository.objects.has(tip)) && (await isAncestor(repository, tip, theirs))))
      return true;
  return false;
}

/**
 * Returns the last commit of ours that the remote-tracking branch had, as `git clone`, or a fetch of a person, wrote
 * it; null without one. It is the base until the first fetch of the service.
 */
async function readForkPoint(
  repository: Repository,
  { address, branch }: FetchedBranch,
  ours: string,
): Promise<string | null> {
  const urls = await repository.run(['config', '--get-regexp', String.raw`^remote\..*\.url$`], {
    accepts: 1,
  });
  const remotes = [...urls.matchAll(/^remote\.(.+)\.url (.*)$/gm)];
  const [, name = address] = remotes.find(([, name, url]) => name === address || url === address) ?? [];
  const tracking = branch.replace('refs/heads/', `refs/remotes/${name}/`);
  if ((await readRef(repository, tracking)) === null) return null;
  const found = await repository.run(['merge-base', '--fork-point', tracking, ours], { accepts: 1 });
  return found.trim() || null;
}

function report({ commit, isWarning, message, droppedEdits }: LoggedMove, log: Log): void {
  if (isWarning) log.warn({ commit }, message);
  else log.info({ commit }, message);
  for (const change of droppedEdits) {
    const sentence = formatDroppedEdit(change);
    if (change.because === 'a later post changed the same') log.info({ ...change, commit }, sentence);
    else log.warn({ ...change, commit }, sentence);
  }
}

/** A move of the branch, with the log line for it. */
interface LoggedMove extends BranchMove {
  readonly isWarning: boolean;
  readonly message: string;
  readonly droppedEdits: readonly DroppedEdit[];
}

/**
 * Requires that the remote's branch has a commit, or at least an unchanged page, in common with ours: else it is another
 * catalogue, and neither its branch nor its state may be merged.
 * @param theirs its fetched tip; null if it has no such branch
 * @throws {BotshelfError} unavailable
 * @throws {GitError}
 */
export async function requireSameCatalogue(
  repository: Repository,
  theirs: string | null,
  { baseRef }: Pick<RemoteBranch, 'baseRef'>,
): Promise<void> {
  const base = (await readRef(repository, baseRef)) ?? (await readRef(repository, repository.branch()));
  if (theirs === null || base === null || base === theirs) return;
  if ((await mergeBase(repository, base, theirs)) !== undefined) return;
  const listed = await repository.run(['ls-tree', '-r', '-z', '--name-only', '--full-tree', base]);
  const changed = new Set((await diffTrees(repository, base, theirs)).map(({ path }) => path));
  if (!listed.split('\0').some((path) => parseFilePath(path, repository.prefix) && !changed.has(path)))
    throw new BotshelfError('unavailable', unrelated);
}

const branchGone =
  'the remote has no such branch any more: push it there again, or set BOTSHELF_BRANCH to another one';

const otherBranch = 'another branch was checked out during the fetch: fetching again';

const tooManyFiles = `revert it there, or stop the service, run "git merge ${remoteRefs.branch}" in its clone, and start it`;

const unrelated =
  "the remote's branch has no commit in common with this clone: set BOTSHELF_REMOTE to the repository it is a clone of";

/** The result of merging two sides. */
export interface BranchMerge {
  readonly commit: string;
  readonly droppedEdits: readonly DroppedEdit[];
}

/**
 * Makes a merge commit of both sides, theirs first. Files that both changed are merged by key, whether Git saw a
 * conflict or not. For a key of a page that both changed, a person's commit wins over a post, the later of two posts
 * over the earlier, and theirs otherwise. The commit's message lists the edits that were set aside.
 * @throws {GitError}
 */
export async function mergeBranches(repository: Repository, sides: Sides): Promise<BranchMerge> {
  const { ours, theirs } = sides;
  const changes = await readChanges(repository, sides);
  const { tree, conflicts } = await mergeTrees(repository, ours, theirs);
  for (const path of changes.added.keys()) conflicts.delete(path);
  const both = new Map<string, FileVersions>(conflicts);
  for (const [path, versions] of changes.both)
    if (conflicts.has(path) || isMergedByKey(toCataloguePath(repository, path))) both.set(path, versions);
  const { files: merged, droppedEdits } = await mergeChanges(repository, { ...changes, both }, sides);
  const files = new Map([...changes.added, ...merged]);
  const message = formatMergeMessage('Merge the updates of', changes.bots, droppedEdits);
  const commit = await writeCommit(repository, { parents: [theirs, ours], tree, files, message });
  return { commit, droppedEdits };
}

/**
 * Replays what ours changed since `base` on top of theirs, which no longer has `base` in its history: one commit, with
 * theirs as its only parent. Conflicts are decided as in a merge. Returns their tip itself if it has all of our
 * changes.
 * @throws {GitError}
 */
export async function replayOnto(repository: Repository, sides: Sides): Promise<BranchMerge> {
  const changes = await readChanges(repository, sides);
  const verb = 'Replay, on the rewritten branch, the updates of';
  return await replayChanges(repository, sides, changes, (droppedEdits) =>
    formatMergeMessage(verb, changes.bots, droppedEdits),
  );
}

/**
 * Replays the commit of a command, which is on no branch, on the tip: one commit with its message. Conflicts are
 * decided as in a merge, but files that the command removed are removed. Returns the commit itself if it is on the tip,
 * and the tip itself if that has all of its changes.
 * @throws {BotshelfError} unavailable, if one of them is the first commit of a branch
 * @throws {GitError}
 */
export async function replayCommand(
  repository: Repository,
  commit: string,
  tip: string | null,
): Promise<BranchMerge> {
  const content = (await repository.objects.readOne(commit))?.content.toString() ?? '';
  const [head = '', ...message] = content.split('\n\n');
  const [, base = null] = /^parent (.*)$/m.exec(head) ?? [];
  if (base === tip) {
    const isSame = tip !== null && (await haveSameTree(repository, commit, tip));
    return { commit: isSame ? tip : commit, droppedEdits: [] };
  }
  if (base === null || tip === null) throw new BotshelfError('unavailable', otherHistory);
  const sides = { base, ours: commit, theirs: tip };
  const { ours, both, ...changes } = await readChanges(repository, sides);
  const removed = [...both].flatMap(([path, versions]) => (versions.ours === null ? [path] : []));
  const all = {
    ...changes,
    ours: new Map([...ours, ...removed.map((path) => [path, null] as const)]),
    both: new Map([...both].filter(([path]) => !removed.includes(path))),
  };
  return await replayChanges(repository, sides, all, () => message.join('\n\n'));
}

const otherHistory = 'the branch had its first commit after the change was planned: run the command again';

async function replayChanges(
  repository: Repository,
  sides: Sides,
  changes: Changes,
  toMessage: (droppedEdits: readonly DroppedEdit[]) => string,
): Promise<BranchMerge> {
  const { theirs } = sides;
  const { files: merged, droppedEdits } = await mergeChanges(repository, changes, sides);
  const files = new Map([...changes.ours, ...merged]);
  if (files.size === 0) return { commit: theirs, droppedEdits };
  const message = toMessage(droppedEdits);
  const commit = await writeCommit(repository, { parents: [theirs], files, message });
  const isSame = await haveSameTree(repository, commit, theirs);
  return { commit: isSame ? theirs : commit, droppedEdits };
}

async function haveSameTree(repository: Repository, a: string, b: string): Promise<boolean> {
  return (await readTreeId(repository, a)) === (await readTreeId(repository, b));
}

/** Merges files that both sides changed, and removes files of a bot that one side changed and the other removed. */
async function mergeChanges(
  repository: Repository,
  { ours, theirs, both }: Changes,
  sides: Sides,
): Promise<MergedFiles> {
  const { files, droppedEdits } = await mergeFiles(repository, both, theirs, sides);
  const dropped = [...droppedEdits];
  const idOf = (path: string): BotId | undefined => parseFilePath(path, repository.prefix)?.id;
  const kept = new Set<BotId>();
  for (const [path, file] of files) {
    const id = file && parsePagePath(path, repository.prefix)?.id;
    if (!id) continue;
    const blob = 'id' in file && isFile(file) ? await repository.objects.readOne(file.id) : undefined;
    const text = 'content' in file ? file.content : blob?.content;
    const { page } = parsePage(path, text ?? Buffer.alloc(0));
    // A translation alone is not a bot.
    if (page === undefined || isMainPage({ page })) kept.add(id);
  }
  for (const [of, changed, other, side] of [
    ['ours', ours, theirs, sides.theirs],
    ['theirs', theirs, ours, sides.ours],
  ] as const) {
    const removed = new Set([...other].map(([path, file]) => (file === null ? idOf(path) : undefined)));
    for (const [path, file] of changed) {
      const id = file === null || files.get(path) === null ? undefined : idOf(path);
      if (id === undefined || !removed.has(id) || kept.has(id)) continue;
      if ((await readCommittedPages(repository, side, id)).length > 0) continue;
      files.set(path, null);
      dropped.push({ path, what: 'file', of, because: 'people changed the same' });
    }
  }
  return { files, droppedEdits: dropped };
}

/** The changes of two sides since their base. */
interface Changes {
  /** The files that ours alone changed. */
  readonly ours: ReadonlyMap<string, NewFile>;
  /** All files that theirs changed. */
  readonly theirs: ReadonlyMap<string, GitFile | null>;
  /** The files that both changed, each differently. */
  readonly both: ReadonlyMap<string, FileVersions>;
  /**
   * The files that one side added of bots of which it moved none, and its new profiles and collections. Because they
   * look alike, Git takes some for moved files of others, and would merge the changes of those into them. Also null for
   * the old path of a main page that one side moved and the other changed.
   */
  readonly added: ReadonlyMap<string, NewFile>;
  /** Bots that our side changed. */
  readonly bots: readonly BotId[];
}

async function readChanges(repository: Repository, { base, ours, theirs }: Sides): Promise<Changes> {
  const ourChanges = await diffTrees(repository, base, ours);
  const theirChanges = await diffTrees(repository, base, theirs);
  const theirFiles = new Map(theirChanges.map(({ path, after }) => [path, after]));
  const alone = new Map<string, NewFile>();
  const both = new Map<string, FileVersions>();
  const bots = new Set<BotId>();
  for (const { path, before, after } of ourChanges) {
    const other = theirFiles.get(path);
    if (other === undefined) alone.set(path, after);
    else if (other?.id !== after?.id || other?.mode !== after?.mode)
      both.set(path, { base: before, ours: after, theirs: other });
    const bot = parseFilePath(path, repository.prefix)?.id;
    if (bot !== undefined) bots.add(bot);
  }
  const added = new Map([
    ...listAdded(repository, ourChanges).filter(([path]) => !theirFiles.has(path)),
    ...listAdded(repository, theirChanges).filter(([path]) => !alone.has(path) && !both.has(path)),
  ]);
  for (const [path, versions] of both) {
    const side = versions.ours === null ? 'ours' : 'theirs';
    const changes = side === 'ours' ? ourChanges : theirChanges;
    const moved = await findMovedPage(repository, path, versions, changes);
    if (moved === undefined || both.has(moved.path)) continue;
    both.delete(path);
    alone.set(path, null);
    added.set(path, null);
    const result = { ...versions, [side]: moved.after, movedFrom: path };
    if (result.ours?.id !== result.theirs?.id) both.set(moved.path, result);
  }
  return { ours: alone, theirs: theirFiles, both, added, bots: [...bots] };
}

/** Returns the path to which one side moved the main page of a bot, such as for another language; else undefined. */
async function findMovedPage(
  repository: Repository,
  path: string,
  { base, ours, theirs }: FileVersions,
  changes: readonly FileChange[],
): Promise<FileChange | undefined> {
  const id = parsePagePath(path, repository.prefix)?.id;
  if (id === undefined || (ours === null) === (theirs === null)) return undefined;
  const isMain = async (file: GitFile | null): Promise<boolean> => {
    const blob = file && isFile(file) ? await repository.objects.readOne(file.id) : undefined;
    const { page } = parsePage(path, blob?.content ?? Buffer.alloc(0));
    return page !== undefined && isMainPage({ page });
  };
  if (!(await isMain(base))) return undefined;
  for (const change of changes)
    if (
      change.before === null &&
      parsePagePath(change.path, repository.prefix)?.id === id &&
      (await isMain(change.after))
    )
      return change;
  return undefined;
}

function listAdded(repository: Repository, changes: readonly FileChange[]): [path: string, NewFile][] {
  const idOf = (path: string): string | undefined =>
    parseFilePath(path, repository.prefix)?.id ??
    (isMergedByKey(toCataloguePath(repository, path)) ? path : undefined);
  const removed = new Set(changes.flatMap(({ path, after }) => (after === null ? idOf(path) : [])));
  if (removed.size === 0) return [];
  return changes.flatMap(({ path, before, after }) => {
    const id = before === null ? idOf(path) : undefined;
    return id === undefined || removed.has(id) ? [] : [[path, after]];
  });
}

/**
 * Merges without a checkout. Returns the merged tree, with conflict markers in it, and the versions of each conflict.
 */
async function mergeTrees(
  repository: Repository,
  ours: string,
  theirs: string,
): Promise<{ tree: string; conflicts: Map<string, FileVersions> }> {
  const args = [...mergeTree.split(' '), ours, theirs];
  const [tree = '', ...entries] = (await repository.run(args, { accepts: 1 })).split('\0');
  const conflicts = new Map<string, FileVersions>();
  for (const entry of entries) {
    const [, mode, id, stage, path] = /^(\d+) ([0-9a-f]+) ([123])\t(.+)$/s.exec(entry) ?? [];
    if (mode === undefined || id === undefined || stage === undefined || path === undefined) continue;
    const side = ({ 1: 'base', 2: 'ours', 3: 'theirs' } as const)[stage as '1' | '2' | '3'];
    const known = conflicts.get(path) ?? { base: null, ours: null, theirs: null };
    conflicts.set(path, { ...known, [side]: { mode, id } });
  }
  return { tree, conflicts };
}

const mergeTree =
  '-c merge.directoryRenames=false -c merge.renameLimit=1000 merge-tree --write-tree -z --no-messages';
