import type { RemoteState } from '../tokens/shared-tokens.ts';
import { moveRefs, readRef, RefConflictError, stateRef } from '../git/refs.ts';
import { maxStallSeconds } from '../git/process/settings.ts';
import { retry } from '../lib/retry.ts';
import { mergeStates } from './merge-states.ts';
import { pushWithRetries } from './push.ts';
import { withRemoteMessage } from './remote-error.ts';
import { fetchRemoteState, pushRemote, type Remote, remoteRefs } from './remote.ts';
import type { Repository, RepositoryOpener } from '../git/repository.ts';

/** Merges the remote's state into ours, and returns whether ours has moved. @throws {GitError} */
export async function mergeState(repository: Repository, theirs: string): Promise<boolean> {
  const merge = async (): Promise<boolean> => {
    const ours = await readRef(repository, stateRef);
    const to = await mergeStates(repository, ours, theirs);
    if (to !== ours) await moveRefs(repository, new Map([[stateRef, { from: ours, to }]]));
    return to !== ours;
  };
  // Other processes here may move the ref too.
  return await retry(merge, {
    maxAttempts: 10,
    isRetriable: (error) => error instanceof RefConflictError,
  });
}

/** Fetches the remote's state alone, merges it into ours, and returns whether ours has moved. @throws {GitError} */
export async function fetchState(repository: Repository, remote: Remote): Promise<boolean> {
  const theirs = await fetchRemoteState(repository, remote);
  return theirs !== null && (await mergeState(repository, theirs));
}

/**
 * Pushes our state alone, merged with the remote's where that has moved, and returns the pushed commit; null where this
 * clone has no state.
 * @throws {GitError}
 */
export async function pushState(repository: Repository, remote: Remote): Promise<string | null> {
  const push = async (): Promise<string | null> => {
    const commit = await readRef(repository, stateRef);
    if (commit !== null) await pushRemote(repository, [{ ref: stateRef, commit }], remote);
    return commit;
  };
  return await pushWithRetries(push, async () => await fetchState(repository, remote), remote.signal);
}

/** Returns whether the state of a remote was ever fetched into this clone. */
export async function hasFetchedState(repository: Repository): Promise<boolean> {
  const found = await Promise.all(
    [remoteRefs.state, remoteRefs.base].map(async (ref) => await readRef(repository, ref)),
  );
  return found.some((commit) => commit !== null);
}

/** Opens the state of a remote for a process that has no `Sync`; `signal` aborts what it does there. */
export async function openRemoteState(
  repositoryOpener: RepositoryOpener,
  address: string,
  signal: AbortSignal,
): Promise<RemoteState> {
  const remote: Remote = { address, stallSeconds: maxStallSeconds, signal };
  const repository = await repositoryOpener.open();
  let fetched = await hasFetchedState(repository);
  return {
    get stateFetched() {
      return fetched;
    },
    fetchState: async () => {
      await withRemoteMessage(fetchState(repository, remote));
      fetched = true;
    },
    pushState: async () => void (await withRemoteMessage(pushState(repository, remote))),
  };
}
