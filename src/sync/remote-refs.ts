import { moveRefs, readRef } from '../git/refs.ts';
import type { Repository } from '../git/repository.ts';

/** Refs of this clone about the remote; never pushed. */
export const remoteRefs = {
  /** The remote's branch, as it was last fetched or pushed. */
  branch: 'refs/botshelf/remote/branch',
  /** The remote's state, as it was last fetched or pushed. */
  state: 'refs/botshelf/remote/state',
  /** The last commit of the remote's branch that is merged into ours. */
  base: 'refs/botshelf/remote/base',
  /** The last commit of the remote's branch up to which `edited` is checked; see bump-edited.ts. */
  touched: 'refs/botshelf/remote/touched',
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
