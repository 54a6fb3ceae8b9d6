import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { createStateRef } from '../../../src/counts/state-ref.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { Sync } from '../../../src/sync/sync.ts';
import { cleanUp } from '../../support/cleanup.ts';
import { committerOn } from '../../support/committing.ts';
import { openerOf } from '../../support/opened.ts';
import type { TestRepository } from '../../support/repository.ts';
import { sharedRepository } from '../../support/shared-repository.ts';

const state = 'refs/botshelf/state';

describe('pruning the history of a shared state', () => {
  it('is done by one replica once all is pushed, and the others follow, without what was pruned away coming back @long', async () => {
    const shared = sharedRepository({ file: 'text' });
    const [a, b, late] = [replica(shared.clone()), replica(shared.clone()), replica(shared.clone())];
    for (let n = 1; n <= 6; n++) await a.count(1, n);
    strictEqual(await a.prune(), undefined, 'there is something to push');
    for (const each of [a, b, b, late]) await each.round();
    // A fetch adds a pack, which maintenance has to count.
    strictEqual(b.fetches(), 1);
    for (const value of [7, 8]) await late.count(3, value);
    await b.count(2, 9);
    strictEqual(await a.prune(), 5);
    const commits = [a, b].map(commitsOf);
    await b.round();
    deepStrictEqual([...commits, commitsOf(b)], [1, 7, 2]);
    for (const each of [late, a, b]) await each.round();
    for (const each of [a, b, late]) {
      strictEqual(commitsOf(each), 3);
      strictEqual(each.clone.git('rev-parse', state), shared.git('rev-parse', state));
      const counts = [1, 2, 3].map((id) => each.clone.git('show', `${state}:00/0${id}.json`));
      strictEqual(counts.map((text) => /"count":(\d)/.exec(text)?.[1]).join(' '), '6 9 8');
    }
    await b.count(2, 10);
    await b.round();
    strictEqual(await a.prune().catch(() => undefined), undefined, 'another was faster');
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
  const repositoryOpener = openerOf(clone.folder);
  let fetches = 0;
  const sync = new Sync({
    onFetch: () => fetches++,
    repositoryOpener,
    committer: committerOn(clone.folder, { repositoryOpener }),
    state: { refresh: async () => {}, checkpoint: async () => {} },
    remote: 'origin',
    branch: null,
    syncSeconds: 3600,
    pushSeconds: 0,
    log: silentLog,
  });
  cleanUp(async () => await sync.close());
  const ref = createStateRef(repositoryOpener, silentLog);
  return {
    clone,
    round: async () => {
      sync.requestFetch();
      strictEqual(await sync.waitForPush(), true);
    },
    count: async (id, value) => {
      const text = `{\n"${id}":{"count":${value},"countedAt":${value}}\n}\n`;
      const files = new Map([[`00/0${id}.json`, text]]);
      await ref.commit((await ref.read()).commit, files, `Count ${id}: ${value}`);
    },
    fetches: () => fetches,
    prune: async () => await sync.prune(await repositoryOpener.open(), Date.now() / 1000 + 1000),
  };
}

function commitsOf({ clone }: TestReplica): number {
  return Number(clone.git('rev-list', '--count', state));
}
