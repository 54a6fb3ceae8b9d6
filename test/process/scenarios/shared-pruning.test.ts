import { strictEqual } from 'node:assert/strict';
import { join } from 'node:path';
import { Committer } from '../../../src/git/branch/committer.ts';
import { RepositoryOpener } from '../../../src/git/repository.ts';
import { createStateRef } from '../../../src/counts/state-ref.ts';
import { Sync } from '../../../src/sync/sync.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { keyEditor } from '../../support/keys.ts';
import type { TestRepository } from '../../support/repository.ts';
import { sharedRepository } from '../../support/shared-repository.ts';

const state = 'refs/botshelf/state';

describe('pruning the history of a shared state', () => {
  it('is done by one replica, and the others follow, without what was pruned away coming back @long', async () => {
    const shared = sharedRepository({ file: 'text' });
    const [a, b, late] = [replica(shared.clone()), replica(shared.clone()), replica(shared.clone())];
    for (let n = 1; n <= 6; n++) await a.count(1, n);
    await a.round();
    await b.round();
    await b.round();
    // A fetch adds a pack, which maintenance has to count.
    strictEqual(b.fetches(), 1);
    await late.round();
    strictEqual(commitsOf(b), 6);
    await late.count(3, 7);
    await late.count(3, 8);
    await b.count(2, 9);

    strictEqual(await a.prune(), 5);
    strictEqual(commitsOf(a), 1);
    await b.round();
    strictEqual(commitsOf(b), 2);
    await late.round();
    await a.round();
    await b.round();
    for (const each of [a, b, late]) {
      strictEqual(commitsOf(each), 3);
      strictEqual(each.clone.git('rev-parse', state), shared.git('rev-parse', state));
      for (const [id, count] of [
        [1, 6],
        [2, 9],
        [3, 8],
      ] as const) {
        strictEqual(each.clone.git('show', `${state}:00/0${id}.json`).includes(`"count":${count},`), true);
      }
    }
  });

  it('waits while there is something to push, or another replica was faster @long', async () => {
    const shared = sharedRepository({ file: 'text' });
    const [a, b] = [replica(shared.clone()), replica(shared.clone())];
    await a.count(1, 1);
    await a.count(1, 2);
    strictEqual(await a.prune(), undefined);
    await a.round();
    await b.round();
    await b.count(2, 3);
    await b.round();
    strictEqual(await a.prune().catch(() => undefined), undefined);
    strictEqual(commitsOf(a), 2);
    await a.round();
    strictEqual(await a.prune(), 2);
  });
});

interface TestReplica {
  readonly clone: TestRepository;
  /** Fetches, merges and pushes. */
  round(): Promise<void>;
  count(id: number, value: number): Promise<void>;
  prune(): Promise<number | undefined>;
  /** The number of fetches with something new. */
  fetches(): number;
}

function replica(clone: TestRepository): TestReplica {
  const repositoryOpener = new RepositoryOpener(clone.folder);
  const committer = new Committer({
    repositoryOpener,
    var: join(clone.folder, 'var'),
    editor: keyEditor,
    log: silentLog,
  });
  const sync = new Sync({
    repositoryOpener,
    committer,
    state: { refresh: async () => {}, checkpoint: async () => {} },
    remote: 'origin',
    branch: null,
    syncSeconds: 3600,
    pushSeconds: 0,
    log: silentLog,
  });
  let fetches = 0;
  sync.onFetch(() => fetches++);
  closing.push(async () => {
    await sync.close();
    await committer.close();
    repositoryOpener.close();
  });
  const ref = createStateRef(repositoryOpener, silentLog);
  return {
    clone,
    round: async () => {
      sync.requestFetch();
      strictEqual(await sync.waitForPush(), true);
    },
    count: async (id, value) => {
      const text = `{\n"${id}":{"count":${value},"countedAt":${value}}\n}\n`;
      await ref.commit(
        (await ref.read()).commit,
        new Map([[`00/0${id}.json`, text]]),
        `Count ${id}: ${value}`,
      );
    },
    fetches: () => fetches,
    prune: async () => await sync.prune(await repositoryOpener.open(), Date.now() / 1000 + 1000),
  };
}

function commitsOf({ clone }: TestReplica): number {
  return Number(clone.git('rev-list', '--count', state));
}

const closing: (() => Promise<void>)[] = [];

after('close the replicas', async () => {
  for (const close of closing.splice(0)) await close();
});
