import { toOneLine } from '../bot/commit-message.ts';
import { compareBotIds, type BotId } from '../bot/id.ts';
import { listDays, listShards, readStateFiles, type StateFile } from '../counts/state-files.ts';
import { writePrunedHistory } from '../counts/state-ref.ts';
import {
  isDayPath,
  type Count,
  DayCounts,
  findLastDay,
  mergeDays,
  toDay,
  type BotState,
  mergeBotStates,
  readShard,
  writeShard,
} from '../counts/state.ts';
import { writeCommit, type NewFile, toNewFile } from '../git/commit-files.ts';
import { countCommits, isAncestor, mergeBase } from '../git/history.ts';
import { findBranch, type Repository, type RepositoryOpener } from '../git/repository.ts';
import { moveRefs, readRef, stateRef } from '../git/refs.ts';
import { fetchCommand, GitError, isGitFailure, maxStallSeconds } from '../git/run-git.ts';
import { BotshelfError, isError, messageOf } from '../lib/errors.ts';
import { retry } from '../lib/retry.ts';
import { TimeSlice } from '../lib/time-slice.ts';
import type { RemoteState } from '../tokens/tokens.ts';

/** Returns the result of `work`. @throws {Error} whose message is one sentence for the operator */
export async function withRemoteMessage<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new Error(describeRemoteError(error), { cause: error });
  }
}

/** Returns why the remote could not be used: a sentence for the operator, in the remote's own words if it sent any. */
export function describeRemoteError(error: unknown): string {
  if (!(error instanceof GitError)) return messageOf(error);
  if (error.startFailure) return error.startFailure;
  if (error.isStopping) return error.stderr;
  if (error.status === null)
    return `${error.stderr.trim() || 'git was killed'}: look at the load of this machine, the network and the Git server`;
  const lines = error.stderr.split('\n').map((line) => toOneLine(line.slice(0, maxLineLength), Infinity));
  const rejected = lines.flatMap((line) => findRejection(line) ?? []);
  const first = lines.findIndex((line) => /^(fatal|error):/.test(line));
  // ssh prints the reason in earlier lines. A line that ends in a colon continues in the next one.
  const start = lines[first]?.startsWith('fatal: Could not read from remote')
    ? Math.max(0, first - 3)
    : first;
  const said =
    rejected.length > 0
      ? [rejected.join(', ')]
      : lines
          .slice(start, first + (lines[first]?.endsWith(':') ? 2 : 1))
          .filter((line) => !ofRemote.test(line));
  const remote = lines
    .filter((line) => ofRemote.test(line))
    .map((line) => line.slice(line.indexOf(':') + 1).trim())
    .filter((words) => /\p{L}/u.test(words));
  const quoted = remote.length > 0 ? `the remote says: ${remote.join(' ').slice(0, 500)}; ` : '';
  return `${quoted}git says: ${said.join(' ').slice(0, 300)}`;
}

/** A line that the remote sent, possibly empty. */
const ofRemote = /^(?:remote:|ERROR:|$)/;

/** Of Git's output, because the remote may send any text. */
const maxLineLength = 1000;

/**
 * Returns the ref and the reason of a rejection; undefined for a ref that was rejected only because another one was.
 */
function findRejection(line: string): string | undefined {
  const [, ref, reason] = /^! \[(?:remote )?rejected\] +\S+ -> (\S+) \((.+)\)$/.exec(line) ?? [];
  return ref === undefined || reason === 'atomic push failed' || reason === 'atomic push failure'
    ? undefined
    : `${ref} is refused (${reason})`;
}

/** A remote of a repository, and the limits of each command that connects to it. */
export interface Remote {
  readonly repository: Repository;
  /** A remote's name or an address, in any form that git accepts. */
  readonly address: string;
  /** Seconds without progress after which the command is killed. */
  readonly stallSeconds: number;
  readonly signal: AbortSignal;
}

export interface RemoteBranch extends Remote {
  /** The branch there, such as `refs/heads/main`. */
  readonly branch: string;
  /** The ref of its last commit that is merged into ours: see `toBaseRef`. */
  readonly baseRef: string;
}

/** Refs of this clone about the remote; never pushed. */
export const remoteRefs = {
  /** The remote's branch at the last fetch or push. */
  branch: 'refs/botshelf/remote/branch',
  /** The remote's state at the last fetch or push. */
  state: 'refs/botshelf/remote/state',
  /** The remote's last state that had lost nothing, or whose loss was handled. A later one has all of it, unless some was lost. */
  seenState: 'refs/botshelf/remote/seen-state',
} as const;

/**
 * Returns the ref of the last commit of the remote's branch that is merged into ours. Each branch of this clone has its
 * own: to another branch, the remote's would look rewritten.
 */
export function toBaseRef(repository: Repository): string {
  return toBranchRef('base', findBranch(repository) ?? 'HEAD');
}

/**
 * Returns the ref that exists from when a branch of the remote is seen missing until it is merged again; it has the last
 * commit that the branch had.
 */
export function toMissingRef({ branch }: Pick<RemoteBranch, 'branch'>): string {
  return toBranchRef('missing', branch);
}

function toBranchRef(kind: 'base' | 'missing', branch: string): string {
  return `refs/botshelf/remote/${kind}-${branch.replace('refs/heads/', '').replaceAll('/', '%2F')}`;
}

/** The tips of the remote's branch and state; null for a missing one. */
export interface RemoteTips {
  readonly branch: string | null;
  readonly state: string | null;
}

/** Returns the remote's tips as they were last fetched or pushed. @throws {GitError} */
export async function readKnownTips(repository: Repository): Promise<RemoteTips> {
  return {
    branch: await readRef(repository, remoteRefs.branch),
    state: await readRef(repository, remoteRefs.state),
  };
}

/** Sets refs to commits, durably, wherever they are: ref → commit, null to delete it. @throws as moveRefs does */
export async function setRefs(
  repository: Repository,
  refs: ReadonlyMap<string, string | null>,
): Promise<void> {
  const moves = [...refs].map(
    async ([ref, to]) => [ref, { from: await readRef(repository, ref), to }] as const,
  );
  const moved = (await Promise.all(moves)).filter(([, { from, to }]) => from !== to);
  if (moved.length > 0) await moveRefs(repository, new Map(moved));
}

/**
 * Fetches the remote's branch and state into `remoteRefs`, rewritten or not, and returns their tips.
 * @throws {GitError}
 */
export async function fetchRemote(remote: RemoteBranch): Promise<RemoteTips> {
  const { repository, branch } = remote;
  const listed = await listRemoteRefs(remote, [branch, stateRef]);
  const tips = { branch: listed.get(branch) ?? null, state: listed.get(stateRef) ?? null };
  const known = await readKnownTips(repository);
  const wanted = [
    ...(tips.branch !== null && tips.branch !== known.branch ? [`+${branch}:${remoteRefs.branch}`] : []),
    ...(tips.state !== null && tips.state !== known.state ? [`+${stateRef}:${remoteRefs.state}`] : []),
  ];
  // A server that has lost the state receives it again with the next push.
  if (tips.state === null) await setRefs(repository, new Map([[remoteRefs.state, null]]));
  if (wanted.length === 0) return tips;
  await runGit(remote, fetch, wanted);
  const fetched = await readKnownTips(repository);
  return {
    branch: tips.branch === null ? null : fetched.branch,
    state: tips.state === null ? null : fetched.state,
  };
}

/**
 * Fetches the remote's state alone, into no ref, and returns its commit; null if the remote has none.
 * @throws {GitError}
 */
export async function fetchRemoteState(remote: Remote): Promise<string | null> {
  const commit = (await listRemoteRefs(remote, [stateRef])).get(stateRef) ?? null;
  if (commit !== null && !(await remote.repository.objects.has(commit))) await fetchCommit(remote, stateRef);
  return commit;
}

/** Fetches a commit into no ref, by a ref of the remote or by the ID of one of its tips. @throws {GitError} */
export async function fetchCommit(remote: Remote, name: string): Promise<void> {
  await runGit(remote, fetch, [name]);
}

/** Returns the remote's refs that match any of these patterns, each with its commit. @throws {GitError} */
export async function listRemoteRefs(remote: Remote, refs: readonly string[]): Promise<Map<string, string>> {
  const listed = await runGit(remote, ['ls-remote'], refs);
  return new Map(Array.from(listed.matchAll(/^(\S+)\t(.+)$/gm), ([, id = '', ref = '']) => [ref, id]));
}

/**
 * Fetches refs into refs of this clone, and deletes those that the remote no longer has.
 * @param specs such as `+refs/theirs/*:refs/ours/*`
 * @throws {GitError}
 */
export async function fetchRefs(remote: Remote, specs: readonly string[]): Promise<void> {
  await runGit(remote, [...fetch, '--prune'], specs);
}

/** A ref to push; without a commit it is deleted. */
export interface PushedRef {
  readonly ref: string;
  readonly commit: string | null;
  /** Allows to replace history: the commit that the remote's ref must be at, empty if it must not exist. */
  readonly lease?: string;
}

/**
 * Pushes all of these refs, or none. Only a ref with a lease may replace history.
 * @throws {GitError} also if the remote has moved
 */
export async function pushRemote(remote: Remote, refs: readonly PushedRef[]): Promise<void> {
  const leases = refs.flatMap(({ ref, lease }) =>
    lease === undefined ? [] : [`--force-with-lease=${ref}:${lease}`],
  );
  const specs = refs.map(({ ref, commit }) => `${commit ?? ''}:${ref}`);
  await runGit(remote, [...push, ...leases], specs);
}

/** Runs a git command that connects to the remote. @param command with its options */
async function runGit(
  { repository, address, stallSeconds, signal }: Remote,
  command: readonly string[],
  args: readonly string[],
): Promise<string> {
  return await repository.run([...command, address, ...args], { stallSeconds, signal });
}

const fetch = fetchCommand('fetch.unpackLimit=1');

const push = ['-c', 'push.followTags=false', 'push', '--progress', '--atomic', '--recurse-submodules=no'];

/** The tip of branch or state, with that of the remote at the last fetch or push. */
interface TipToPush {
  readonly ref: string;
  readonly commit: string;
  readonly known: string | null;
}

/** Returns those of branch and state that the remote does not have. @throws {GitError} */
export async function listRefsToPush({
  repository,
  branch,
}: Pick<RemoteBranch, 'repository' | 'branch'>): Promise<TipToPush[]> {
  const known = await readKnownTips(repository);
  const tips = [
    { ref: branch, commit: await readRef(repository, repository.branch()), known: known.branch },
    { ref: stateRef, commit: await readRef(repository, stateRef), known: known.state },
  ];
  return tips.filter((tip): tip is TipToPush => tip.commit !== null && tip.commit !== tip.known);
}

/** Pushes these refs in one transaction and stores their new commits in `remoteRefs`. @throws {GitError} */
export async function pushRefs(remote: RemoteBranch, refs: readonly TipToPush[]): Promise<void> {
  const { repository } = remote;
  await pushRemote(remote, await Promise.all(refs.map(async (tip) => await addLease(repository, tip))));
  const pushed = new Map<string, string>();
  for (const { ref, commit } of refs) {
    if (ref === stateRef) setPushedState(pushed, commit);
    else pushed.set(remoteRefs.branch, commit).set(remote.baseRef, commit);
  }
  await setRefs(repository, pushed);
}

/**
 * Returns the tip with the known one of the remote as its lease, if it goes forward from that. Without the lease, a
 * push would restore commits that people have just removed there, or hide that the remote has lost a state.
 */
async function addLease(repository: Repository, { ref, commit, known }: TipToPush): Promise<PushedRef> {
  const isForward = known !== null && (await isAncestor(repository, known, commit));
  return isForward ? { ref, commit, lease: known } : { ref, commit };
}

function setPushedState(refs: Map<string, string>, commit: string): Map<string, string> {
  return refs.set(remoteRefs.state, commit).set(remoteRefs.seenState, commit);
}

/**
 * Pushes, and retries where another replica has pushed in between, or is pushing now, so that the remote's ref is
 * locked.
 * @param fetch fetches and merges from the remote, and returns whether it had something new
 * @throws the errors of `push` and `fetch`
 */
export async function pushWithRetries<T>(
  push: () => Promise<T>,
  fetch: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<T> {
  return await retry(push, {
    maxAttempts: 10,
    repair: fetch,
    isRetriable: (error) => isGitFailure(error, 'ref-locked'),
    delay: (attempt) => Math.random() * 200 * attempt,
    signal,
  });
}

/**
 * Replaces the history of the remote's state by a pruned one, and returns its commit, null if it stays, and how many
 * commits are removed. Undefined if the remote's state differs from that of this clone.
 * @param since seconds since the epoch: later commits stay
 * @throws {GitError}
 */
export async function pushPrunedState(
  remote: Remote,
  since: number,
): Promise<{ readonly commit: string | null; readonly removed: number } | undefined> {
  const { repository } = remote;
  const tip = await readRef(repository, stateRef);
  if (tip !== (await readRef(repository, remoteRefs.state))) return undefined;
  const pruned = tip === null ? undefined : await writePrunedHistory(repository, tip, since);
  if (tip === null || pruned === undefined) return { commit: null, removed: 0 };
  try {
    await pushRemote(remote, [{ ref: stateRef, commit: pruned.commit, lease: tip }]);
  } catch (error) {
    if (isGitFailure(error, 'remote-moved')) return undefined;
    throw error;
  }
  await setRefs(repository, setPushedState(new Map(), pruned.commit));
  return pruned;
}

/** Returns the number of commits of branch and state that the remote does not have. @throws {GitError} */
export async function countUnpushed(remote: RemoteBranch): Promise<number> {
  const tips = await listRefsToPush(remote);
  if (tips.length === 0) return 0;
  const commits = tips.map(({ commit }) => commit);
  const known = tips.flatMap((tip) => tip.known ?? []);
  return await countCommits(remote.repository, commits, known);
}

/**
 * Merges the remote's state into ours.
 * @param read reads ours after the move, which is undone if that is refused
 * @throws {BotshelfError} state-refused
 * @throws {GitError}
 */
export async function mergeState(
  repository: Repository,
  theirs: string,
  read?: () => Promise<void>,
): Promise<void> {
  await moveState(repository, async (ours) => await mergeStates(repository, ours, theirs), read);
}

/** Moves our state to the commit that `plan` returns for its tip. */
async function moveState(
  repository: Repository,
  plan: (ours: string | null) => Promise<string | null>,
  read: () => Promise<void> = async () => {},
): Promise<void> {
  const move = async (): Promise<void> => {
    const ours = await readRef(repository, stateRef);
    const to = await plan(ours);
    if (to === ours) return;
    await moveRefs(repository, new Map([[stateRef, { from: ours, to }]]));
    try {
      await read();
    } catch (error) {
      if (isError(error, 'state-refused'))
        await moveRefs(repository, new Map([[stateRef, { from: to, to: ours }]]));
      throw error;
    }
  };
  // Other processes here may move the ref too.
  await retry(move, { maxAttempts: 10, isRetriable: (error) => isError(error, 'ref-conflict') });
}

/** Fetches the remote's state alone, and merges it into ours as mergeState does. @throws as mergeState */
export async function fetchState(remote: Remote, read?: () => Promise<void>): Promise<void> {
  const { repository } = remote;
  const theirs = await fetchRemoteState(remote);
  if (theirs !== null) await mergeState(repository, theirs, read);
  if (!(await hasLostState(repository, theirs)) && !(await hasLosses(repository, theirs)))
    await setRefs(repository, new Map([[remoteRefs.seenState, theirs]]));
}

/**
 * Pushes our state alone, merged with the remote's if that has moved. Nothing is pushed to a remote that has lost a
 * state: the missing state shows machines that the branch was lost too, until both are pushed together.
 * @throws {BotshelfError} unavailable, if the remote has lost a state
 * @throws {GitError}
 */
export async function pushState(remote: Remote): Promise<void> {
  const { repository } = remote;
  let known = await readRef(repository, remoteRefs.seenState);
  const push = async (): Promise<void> => {
    const commit = await readRef(repository, stateRef);
    if (commit === null) return;
    await pushRemote(remote, [await addLease(repository, { ref: stateRef, commit, known })]);
    const pushed = setPushedState(new Map(), commit);
    if (await hasLosses(repository, commit)) pushed.delete(remoteRefs.seenState);
    await setRefs(repository, pushed);
  };
  const fetch = async (): Promise<boolean> => {
    const before = known;
    known = await fetchRemoteState(remote);
    if (await hasLostState(repository, known)) throw new BotshelfError('unavailable', stateLost);
    if (known !== null) await mergeState(repository, known);
    return known !== before;
  };
  await pushWithRetries(push, fetch, remote.signal);
}

/** Returns whether a state has marks that count until the branch is fetched too: see listLosses. */
async function hasLosses(repository: Repository, state: string | null): Promise<boolean> {
  return (await listLosses(repository, state)).length > 0;
}

const stateLost =
  'the remote has lost counts and tokens that it had: the service pushes them again, with the branch, after its next fetch';

/**
 * Returns whether the remote's state does not have all that it had when it was last seen. A pruned state has all of it, in
 * other commits. Only services write it, so the repository was restored from a backup, or is another one.
 * @throws {GitError}
 */
export async function hasLostState(repository: Repository, state: string | null): Promise<boolean> {
  const seen = await readRef(repository, remoteRefs.seenState);
  if (seen === null || state === null) return seen !== null;
  const base = await mergeBase(repository, seen, state);
  if (base !== undefined) return base !== seen;
  const missing = await mergeFiles(repository, seen, state, await listShards(repository, state));
  // A day may get a line that no state had yet.
  return [...missing.keys()].some((path) => !isDayPath(path));
}

/**
 * Adds a commit to our state that says at which commit the remote's branch came back. The commit is pushed with all
 * lost parts of the state, so that a machine that had pushed more to the branch sees the loss too.
 * @throws {GitError}
 */
export async function markLoss(repository: Repository, branchTip: string): Promise<void> {
  await moveState(repository, async (ours) => {
    // A round that fails is repeated.
    if (ours === null || (await listLosses(repository, ours)).includes(branchTip)) return ours;
    const message = `${lossSubject} ${branchTip}\n`;
    return await writeCommit(repository, { parents: [ours], message });
  });
}

const lossSubject = 'Push again what the remote lost, which came back at';

/**
 * Lists the commits at which the remote's branch came back, as machines have marked it in a state since the remote's
 * was last seen. The marks of a pruned state are ignored, because it repeats old ones.
 * @throws {GitError}
 */
export async function listLosses(repository: Repository, state: string | null): Promise<string[]> {
  const seen = await readRef(repository, remoteRefs.seenState);
  if (seen === null || state === null || (await mergeBase(repository, seen, state)) === undefined) return [];
  const subjects = (await repository.run(['log', '--format=%s', state, `^${seen}`])).split('\n');
  return subjects.flatMap((subject) =>
    subject.startsWith(lossSubject) ? subject.slice(lossSubject.length + 1) : [],
  );
}

/** Returns whether the state of a remote was ever fetched into this clone. */
export async function hasFetchedState(repository: Repository): Promise<boolean> {
  const state = await readRef(repository, remoteRefs.state);
  return state !== null || (await readRef(repository, toBaseRef(repository))) !== null;
}

/**
 * Opens the state of a remote for a process without a `Sync`. Returns null without an address, unless this clone has
 * fetched a remote's state: then the remote cannot be reached.
 * @param signal aborts operations on the remote
 */
export async function openRemoteState(
  repositoryOpener: RepositoryOpener,
  address: string | null,
  signal: AbortSignal,
): Promise<RemoteState | null> {
  const repository = await repositoryOpener.open();
  let fetched = await hasFetchedState(repository);
  if (address === null && !fetched) return null;
  const run = async (work: (remote: Remote) => Promise<void>): Promise<void> => {
    if (address === null) throw new Error('BOTSHELF_REMOTE is not set');
    await withRemoteMessage(work({ repository, address, stallSeconds: maxStallSeconds, signal }));
    fetched = true;
  };
  return {
    get stateFetched() {
      return fetched;
    },
    fetchState: async () => await run(fetchState),
    pushState: async () => await run(pushState),
  };
}

/**
 * Merges the state of the remote into ours and returns the commit. Each bot has what `mergeBotStates` makes of both,
 * each day what `mergeDays` does. A merge commit has both as parents, or theirs alone where they share no commit: one
 * was pruned then, and ours would restore the pruned commits.
 * @param ours null if there is no state yet
 * @throws {BotshelfError} state-refused, if theirs is too large
 * @throws {GitError}
 */
export async function mergeStates(
  repository: Repository,
  ours: string | null,
  theirs: string,
): Promise<string> {
  const base = ours === null ? undefined : await mergeBase(repository, ours, theirs);
  if (ours !== null && base === theirs) return ours;
  const shards = await listShards(repository, theirs);
  if (ours === null || base === ours) return theirs;
  const files = await mergeFiles(repository, ours, theirs, shards);
  if (files.size === 0) return theirs;
  const parents = base === undefined ? [theirs] : [theirs, ours];
  return await writeCommit(repository, { parents, files, message: 'Merge the counts of a replica\n' });
}

/** Returns the merged files that differ from those of theirs. */
async function mergeFiles(
  repository: Repository,
  ours: string,
  theirs: string,
  shards: readonly StateFile[],
): Promise<Map<string, NewFile>> {
  const { days: theirDays } = await listDays(repository, theirs);
  const { days: ourDays } = await listDays(repository, ours);
  const known = toIds([...shards, ...theirDays]);
  const own = toIds([...(await listShards(repository, ours)), ...ourDays]);
  const differing = [...new Set([...known.keys(), ...own.keys()])].filter(
    (path) => known.get(path) !== own.get(path),
  );
  const read = async (path: string): Promise<[known: Buffer, own: Buffer]> => [
    await readStateFile(repository, known.get(path)),
    await readStateFile(repository, own.get(path)),
  ];
  const lastDays = [theirDays, ourDays].map((days) => findLastDay(days.map(({ period }) => period)));
  const dayCounts = new DayCounts();
  // One state may have no line for a count of a day that the other knows to be over, by a file or a count of a later day.
  const addToDays: AddToDays = (id, ...counts) => {
    const last = Math.max(...lastDays, ...counts.map(({ at }) => toDay(at) - 1));
    for (const count of counts) {
      const day = toDay(count.at);
      if (day >= Math.min(...lastDays) && day <= last) dayCounts.add(id, count);
    }
  };
  const merged = new Map<string, NewFile>();
  const add = (path: string, text: string | undefined): void =>
    void (text !== undefined && merged.set(path, toNewFile(text)));
  const slice = new TimeSlice('service');
  for (const path of differing.filter((path) => !isDayPath(path))) {
    add(path, await mergeShard(path, ...(await read(path)), slice, addToDays));
    if (slice.isOver) await slice.next();
  }
  const lines = await dayCounts.writeFiles();
  for (const path of new Set([...differing.filter(isDayPath), ...lines.keys()]))
    add(path, await mergeDays(...(await read(path)), Buffer.from(lines.get(path) ?? '')));
  return merged;
}

function toIds(files: readonly StateFile[]): Map<string, string> {
  return new Map(files.map(({ path, id }) => [path, id]));
}

/** Returns the content of a file of the state; empty if it does not exist. */
async function readStateFile({ objects }: Repository, id: string | undefined): Promise<Buffer> {
  const [content] = id === undefined ? [] : await readStateFiles(objects, [id]);
  return content ?? Buffer.alloc(0);
}

/** Called with the counts of a bot that differ in two states. */
type AddToDays = (id: BotId, ...counts: readonly Count[]) => void;

/** Returns undefined if the second adds nothing to the first. */
async function mergeShard(
  path: string,
  known: Buffer,
  other: Buffer,
  slice: TimeSlice,
  addToDays: AddToDays,
): Promise<string | undefined> {
  const read = async (content: Buffer): Promise<Map<BotId, BotState>> => {
    const states = new Map<BotId, BotState>();
    const take = (id: BotId, state: BotState): void =>
      void states.set(id, mergeBotStates(states.get(id) ?? {}, state));
    await readShard(path, content, slice, take);
    return states;
  };
  const [states, others] = [await read(known), await read(other)];
  let changed = false;
  for (const id of new Set([...states.keys(), ...others.keys()])) {
    const [a, b] = [states.get(id) ?? {}, others.get(id) ?? {}];
    if (a.count?.at !== b.count?.at || a.count?.value !== b.count?.value)
      addToDays(id, ...[a.count, b.count].filter((count) => count !== undefined));
    const merged = mergeBotStates(a, b);
    changed ||= merged !== a;
    states.set(id, merged);
  }
  if (!changed) return undefined;
  return writeShard([...states.keys()].toSorted(compareBotIds), (id) => states.get(id) ?? {});
}
