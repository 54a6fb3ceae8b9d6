import { countCommits } from '../git/history.ts';
import { readRef, stateRef } from '../git/refs.ts';
import type { Repository } from '../git/repository.ts';
import { knownTips, remoteRefs, setRefs } from './remote-refs.ts';
import { type PushedRef, pushRemote, type RemoteBranch } from './remote.ts';

/** Returns branch and state, those of them that the remote lacks. @throws {GitError} */
export async function refsToPush(
  repository: Repository,
  { branch }: Pick<RemoteBranch, 'branch'>,
): Promise<PushedRef[]> {
  const known = await knownTips(repository);
  const ours = await readRef(repository, repository.branch());
  const state = await readRef(repository, stateRef);
  const refs: PushedRef[] = [];
  if (ours !== null && ours !== known.branch) refs.push({ ref: branch, commit: ours });
  if (state !== null && state !== known.state) refs.push({ ref: stateRef, commit: state });
  return refs;
}

/** Pushes these refs in one transaction and keeps in `remoteRefs` where they are then. @throws {GitError} */
export async function pushRefs(
  repository: Repository,
  refs: readonly PushedRef[],
  remote: RemoteBranch,
): Promise<void> {
  await pushRemote(repository, refs, remote);
  const pushed = new Map<string, string>();
  for (const { ref, commit } of refs) {
    if (ref === stateRef) pushed.set(remoteRefs.state, commit);
    else pushed.set(remoteRefs.branch, commit).set(remoteRefs.base, commit);
  }
  await setRefs(repository, pushed);
}

/** Returns how many commits of branch and state the remote lacks. @throws {GitError} */
export async function countUnpushed(
  repository: Repository,
  remote: Pick<RemoteBranch, 'branch'>,
): Promise<number> {
  const refs = await refsToPush(repository, remote);
  const known = Object.values(await knownTips(repository)).filter((tip) => tip !== null);
  const ours = refs.map(({ commit }) => commit);
  return ours.length === 0 ? 0 : await countCommits(repository, ours, known);
}
