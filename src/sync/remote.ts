import { fetchCommand } from '../git/fetch.ts';
import { moveRefs, readRef, stateRef } from '../git/refs.ts';
import type { Repository } from '../git/repository.ts';

/** A remote, and what ends each command that connects to it. */
export interface Remote {
  /** A remote's name or an address, as git takes it. */
  readonly address: string;
  /** Seconds without progress after which the command is killed. */
  readonly stallSeconds: number;
  readonly signal: AbortSignal;
}

export interface RemoteBranch extends Remote {
  /** The branch there, such as `refs/heads/main`. */
  readonly branch: string;
}

/** Refs of this clone about the remote; never pushed. */
export const remoteRefs = {
  /** The remote's branch, as it was last fetched or pushed. */
  branch: 'refs/botshelf/remote/branch',
  /** The remote's state, as it was last fetched or pushed. */
  state: 'refs/botshelf/remote/state',
  /** The last commit of the remote's branch that is merged into ours. */
  base: 'refs/botshelf/remote/base',
  /** Our branch before it moved to a remote branch that was rewritten. */
  rewritten: 'refs/botshelf/remote/before-rewrite',
} as const;

/** The tips of the remote's branch and state; null where it has none. */
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

/** Sets refs to commits, durably, wherever they are: ref → commit. @throws as moveRefs does */
export async function setRefs(repository: Repository, refs: ReadonlyMap<string, string>): Promise<void> {
  const moves = [...refs].map(
    async ([ref, to]) => [ref, { from: await readRef(repository, ref), to }] as const,
  );
  await moveRefs(repository, new Map(await Promise.all(moves)));
}

/**
 * Fetches the remote's branch and state into `remoteRefs`, rewritten or not, and returns their tips.
 * @throws {GitError}
 */
export async function fetchRemote(repository: Repository, remote: RemoteBranch): Promise<RemoteTips> {
  const { address, branch } = remote;
  const listed = await listRefs(repository, [branch, stateRef], remote);
  const tips = { branch: listed.get(branch) ?? null, state: listed.get(stateRef) ?? null };
  const known = await readKnownTips(repository);
  const wanted = [
    ...(tips.branch !== null && tips.branch !== known.branch ? [`+${branch}:${remoteRefs.branch}`] : []),
    ...(tips.state !== null && tips.state !== known.state ? [`+${stateRef}:${remoteRefs.state}`] : []),
  ];
  if (wanted.length === 0) return tips;
  await repository.run([...fetch, address, ...wanted], toRunOptions(remote));
  const fetched = await readKnownTips(repository);
  return {
    branch: tips.branch === null ? null : fetched.branch,
    state: tips.state === null ? null : fetched.state,
  };
}

/**
 * Fetches the remote's state alone, into no ref, and returns its commit; null where the remote has none.
 * @throws {GitError}
 */
export async function fetchRemoteState(repository: Repository, remote: Remote): Promise<string | null> {
  const commit = (await listRefs(repository, [stateRef], remote)).get(stateRef) ?? null;
  if (commit !== null && !(await repository.objects.has(commit)))
    await fetchCommit(repository, stateRef, remote);
  return commit;
}

/** Fetches a commit into no ref, by a ref of the remote or by the ID of one of its tips. @throws {GitError} */
export async function fetchCommit(repository: Repository, name: string, remote: Remote): Promise<void> {
  await repository.run([...fetch, remote.address, name], toRunOptions(remote));
}

/** Returns the remote's refs that match any of these patterns, each with its commit. @throws {GitError} */
export async function listRefs(
  repository: Repository,
  refs: readonly string[],
  remote: Remote,
): Promise<Map<string, string>> {
  const listed = await repository.run(['ls-remote', remote.address, ...refs], toRunOptions(remote));
  return new Map(
    listed.split('\n').map((line) => {
      const [id = '', ref = ''] = line.split('\t');
      return [ref, id];
    }),
  );
}

/**
 * Fetches refs into refs of this clone, and deletes those that the remote no longer has.
 * @param specs such as `+refs/theirs/*:refs/ours/*`
 * @throws {GitError}
 */
export async function fetchRefs(
  repository: Repository,
  specs: readonly string[],
  remote: Remote,
): Promise<void> {
  await repository.run([...fetch, '--prune', remote.address, ...specs], toRunOptions(remote));
}

/** A ref to push; without a commit it is deleted. */
export interface PushedRef {
  readonly ref: string;
  readonly commit: string | null;
  /** Allows to replace history: the commit that the remote's ref must be at, empty where it must not exist. */
  readonly lease?: string;
}

/**
 * Pushes all of these refs, or none. Only a ref with a lease may replace history.
 * @throws {GitError} also where the remote has moved
 */
export async function pushRemote(
  repository: Repository,
  refs: readonly PushedRef[],
  remote: Remote,
): Promise<void> {
  const leases = refs.flatMap(({ ref, lease }) =>
    lease === undefined ? [] : [`--force-with-lease=${ref}:${lease}`],
  );
  const specs = refs.map(({ ref, commit }) => `${commit ?? ''}:${ref}`);
  await repository.run([...push, ...leases, remote.address, ...specs], toRunOptions(remote));
}

function toRunOptions({ stallSeconds, signal }: Remote): Pick<Remote, 'stallSeconds' | 'signal'> {
  return { stallSeconds, signal };
}

const fetch = fetchCommand('fetch.unpackLimit=1');

const push = ['-c', 'push.followTags=false', 'push', '--progress', '--atomic', '--recurse-submodules=no'];
