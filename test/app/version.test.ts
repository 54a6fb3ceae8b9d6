import { strictEqual } from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatVersion, readCommit, readVersion } from '../../src/app/version.ts';
import { testRepository } from '../support/repository.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('the version of the program', () => {
  it('has the commit that is checked out, on a branch, packed or detached', () => {
    const { folder, git } = testRepository();
    const commit = git('rev-parse', 'HEAD');
    strictEqual(readCommit(folder), commit);
    git('pack-refs', '--all');
    strictEqual(readCommit(folder), commit);
    git('switch', '-q', '--detach');
    strictEqual(readCommit(folder), commit);
  });

  it('has none where it is not in a clone, or in a broken one', () => {
    const folder = tempFolder();
    strictEqual(readCommit(folder), null);
    writeFileSync(join(folder, '.git'), 'gitdir: elsewhere\n');
    strictEqual(readCommit(folder), null);
    rmSync(join(folder, '.git'));
    mkdirSync(join(folder, '.git'));
    for (const head of ['', 'ref: refs/heads/main\n', 'ref: ../../etc/passwd\n', 'x'.repeat(40)]) {
      writeFileSync(join(folder, '.git/HEAD'), head);
      strictEqual(readCommit(folder), null);
    }
  });

  it('has the commit that the package was packed from', () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'dist'));
    const commit = '0123456789abcdef0123456789abcdef01234567';
    writeFileSync(join(folder, 'dist/commit'), commit);
    strictEqual(readCommit(folder), commit);
    writeFileSync(join(folder, 'dist/commit'), '');
    strictEqual(readCommit(folder), null);
  });

  it('is in its name, with the commit where there is one', () => {
    const { version } = readVersion();
    strictEqual(formatVersion({ version, commit: null }), `botshelf ${version}`);
    strictEqual(formatVersion({ version, commit: '0123456789ab' }), `botshelf ${version} (0123456789ab)`);
  });
});
