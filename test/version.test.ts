import { strictEqual } from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nameOfVersion, readCommit, readVersion } from '../src/version.ts';
import { testRepository } from './support/repository.ts';
import { tempFolder } from './support/temp-folder.ts';

describe('the version of the program', () => {
  it('has the commit that is checked out, on a branch, packed or detached', () => {
    const { folder, git } = testRepository();
    const gitDir = join(folder, '.git');
    const commit = git('rev-parse', 'HEAD').slice(0, 12);
    strictEqual(readCommit(gitDir), commit);
    git('pack-refs', '--all');
    strictEqual(readCommit(gitDir), commit);
    git('switch', '-q', '--detach');
    strictEqual(readCommit(gitDir), commit);
  });

  it('has none where it is not in a clone, or in a broken one', () => {
    const folder = tempFolder();
    strictEqual(readCommit(join(folder, '.git')), null);
    writeFileSync(join(folder, '.git'), 'gitdir: elsewhere\n');
    strictEqual(readCommit(join(folder, '.git')), null);
    rmSync(join(folder, '.git'));
    mkdirSync(join(folder, '.git'));
    for (const head of ['', 'ref: refs/heads/main\n', 'ref: ../../etc/passwd\n', 'x'.repeat(40)]) {
      writeFileSync(join(folder, '.git/HEAD'), head);
      strictEqual(readCommit(join(folder, '.git')), null);
    }
  });

  it('is in its name, with the commit where there is one', () => {
    const { version } = readVersion();
    strictEqual(nameOfVersion({ version, commit: null }), `botshelf ${version}`);
    strictEqual(nameOfVersion({ version, commit: '0123456789ab' }), `botshelf ${version} (0123456789ab)`);
  });
});
