import { deepStrictEqual, doesNotMatch, match, rejects, strictEqual } from 'node:assert/strict';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import type { Repository } from '../../src/git/repository.ts';
import { integrate } from '../../src/sync/integration.ts';
import {
  fetchRemote,
  fetchState,
  hasFetchedState,
  listRefsToPush,
  mergeState,
  pushPrunedState,
  pushRefs,
  pushState,
  type RemoteBranch,
  toBaseRef,
} from '../../src/sync/remote.ts';
import { listRewrites, pruneRewrites, toRewriteRef } from '../../src/sync/rewrites.ts';
import { committerOn } from '../support/committing.ts';
import { commitCounts } from '../support/counts.ts';
import { openUntilEnd } from '../support/opened.ts';
import { type RecordedLog, recordedLog } from '../support/recorded-log.ts';
import type { TestRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { runSync } from '../support/run-sync.ts';
import { type SharedRepository, sharedRepository } from '../support/shared-repository.ts';
import { tempFolder } from '../support/temp-folder.ts';

const state = 'refs/botshelf/state';
const day = 24 * 60 * 60;

/** A clone with what a service does in a round. */
interface Machine {
  readonly clone: TestRepository;
  readonly repository: Repository;
  readonly remote: RemoteBranch;
  readonly log: RecordedLog;
  fetch(options?: { readonly followsOnly: boolean }): Promise<void>;
  round(): Promise<void>;
  /** Adds a bot and a count, each in a commit, and pushes both. */
  add(id: string): Promise<void>;
}

async function machineOn(clone: TestRepository, address = 'origin'): Promise<Machine> {
  const repository = await openUntilEnd(clone.folder);
  const { signal } = new AbortController();
  const branch = 'refs/heads/main';
  const remote = { repository, address, branch, baseRef: toBaseRef(repository), stallSeconds: 20, signal };
  const log = recordedLog();
  const committer = committerOn(clone.folder);
  let time = 1_700_000_000;
  const fetch: Machine['fetch'] = async (options) => {
    const tips = await fetchRemote(remote);
    if (tips.state !== null) await mergeState(repository, tips.state);
    await integrate(repository, tips.branch, remote, { committer, log, ...options });
  };
  const round = async (): Promise<void> => {
    await fetch();
    const refs = await listRefsToPush(remote);
    if (refs.length > 0) await pushRefs(remote, refs);
  };
  const add = async (id: string): Promise<void> => {
    clone.commit({ [pagePath(id)]: mainPage() });
    commitCounts(clone.folder, [{ time: ++time, counts: { [id]: 1 } }]);
    await round();
  };
  return { clone, repository, remote, log, fetch, round, add };
}

describe('a remote that goes back', () => {
  let shared: SharedRepository;
  let one: Machine;
  beforeEach(async () => {
    shared = sharedRepository({ [pagePath('1')]: mainPage() });
    one = await machineOn(shared.clone());
    await one.add('2');
  });

  const backUp = (): (() => void) => {
    const backup = tempFolder();
    cpSync(shared.folder, backup, { recursive: true });
    return () => {
      rmSync(shared.folder, { recursive: true });
      cpSync(backup, shared.folder, { recursive: true });
    };
  };
  const bots = (): string =>
    shared
      .git('ls-tree', '-r', '--name-only', 'main', 'bots/')
      .replaceAll(/bots\/\d+\/(\d+)\.en\.md/g, '$1')
      .replaceAll('\n', ' ');
  const warnings = ({ log }: Machine): string[] => log.lines.filter((line) => line.startsWith('warn'));
  const setBranch = (commit: string): void => void shared.git('update-ref', 'refs/heads/main', commit);

  it('to a backup gets what the machines have, each more than the other, and nothing is set back', async () => {
    const two = await machineOn(shared.clone());
    await two.round();
    const restore = backUp();
    await one.add('3');
    await two.round();
    await two.add('4');
    restore();
    one.clone.commit({ [pagePath('5')]: mainPage() });
    await one.round();
    strictEqual(bots(), '1 2 3 5');
    await two.round();
    strictEqual(bots(), '1 2 3 4 5');
    await one.round();
    strictEqual(one.clone.git('rev-parse', 'main', state), shared.git('rev-parse', 'main', state));
    deepStrictEqual(await listRewrites(two.repository), []);
    deepStrictEqual(warnings(one), [
      'warn: the remote has lost commits, as after a restore from a backup: pushing 2 commits again',
    ]);
    match(warnings(two).join('\n'), /^warn: the remote has lost commits, .*: merged the remote's branch/);
  });

  for (const [title, hasFetched] of [
    ['all since the backup', false],
    ['the last commits', true],
  ] as const)
    it(`to a backup is seen by a machine whose counts another one has pushed that does not have ${title} of the branch`, async () => {
      const two = await machineOn(shared.clone());
      await two.round();
      const restore = backUp();
      await one.add('3');
      if (hasFetched) await two.round();
      await one.add('4');
      // As before an unknown token is refused.
      await fetchState(two.remote);
      restore();
      two.clone.commit({ [pagePath('5')]: mainPage() });
      await two.round();
      await one.round();
      strictEqual(bots(), '1 2 3 4 5');
      await two.round();
      strictEqual(two.clone.git('rev-parse', 'main', state), shared.git('rev-parse', 'main', state));
      // The mark says nothing about a force push after it.
      setBranch(shared.git('rev-parse', 'main~1'));
      await one.round();
      strictEqual(one.clone.git('rev-parse', 'main'), shared.git('rev-parse', 'main'));
      strictEqual((await listRewrites(one.repository)).length, 1);
    });

  for (const [title, share] of [
    ['fetched', fetchState],
    ['pushed', pushState],
  ] as const)
    it(`to a backup is seen by a machine that has ${title} the state alone since another one saw it`, async () => {
      const two = await machineOn(shared.clone());
      const restore = backUp();
      await one.add('3');
      const { maintainer } = shared;
      maintainer.git('pull', '-q', 'origin', 'main');
      maintainer.commit({ [pagePath('4')]: mainPage() });
      maintainer.git('push', '-q', 'origin', 'main');
      await two.round();
      restore();
      await one.round();
      strictEqual(bots(), '1 2 3');
      commitCounts(two.clone.folder, [{ time: 1_800_000_000, counts: { 3: 2 } }]);
      await share(two.remote);
      await two.round();
      strictEqual(bots(), '1 2 3 4');
    });

  it('is noticed by a machine that only has counts to push, and pushes no state alone', async () => {
    const restore = backUp();
    await one.add('3');
    restore();
    commitCounts(one.clone.folder, [{ time: 1_800_000_000, counts: { 3: 2 } }]);
    const refs = await listRefsToPush(one.remote);
    await rejects(pushRefs(one.remote, refs), /stale info/);
    await rejects(pushState(one.remote), /the remote has lost counts and tokens/);
    await one.round();
    strictEqual(bots(), '1 2 3');
    await pushState(one.remote);
  });

  it('is put right by a machine that was killed between the fetch and the push', async () => {
    const restore = backUp();
    await one.add('3');
    restore();
    await fetchRemote(one.remote);
    await one.fetch();
    await (await machineOn(one.clone)).round();
    strictEqual(bots(), '1 2 3');
  });

  for (const [title, goBack, after] of [
    ['after its branch was missing: gets it back', true, '1 2 3'],
    ['because a person pushed with force: is followed', false, '1 2'],
  ] as const)
    it(`to an older commit with the same counts, ${title}`, async () => {
      const old = shared.git('rev-parse', 'main');
      await one.add('3');
      if (goBack) {
        shared.git('update-ref', '-d', 'refs/heads/main');
        await rejects(one.round(), /no such branch any more/);
      }
      setBranch(old);
      await one.round();
      strictEqual(bots(), after);
      strictEqual(warnings(one).length, 1);
      // An earlier loss says nothing about the next time.
      setBranch(old);
      await one.round();
      strictEqual(bots(), '1 2');
    });

  it('to another history is followed, also after its branch was missing', async () => {
    await one.add('3');
    shared.git('update-ref', '-d', 'refs/heads/main');
    await rejects(one.round(), /no such branch any more/);
    one.clone.commit({ [pagePath('4')]: mainPage() });
    const files = { [pagePath('1')]: mainPage(), [pagePath('2')]: mainPage() };
    shared.maintainer.git(
      'push',
      '-q',
      'origin',
      `${shared.maintainer.commitOn(null, { files })}:refs/heads/main`,
    );
    await one.round();
    strictEqual(bots(), '1 2 4');
  });

  it('with a state that another machine pruned meanwhile has lost nothing', async () => {
    const two = await machineOn(shared.clone());
    await two.round();
    const old = shared.git('rev-parse', 'main');
    await one.add('3');
    await two.round();
    commitCounts(one.clone.folder, [{ time: 1_700_000_000 + 40 * day, counts: { 3: 2 } }]);
    await one.round();
    await pushPrunedState(one.remote, 1_700_000_000 + 39 * day);
    setBranch(old);
    await two.round();
    strictEqual(bots(), '1 2');
  });

  it('keeps the branch before each rewrite for 30 days, or until the branch has it again', async () => {
    const old = shared.git('rev-parse', 'main');
    const kept: string[] = [];
    for (const id of ['3', '4']) {
      await one.add(id);
      kept.push(shared.git('rev-parse', 'main'));
      setBranch(old);
      await one.round();
    }
    const rewrites = await pruneRewrites(one.repository);
    deepStrictEqual(
      rewrites.map(({ commit }) => commit),
      kept,
    );
    one.clone.git('update-ref', toRewriteRef(Date.now() - 31 * day * 1000), kept[0] ?? '');
    deepStrictEqual(await pruneRewrites(one.repository), rewrites);
    one.clone.git('merge', '-q', kept[1] ?? '');
    deepStrictEqual(await pruneRewrites(one.repository), rewrites.slice(0, 1));
    deepStrictEqual(await listRewrites(one.repository), rewrites.slice(0, 1));
    const [, command = ''] =
      /^ +(git for-each-ref .*before-rewrite.*)$/m.exec(readFileSync('docs/moderation.md', 'utf8')) ?? [];
    runSync({ program: 'sh', args: ['-c', command], cwd: one.clone.folder });
    deepStrictEqual(await listRewrites(one.repository), []);
  });
});

describe('a clone that was made before a force push', () => {
  for (const [title, address, prepare] of [
    ['without commits of its own', 'origin', () => {}],
    ['with a commit of its own', 'origin', (clone) => clone.commit({ [pagePath('5')]: mainPage() })],
    ['into which a person has fetched since', 'origin', (clone) => clone.git('fetch', '-q')],
    ['whose remote is given by its address', undefined, () => {}],
  ] as const satisfies readonly [string, string | undefined, (clone: TestRepository) => void][])
    it(`does not bring back what was removed, ${title}`, async () => {
      const shared = sharedRepository({ [pagePath('1')]: mainPage() });
      const { maintainer } = shared;
      const first = maintainer.git('rev-parse', 'HEAD');
      maintainer.commit({ [pagePath('2')]: mainPage() });
      maintainer.git('push', '-q', 'origin', 'main');
      const late = await machineOn(shared.clone(), address ?? shared.address);
      const without = maintainer.commitOn(first, { files: { [pagePath('3')]: mainPage() } });
      maintainer.git('push', '-q', '--force', 'origin', `${without}:main`);
      prepare(late.clone);
      strictEqual(await hasFetchedState(late.repository), false);
      await late.round();
      doesNotMatch(shared.git('log', '--name-only', 'main'), /\/2\.en\.md/);
      strictEqual(shared.git('rev-parse', 'main'), late.clone.git('rev-parse', 'main'));
      strictEqual((await listRewrites(late.repository)).length, 1);
    });
});
