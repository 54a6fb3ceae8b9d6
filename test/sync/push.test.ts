import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { GitError } from '../../src/git/run-git.ts';
import type { Repository } from '../../src/git/repository.ts';
import {
  countUnpushed,
  listRefsToPush,
  pushPrunedState,
  pushRefs,
  pushWithRetries,
  fetchRemote,
  type RemoteBranch,
  remoteRefs,
  toBaseRef,
} from '../../src/sync/remote.ts';
import { openUntilEnd } from '../support/opened.ts';
import { type SharedRepository, sharedRepository } from '../support/shared-repository.ts';
import { commitCounts } from '../support/counts.ts';
import type { TestRepository } from '../support/repository.ts';

const branch = 'refs/heads/main';
const state = 'refs/botshelf/state';
const day = 86_400;

describe('what is pushed', () => {
  let shared: SharedRepository;
  let clone: TestRepository;
  let repository: Repository;
  let remote: RemoteBranch;
  beforeEach(async () => {
    shared = sharedRepository({ file: 'text' });
    clone = shared.clone();
    repository = await openUntilEnd(clone.folder);
    const { signal } = new AbortController();
    remote = {
      repository,
      address: shared.address,
      branch,
      baseRef: toBaseRef(repository),
      stallSeconds: 20,
      signal,
    };
    await fetchRemote(remote);
  });

  it('is branch and state, those of them that the remote lacks, and then known to be there @slow', async () => {
    deepStrictEqual(await listRefsToPush(remote), []);
    strictEqual(await countUnpushed(remote), 0);
    const base = clone.git('rev-parse', 'HEAD');
    const own = clone.commit({ file: 'one' });
    const tip = { ref: branch, commit: own, known: base };
    deepStrictEqual(await listRefsToPush(remote), [tip]);
    commitCounts(clone.folder, [{ time: 1_700_000_000, counts: { 7: 1 } }]);
    const counts = clone.git('rev-parse', state);
    const refs = await listRefsToPush(remote);
    deepStrictEqual(refs, [tip, { ref: state, commit: counts, known: null }]);
    strictEqual(await countUnpushed(remote), 2);

    await pushRefs(remote, refs.slice(1));
    deepStrictEqual(known(), { branch: base, state: counts, base: null });
    strictEqual(shared.git('rev-parse', state), counts);
    strictEqual(await countUnpushed(remote), 1);
    await pushRefs(remote, await listRefsToPush(remote));
    deepStrictEqual(known(), { branch: own, state: counts, base: own });
    strictEqual(shared.git('rev-parse', 'main'), own);
    deepStrictEqual(await listRefsToPush(remote), []);

    shared.git('update-ref', '-d', state);
    deepStrictEqual(await fetchRemote(remote), { branch: own, state: null });
    deepStrictEqual(await listRefsToPush(remote), [{ ref: state, commit: counts, known: null }]);
  });

  it('is nothing of a branch without a commit, also where the remote has one', async () => {
    clone.git('symbolic-ref', 'HEAD', 'refs/heads/new');
    deepStrictEqual(await listRefsToPush(remote), []);
  });

  it('is the pruned history of the state only where the remote has the same state @slow', async () => {
    deepStrictEqual(await pushPrunedState(remote, 1_700_000_000), { commit: null, removed: 0 });
    commitCounts(
      clone.folder,
      [1, 2, 3, 400 * day].map((n) => ({ time: 1_600_000_000 + n, counts: { 7: n } })),
    );
    const since = 1_600_000_000 + 399 * day;
    strictEqual(await pushPrunedState(remote, since), undefined);
    await pushRefs(remote, await listRefsToPush(remote));
    strictEqual((await pushPrunedState(remote, 0))?.removed, 0);
    const pruned = await pushPrunedState(remote, since);
    strictEqual(pruned?.removed, 3);
    strictEqual(shared.git('rev-parse', state), pruned?.commit);
    strictEqual(known().state, pruned?.commit);
  });

  it('does not bring back what people have removed from the branch, nor make one that the remote lacks @slow', async () => {
    const first = clone.git('rev-parse', 'HEAD');
    const removed = clone.commit({ file: 'one' });
    await pushRefs(remote, await listRefsToPush(remote));
    clone.commit({ file: 'two' });
    shared.git('update-ref', branch, first);
    await rejects(pushRefs(remote, await listRefsToPush(remote)), /stale info/);
    strictEqual(shared.git('rev-parse', 'main'), first);

    shared.git('update-ref', branch, removed);
    const other = { ...remote, branch: 'refs/heads/other' };
    await rejects(pushRefs(other, await listRefsToPush(other)), /stale info/);
    clone.git('reset', '-q', '--hard', first);
    await rejects(pushRefs(remote, await listRefsToPush(remote)), /non-fast-forward/);
    strictEqual(shared.git('for-each-ref', '--format=%(refname) %(objectname)'), `${branch} ${removed}`);
  });

  it('is never put over what another has pushed @slow', async () => {
    commitCounts(
      clone.folder,
      [1, 2, 3].map((n) => ({ time: 1_600_000_000 + n, counts: { 7: n } })),
    );
    await pushRefs(remote, await listRefsToPush(remote));
    const other = shared.git('commit-tree', `${state}^{tree}`, '-p', state, '-m', 'Count');
    shared.git('update-ref', state, other);
    strictEqual(await pushPrunedState(remote, 1_700_000_000), undefined);
    strictEqual(shared.git('rev-parse', state), other);
    strictEqual(known().state, clone.git('rev-parse', state));
  });

  function known(): Record<'branch' | 'state' | 'base', string | null> {
    const read = (ref: string): string | null =>
      clone.git('for-each-ref', '--format=%(objectname)', ref) || null;
    return {
      branch: read(remoteRefs.branch),
      state: read(remoteRefs.state),
      base: read(toBaseRef(repository)),
    };
  }
});

describe('a push that fails', () => {
  it('is made again once what another has pushed is fetched, or where the refs of the remote are locked', async () => {
    const fetchNew = async (): Promise<boolean> => true;
    const fetchNothing = async (): Promise<boolean> => false;
    for (const [stderr, fetch, isRepeated] of [
      ['! [rejected] (fetch first)', fetchNew, true],
      ['! [rejected] (fetch first)', fetchNothing, false],
      ["error: cannot lock ref 'refs/heads/main'", fetchNothing, true],
      ['! [remote rejected] (failed to update ref)', fetchNothing, true],
      ['! [remote rejected] (atomic transaction failed)', fetchNothing, true],
    ] as const) {
      const errors = [new GitError(['push'], 1, stderr)];
      const push = async (): Promise<string> => {
        const error = errors.pop();
        if (error !== undefined) throw error;
        return 'pushed';
      };
      const result = await pushWithRetries(push, fetch, new AbortController().signal).catch(
        (error: unknown) => error,
      );
      strictEqual(result instanceof GitError ? 'failed' : result, isRepeated ? 'pushed' : 'failed', stderr);
    }
  });

  it('is not made again where git was not what failed', async () => {
    const error = new Error('cannot lock ref');
    const push = async (): Promise<void> => await Promise.reject(error);
    await rejects(
      pushWithRetries(push, async () => false, new AbortController().signal),
      error,
    );
  });
});
