import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { join } from 'node:path';
import { readOrigin } from '../../../src/git/branch/clone.ts';
import { openerOf } from '../../support/opened.ts';
import { testRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { tempFolder } from '../../support/temp-folder.ts';

describe('the origin of a catalogue', () => {
  const originOf = async (folder: string): ReturnType<typeof readOrigin> =>
    await readOrigin(openerOf(folder));

  it('is the remote, the branch, and where the catalogue is in the repository', async () => {
    const repository = testRepository({ [join('catalogue', pagePath('7'))]: mainPage() });
    repository.git('remote', 'add', 'origin', 'git@github.com:o/r.git');
    repository.git('switch', '-q', '-c', 'release/1.x');
    deepStrictEqual(await originOf(join(repository.folder, 'catalogue')), {
      remote: 'git@github.com:o/r.git',
      branch: 'release/1.x',
      prefix: 'catalogue/',
    });
  });

  it('is not there without a remote, on no branch, and outside of a repository', async () => {
    const repository = testRepository({ [pagePath('7')]: mainPage() });
    strictEqual(await originOf(repository.folder), null);
    repository.git('remote', 'add', 'origin', 'git@github.com:o/r.git');
    repository.git('switch', '-q', '--detach');
    strictEqual(await originOf(repository.folder), null);
    strictEqual(await originOf(tempFolder()), null);
  });
});
