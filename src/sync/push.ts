import { countCommits } from '../git/history.ts';
import { GitError } from '../git/process/git-error.ts';
import { readRef, stateRef } from '../git/refs.ts';
import type { Repository } from '../git/repository.ts';
import { writePrunedHistory } from '../counts/prune-history.ts';
import { retry } from '../lib/retry.ts';
import {
  type PushedRef,
  pushRemote,
  readKnownTips,
  type Remote,
  type RemoteBranch,
  remoteRefs,
  setRefs,
} from './remote.ts';

/** The tip of branch or state. */
type TipToPush = PushedRef & { readonly commit: string };

/** Returns branch and state, those of them that the remote lacks. @throws {GitError} */
export async function listRefsToPush(
  repository: Repository,
  { branch }: Pick<RemoteBranch, 'branch'>,
): Promise<TipToPush[]> {
  const known = await readKnownTips(repository);
  const ours = await readRef(repository, repository.branch());
  const state = await readRef(repository, stateRef);
  const refs: TipToPush[] = [];
  if (ours !== null && ours !== known.branch) refs.push({ ref: branch, commit: ours });
  if (state !== null && state !== known.state) refs.push({ ref: stateRef, commit: state });
  return refs;
}

/** Pushes these refs in one transaction and keeps in `remoteRefs` where they are then. @throws {GitError} */
export async function pushRefs(
  repository: Repository,
  refs: readonly TipToPush[],
  remote: Remote,
): Promise<void> {
  await pushRemote(repository, refs, remote);
  const pushed = new Map<string, string>();
  for (const { ref, commit } of refs) {
    if (ref === stateRef) pushed.set(remoteRefs.state, commit);
    else pushed.set(remoteRefs.branch, commit).set(remoteRefs.base, commit);
  }
  await setRefs(repository, pushed);
}

/**
 * Pushes, and retries where another replica has pushed in between, or is pushing now, so that the remote's ref is locked.
 * @param fetch fetches and merges what the remote has, and returns whether it had something new
 * @throws what `push` and `fetch` do
 */
export async function pushWithRetries<T>(
  push: () => Promise<T>,
  fetch: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<T> {
  return await retry(push, {
    maxAttempts: 10,
    repair: fetch,
    isRetriable: isLocked,
    delay: (attempt) => Math.random() * 200 * attempt,
    signal,
  });
}

function isLocked(error: unknown): boolean {
  return (
    error instanceof GitError &&
    /cannot lock ref|failed to update ref|atomic transaction failed/.test(error.stderr)
  );
}

/**
 * Replaces the history of the remote's state by a pruned one, and returns its commit, null where it stays, and how
 * many commits are removed. Undefined where the remote has not the same state as this clone.
 * @param since seconds since the epoch: later commits stay
 * @throws {GitError} also where the remote has moved
 */
export async function pushPrunedState(
  repository: Repository,
  since: number,
  remote: Remote,
): Promise<{ readonly commit: string | null; readonly removed: number } | undefined> {
  const tip = await readRef(repository, stateRef);
  if (tip !== (await readRef(repository, remoteRefs.state))) return undefined;
  const pruned = tip === null ? undefined : await writePrunedHistory(repository, tip, since);
  if (tip === null || pruned === undefined) return { commit: null, removed: 0 };
  await pushRefs(repository, [{ ref: stateRef, commit: pruned.commit, lease: tip }], remote);
  return pruned;
}

/** Returns how many commits of branch and state the remote lacks. @throws {GitError} */
export async function countUnpushed(
  repository: Repository,
  remote: Pick<RemoteBranch, 'branch'>,
): Promise<number> {
  const refs = await listRefsToPush(repository, remote);
  const known = Object.values(await readKnownTips(repository)).filter((tip) => tip !== null);
  const ours = refs.map(({ commit }) => commit);
  return ours.length === 0 ? 0 : await countCommits(repository, ours, known);
}
