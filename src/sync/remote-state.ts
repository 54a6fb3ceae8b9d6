import type { RemoteState } from '../state/shared-tokens.ts';
import { moveRefs, readRef, RefConflictError, stateRef } from '../git/refs.ts';
import { mergeStates } from './merge-states.ts';
import { fetchRemoteState, type Network, pushRemote, remoteFault, remoteRefs } from './remote.ts';
import type { Repository, RepositoryOpener } from '../git/repository.ts';

/** Merges the remote's state into ours. Returns whether ours has moved. @throws {GitError} */
export async function mergeState(repository: Repository, theirs: string | null): Promise<boolean> {
  if (theirs === null) return false;
  for (let attempt = 1; ; attempt++) {
    const ours = await readRef(repository, stateRef);
    const to = await mergeStates(repository, ours, theirs);
    if (to === ours) return false;
    try {
      await moveRefs(repository, new Map([[stateRef, { from: ours, to }]]));
      return true;
    } catch (error) {
      if (!(error instanceof RefConflictError) || attempt === mostAttempts) throw error;
    }
  }
}

/** Fetches the remote's state alone and merges it into ours. Returns whether ours has moved. @throws {GitError} */
export async function fetchState(repository: Repository, network: Network): Promise<boolean> {
  return await mergeState(repository, await fetchRemoteState(repository, network));
}

/**
 * Pushes our state alone; that of a remote that was faster is merged first. Returns the commit that the remote has
 * then, null where there is none here.
 * @throws {GitError}
 */
export async function pushState(repository: Repository, network: Network): Promise<string | null> {
  for (let attempt = 1; ; attempt++) {
    const commit = await readRef(repository, stateRef);
    if (commit === null) return null;
    try {
      await pushRemote(repository, [{ ref: stateRef, commit }], network);
      return commit;
    } catch (error) {
      // Whoever was faster has moved the remote; anything else is a fault.
      if (attempt === mostAttempts || !(await fetchState(repository, network))) throw error;
    }
  }
}

/** Whether the state of a remote was ever fetched into this clone. */
export async function hasFetchedState(repository: Repository): Promise<boolean> {
  const found = await Promise.all(
    [remoteRefs.state, remoteRefs.base].map(async (ref) => await readRef(repository, ref)),
  );
  return found.some((commit) => commit !== null);
}

/** The state of a remote, for a process that does nothing else with it than what `signal` cuts short. */
export async function openRemoteState(
  repositoryOpener: RepositoryOpener,
  remote: string,
  signal: AbortSignal,
): Promise<RemoteState> {
  const network: Network = { remote, timeLimit: 120, signal };
  const repository = await repositoryOpener.open();
  let fetched = await hasFetchedState(repository);
  return {
    get stateFetched() {
      return fetched;
    },
    fetchState: async () => {
      await told(fetchState(repository, network));
      fetched = true;
    },
    pushState: async () => void (await told(pushState(repository, network))),
  };
}

/** A failure of `work` as a sentence for the operator. */
export async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new Error(remoteFault(error), { cause: error });
  }
}

/** So often another replica, or another process here, may be faster. */
const mostAttempts = 10;
