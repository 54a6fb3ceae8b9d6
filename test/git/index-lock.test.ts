import { notStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { existsSync, linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { committerOn } from '../support/committing.ts';
import { setKey } from '../support/keys.ts';
import { testRepository, type TestRepository } from '../support/repository.ts';

const path = 'bots/001/1.en.md';

describe('an index.lock whose bytes a power loss has taken', () => {
  let repository: TestRepository;
  let lock: string;
  beforeEach(() => {
    repository = testRepository({ [path]: 'name: One\n' });
    lock = join(repository.folder, '.git/index.lock');
  });

  for (const [left, bytes] of [
    ['empty', ''],
    ['full of NUL', '\0'.repeat(20)],
  ] as const) {
    it(`is removed when it is ${left} and of the service`, async () => {
      const staging = join(repository.folder, '.git/botshelf/staging');
      mkdirSync(staging, { recursive: true });
      writeFileSync(join(staging, 'mark'), bytes);
      linkSync(join(staging, 'mark'), lock);
      notStrictEqual(await committerOn(repository.folder).commit(setKey(path, 'key', 'value')), null);
      strictEqual(existsSync(lock), false);
    });
  }

  it('stays when it may be that of a person', async () => {
    writeFileSync(lock, '');
    const committer = committerOn(repository.folder, { maxLockWaitMs: 50 });
    await rejects(committer.commit(setKey(path, 'key', 'value')), /another Git command holds index\.lock/);
    strictEqual(existsSync(lock), true);
  });
});
