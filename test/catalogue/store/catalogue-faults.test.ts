import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { openCatalogue } from '../../support/live-catalogue.ts';
import { mainPage, pagePath, writeFiles } from '../../support/sample.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const good = { [pagePath('7')]: mainPage({ name: 'Seven' }) };

describe('a catalogue names', () => {
  it('what is no page by its path, and serves the others', async () => {
    const { faults, name } = await openCatalogue({
      ...good,
      'bots/notes.txt': '',
      'bots/7/7.en.md': mainPage(),
      'bots/007/README.md': '',
      'bots/007/.7.en.md.swp': '',
      'bots/007/30.en.md': mainPage(),
      'bots/007/7.EN.md': mainPage(),
      'bots/007/deeper/7.en.md': mainPage(),
      'bots/124': 'a file where a folder should be',
    });
    deepStrictEqual(faults(), [
      'bots/007/.7.en.md.swp stray-file',
      'bots/007/30.en.md wrong-folder',
      'bots/007/7.EN.md wrong-locale',
      'bots/007/README.md stray-file',
      'bots/007/deeper stray-file',
      'bots/124 stray-file',
      'bots/7 stray-file',
      'bots/notes.txt stray-file',
    ]);
    strictEqual(name('7'), 'Seven');
  });

  it('a folder that is a symbolic link, and reads nothing through it', async () => {
    const root = tempFolder();
    writeFiles(root, { ...good, 'outside/30.en.md': mainPage() });
    symlinkSync(join(root, 'outside'), join(root, 'bots/030'));
    const { faults, name } = await openCatalogue({}, { root });
    deepStrictEqual(faults(), ['bots/030 stray-file']);
    strictEqual(name('30'), undefined);
  });

  it('such things when they come later, and forgets them when they go', async () => {
    const { root, faults, write } = await openCatalogue(good);
    for (const path of ['bots/007/README.md', 'bots/notes.txt']) {
      write({ [path]: '' });
      await eventually(() => deepStrictEqual(faults(), [`${path} stray-file`]));
      rmSync(join(root, path));
      await eventually(() => deepStrictEqual(faults(), []));
    }
  });

  it('a page that may not be read, until it may', async function () {
    const root = tempFolder();
    writeFiles(root, good);
    execFileSync('chmod', ['-R', 'a+rX', root]);
    chmodSync(join(root, pagePath('7')), 0);
    const asRoot = process.geteuid?.() === 0;
    if (asRoot) process.seteuid?.(65534);
    try {
      const { faults } = await openCatalogue({}, { root });
      deepStrictEqual(faults(), [`${pagePath('7')} regular-file`]);
      if (asRoot) process.seteuid?.(0);
      chmodSync(join(root, pagePath('7')), 0o644);
      await eventually(() => faults().length === 0);
    } finally {
      if (asRoot) process.seteuid?.(0);
    }
  });
});
