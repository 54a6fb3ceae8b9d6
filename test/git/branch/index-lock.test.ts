import { notStrictEqual, rejects, strictEqual, throws } from 'node:assert/strict';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { removeStaleIndexLock, withIndexLock } from '../../../src/git/branch/git-index.ts';
import { ensureNoOperation } from '../../../src/git/repository.ts';
import { committerOn } from '../../support/committing.ts';
import { setKey } from '../../support/keys.ts';
import { testRepository, type TestRepository } from '../../support/repository.ts';
import { tempFolder } from '../../support/temp-folder.ts';

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

describe('the index.lock', () => {
  let gitDir: string;
  let staging: string;
  let lock: string;
  beforeEach(() => {
    gitDir = tempFolder();
    staging = join(gitDir, 'botshelf/staging');
    lock = join(gitDir, 'index.lock');
    mkdirSync(staging, { recursive: true });
  });

  it('is held during the work with the mark of the service, and released though the work fails', async () => {
    for (const fails of [false, true]) {
      const work = async (): Promise<string> => {
        strictEqual(readFileSync(lock, 'utf8'), `botshelf ${process.pid}\n`);
        if (fails) throw new Error('no');
        return 'done';
      };
      const result = withIndexLock({ gitDir, staging }, 0, work);
      if (fails) await rejects(result, /^Error: no$/);
      else strictEqual(await result, 'done');
      strictEqual(existsSync(lock), false);
    }
  });

  it('is waited for while another has it, and not taken after that', async () => {
    writeFileSync(lock, 'index of a person');
    const work = async (): Promise<string> => 'done';
    await rejects(withIndexLock({ gitDir, staging }, 20, work), { code: 'locked' });
    const waiting = withIndexLock({ gitDir, staging }, 60_000, work);
    await setTimeout(50);
    strictEqual(readFileSync(lock, 'utf8'), 'index of a person');
    rmSync(lock);
    strictEqual(await waiting, 'done');
    strictEqual(existsSync(lock), false);
  });

  it('is not taken where the folder of Git is none or gone, which stays so', async () => {
    const lockIt = async (): Promise<string> =>
      await withIndexLock({ gitDir, staging }, 0, async () => 'done');
    rmSync(gitDir, { recursive: true });
    await rejects(lockIt(), { code: 'ENOENT' });
    strictEqual(existsSync(gitDir), false);
    writeFileSync(gitDir, '');
    await rejects(lockIt(), { code: 'ENOTDIR' });
  });

  it('of a service that was killed is removed, and no other', async () => {
    strictEqual(await removeStaleIndexLock({ gitDir, staging }), false);
    for (const [bytes, isOurs] of [
      ['', false],
      ['DIRC', false],
      ['botshelf 7\n', true],
    ] as const) {
      writeFileSync(lock, bytes);
      strictEqual(await removeStaleIndexLock({ gitDir, staging }), isOurs);
      strictEqual(existsSync(lock), !isOurs);
    }
    writeFileSync(join(staging, 'mark'), '');
    writeFileSync(lock, '');
    strictEqual(await removeStaleIndexLock({ gitDir, staging }), false);
  });

  it('is not taken during an operation of a person', () => {
    ensureNoOperation({ gitDir });
    for (const name of ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'rebase-merge', 'rebase-apply']) {
      mkdirSync(join(gitDir, name));
      throws(() => ensureNoOperation({ gitDir }), new RegExp(`in progress in the clone .${name}.:`));
      rmSync(join(gitDir, name), { recursive: true });
    }
  });
});
