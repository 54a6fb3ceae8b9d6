import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  fsyncFiles,
  fsyncFolder,
  fsyncFolders,
  makeFolder,
  removeUnfinishedWrites,
  writeAtomically,
} from '../../src/lib/files.ts';
import { eventually } from '../support/eventually.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('fsync', () => {
  it('makes a folder with those above it, also where it exists, but none below a file', async () => {
    const folder = join(tempFolder(), 'a/b/c');
    await Promise.all([makeFolder(folder), makeFolder(folder)]);
    strictEqual(statSync(folder).isDirectory(), true);
    await makeFolder(folder);
    writeFileSync(join(folder, 'file'), '');
    await rejects(makeFolder(join(folder, 'file/a')), { code: 'ENOTDIR' });
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
});

describe('an atomic write', () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = tempFolder();
    path = join(folder, 'file');
  });

  it('replaces a file, makes its folders, and leaves nothing else behind', async () => {
    const deep = join(folder, 'a/b/file');
    for (const fsync of ['none', 'content', 'content and name'] as const) {
      await writeAtomically(deep, fsync, { fsync });
      strictEqual(readFileSync(deep, 'utf8'), fsync);
      deepStrictEqual(readdirSync(join(folder, 'a/b')), ['file']);
    }
  });

  it('that a crash ended leaves a file that can be removed, and no other is', async () => {
    const name = await new Promise<string>((resolve) => {
      void writeAtomically(path, async () => resolve(readdirSync(folder).join()), { fsync: 'none' });
    });
    await eventually(() => deepStrictEqual(readdirSync(folder), ['file']));
    for (const other of [name, 'file.1.1.tmp', '.file.tmp']) writeFileSync(join(folder, other), '');
    await removeUnfinishedWrites(folder);
    deepStrictEqual(readdirSync(folder), ['.file.tmp', 'file', 'file.1.1.tmp']);
    await removeUnfinishedWrites(join(folder, 'nowhere'));
  });

  it('leaves the old file as it is, and nothing else, when its content cannot be written', async () => {
    writeFileSync(path, 'old');
    const failing = writeAtomically(
      path,
      async (file) => {
        await file.write('half of the new');
        throw new Error('no more');
      },
      { fsync: 'content' },
    );
    await rejects(failing, /no more/);
    strictEqual(readFileSync(path, 'utf8'), 'old');
    deepStrictEqual(readdirSync(folder), ['file']);
  });

  it('leaves nothing behind where a folder has the name of the file', async () => {
    await writeAtomically(join(path, 'below'), '', { fsync: 'none' });
    const message = `EISDIR: illegal operation on a directory, rename '${path}' -> '${path}'`;
    await rejects(writeAtomically(path, 'text', { fsync: 'none' }), { code: 'EISDIR', message });
    deepStrictEqual(readdirSync(folder), ['file']);
  });

  it('keeps apart what is written to the same file at the same time', async () => {
    const texts = Array.from({ length: 20 }, (_, i) => String(i).repeat(10_000));
    await Promise.all(texts.map(async (text) => await writeAtomically(path, text, { fsync: 'none' })));
    strictEqual(texts.includes(readFileSync(path, 'utf8')), true);
    deepStrictEqual(readdirSync(folder), ['file']);
  });
});
