import { GitError } from '../git/process/git-error.ts';
import { readRef, stateRef } from '../git/refs.ts';
import type { Repository } from '../git/repository.ts';

/** What the remote's branch and state were when it was last asked. Null where it has none. */
export interface RemoteTips {
  readonly branch: string | null;
  readonly state: string | null;
}

/** A remote, and how long it may take. */
export interface Network {
  /** A remote's name or an address, as git takes it. */
  readonly remote: string;
  /** Seconds after which a command is given up. */
  readonly timeLimit: number;
  readonly signal: AbortSignal;
}

export interface RemoteOptions extends Network {
  /** The branch there, such as `refs/heads/main`. */
  readonly branch: string;
}

/** Our copies of the remote's tips, and the last of its branch's that ours has taken in. Never pushed. */
export const remoteRefs = {
  branch: 'refs/botshelf/remote/branch',
  state: 'refs/botshelf/remote/state',
  base: 'refs/botshelf/remote/base',
  stamped: 'refs/botshelf/remote/stamped',
  rewritten: 'refs/botshelf/remote/before-rewrite',
} as const;

/**
 * Brings the remote's branch and state into `remoteRefs`, as they are there, rewritten or not.
 * @throws {GitError}
 */
export async function fetchRemote(repository: Repository, options: RemoteOptions): Promise<RemoteTips> {
  const { remote, branch } = options;
  const listed = await listRefs(repository, [branch, stateRef], options);
  const tips = { branch: listed.get(branch) ?? null, state: listed.get(stateRef) ?? null };
  const known = await knownTips(repository);
  const wanted = [
    ...(tips.branch !== null && tips.branch !== known.branch ? [`+${branch}:${remoteRefs.branch}`] : []),
    ...(tips.state !== null && tips.state !== known.state ? [`+${stateRef}:${remoteRefs.state}`] : []),
  ];
  if (wanted.length === 0) return tips;
  await repository.run([...fetch, remote, ...wanted], limitsOf(options));
  const fetched = await knownTips(repository);
  return {
    branch: tips.branch === null ? null : fetched.branch,
    state: tips.state === null ? null : fetched.state,
  };
}

/** The remote's branch and state as they were when it was last asked. @throws {GitError} */
export async function knownTips(repository: Repository): Promise<RemoteTips> {
  return {
    branch: await readRef(repository, remoteRefs.branch),
    state: await readRef(repository, remoteRefs.state),
  };
}

/**
 * Fetches the remote's state alone, into no ref. Returns its commit, null where the remote has none.
 * @throws {GitError}
 */
export async function fetchRemoteState(repository: Repository, network: Network): Promise<string | null> {
  const commit = (await listRefs(repository, [stateRef], network)).get(stateRef) ?? null;
  if (commit !== null && !(await repository.objects.has(commit)))
    await repository.run([...fetch, network.remote, stateRef], limitsOf(network));
  return commit;
}

async function listRefs(
  repository: Repository,
  refs: readonly string[],
  network: Network,
): Promise<Map<string, string>> {
  const said = await repository.run(['ls-remote', network.remote, ...refs], limitsOf(network));
  return new Map(
    said.split('\n').map((line) => {
      const [id = '', ref = ''] = line.split('\t');
      return [ref, id];
    }),
  );
}

/** A ref to be pushed: the commit, and where the ref must be when it is replaced by no descendant of it. */
export interface PushedRef {
  readonly ref: string;
  readonly commit: string;
  readonly lease?: string;
}

/**
 * Pushes all of these, or none. Nothing is ever forced, but for a ref with a lease.
 * @throws {GitError} also where the remote has moved
 */
export async function pushRemote(
  repository: Repository,
  refs: readonly PushedRef[],
  options: Network,
): Promise<void> {
  const leases = refs.flatMap(({ ref, lease }) =>
    lease === undefined ? [] : [`--force-with-lease=${ref}:${lease}`],
  );
  const specs = refs.map(({ ref, commit }) => `${commit}:${ref}`);
  await repository.run([...push, ...leases, options.remote, ...specs], limitsOf(options));
}

function limitsOf({ timeLimit, signal }: Network): Pick<Network, 'timeLimit' | 'signal'> {
  return { timeLimit, signal };
}

/** What went wrong, in a sentence for the operator: in the remote's own words, where it said any. */
export function remoteFault(error: unknown): string {
  if (!(error instanceof GitError)) return error instanceof Error ? error.message : String(error);
  if (error.notStarted) return 'git cannot be run: install it, or put it on the PATH of the service';
  if (error.status === null) return 'it did not answer in time: look at the network and the Git server';
  const lines = error.stderr.split('\n').map((line) => line.replace(/\p{Cc}/gu, ' ').trim());
  const rejected = lines.flatMap((line) => rejectionIn(line) ?? []);
  const first = lines.findIndex((line) => /^(fatal|error):/.test(line));
  // What ends in a colon goes on in the next line.
  const said =
    rejected.length > 0
      ? [rejected.join(', ')]
      : lines.slice(first, first + (lines[first]?.endsWith(':') ? 2 : 1));
  const remote = lines.flatMap((line) => /^(?:remote:|ERROR:)\s*(.*\p{L}.*)$/u.exec(line)?.[1] ?? []);
  const quoted = remote.length > 0 ? `the remote says: ${remote.join(' ').slice(0, 500)}; ` : '';
  return `${quoted}git says: ${said.join(' ').slice(0, 300)}`;
}

/** The ref and the reason of a refusal. A ref that was refused with another one tells nothing. */
function rejectionIn(line: string): string | undefined {
  const [, ref, reason] = /^! \[(?:remote )?rejected\] +\S+ -> (\S+) \((.+)\)$/.exec(line) ?? [];
  return ref === undefined || reason === 'atomic push failed' || reason === 'atomic push failure'
    ? undefined
    : `${ref} is refused (${reason})`;
}

const fetch = [
  '-c',
  'fetch.unpackLimit=1',
  'fetch',
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-recurse-submodules',
  '--no-auto-maintenance',
];

const push = ['-c', 'push.followTags=false', 'push', '--quiet', '--atomic', '--recurse-submodules=no'];
