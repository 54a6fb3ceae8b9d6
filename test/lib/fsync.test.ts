import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFoldersUpTo, fsyncFiles, fsyncFolder, fsyncFolders, makeFolder } from '../../src/lib/files.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('fsync', () => {
  it('makes a folder with those above it, also where it exists', async () => {
    const folder = join(tempFolder(), 'a/b/c');
    await Promise.all([makeFolder(folder), makeFolder(folder)]);
    strictEqual(statSync(folder).isDirectory(), true);
    await makeFolder(folder);
  });

  it('makes no folder below a file', async () => {
    const file = join(tempFolder(), 'file');
    writeFileSync(file, '');
    await rejects(makeFolder(join(file, 'a')), { code: 'ENOTDIR' });
  });

  it('fails for the one folder that is gone, and leaves it out of many', async () => {
    const folder = tempFolder();
    const gone = join(folder, 'gone');
    await rejects(fsyncFolder(gone), { code: 'ENOENT' });
    const file = join(folder, 'file');
    writeFileSync(file, '');
    await fsyncFolders([folder, gone, join(file, 'below')]);
    await fsyncFiles([join(folder, 'gone')]);
  });

  it('knows the folders in which a name may be new', () => {
    deepStrictEqual(listFoldersUpTo('/git', '/git/refs/heads/main'), [
      '/git/refs/heads',
      '/git/refs',
      '/git',
    ]);
  });
});
