import { ok, strictEqual } from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Committer } from '../../src/git/committer.ts';
import { Housekeeping } from '../../src/git/housekeeping.ts';
import { RepositoryDoor } from '../../src/git/repository.ts';
import { createStateRef } from '../../src/git/state-ref.ts';
import { silentLog } from '../../src/log.ts';
import { testRepository } from '../support/repository.ts';
import { setKey } from './keys.ts';

const path = 'bots/001/1.en.md';

describe('housekeeping', () => {
  it('keeps the packs few and the refs packed while commits go on', async function () {
    this.timeout(60_000);
    const repository = testRepository({ [path]: 'name: One\n' });
    const lost = repository.git('commit-tree', 'HEAD^{tree}', '-m', 'Lost by a person');
    const door = new RepositoryDoor(repository.folder);
    const housekeeping = new Housekeeping({ door, log: silentLog, stateDays: 30 });
    const committed = (): void => housekeeping.committed();
    const committer = new Committer({ door, var: join(repository.folder, 'var'), log: silentLog, committed });
    const state = createStateRef(door, silentLog);
    let tip: string | null = null;
    for (let n = 0; n < 240; n++) {
      await committer.change(setKey(path, 'count', n));
      if (n % 5 !== 0) continue;
      tip = await state.commit(tip, new Map([['00/01.json', `${n}\n`]]), 'Count 1 bot');
      housekeeping.committed();
    }
    await housekeeping.run();
    await housekeeping.close();
    await committer.close();
    door.close();
    const packs = readdirSync(join(repository.folder, '.git/objects/pack')).filter((name) =>
      name.endsWith('.pack'),
    );
    ok(packs.length <= 20, `${packs.length} packs are left of 288`);
    ok(existsSync(join(repository.folder, '.git/packed-refs')));
    ok(existsSync(join(repository.folder, '.git/objects/info/commit-graphs')));
    strictEqual(repository.git('rev-list', '--count', 'HEAD'), '241');
    strictEqual(repository.git('rev-list', '--count', 'refs/botshelf/state'), '48');
    strictEqual(repository.git('cat-file', '-t', lost), 'commit', 'what no ref reaches stays');
    strictEqual(repository.git('fsck', '--strict', '--no-dangling'), '');
    strictEqual(repository.status(), '');
  });
});
