import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import { renameSync, rmSync, symlinkSync, utimesSync, writeFileSync, chmodSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { execFileSync } from 'node:child_process';
import { Catalogue } from '../../../src/catalogue/catalogue.ts';
import { type Log, silentLog } from '../../../src/lib/log.ts';
import { eventually } from '../../support/eventually.ts';
import { openCatalogue } from '../../support/live-catalogue.ts';
import { mainPage, pagePath, translation } from '../../support/sample.ts';
import { tempFolder, writeFiles } from '../../support/temp-folder.ts';

function named(name: string, page = 'The page.'): string {
  return mainPage({ name }, page);
}

describe('a catalogue', () => {
  it('is read whole before it is ready', async () => {
    const { catalogue, name } = await openCatalogue({
      [pagePath('7')]: named('Seven'),
      [pagePath('30')]: named('Thirty'),
    });
    deepStrictEqual([name('7'), name('30'), name('8')], ['Seven', 'Thirty', undefined]);
    deepStrictEqual([catalogue.isReady, catalogue.faults], [true, []]);
  });

  it('cannot be read where there is no bots/, and may be empty', async () => {
    const catalogue = new Catalogue({ root: tempFolder(), log: silentLog, snapshot: null });
    await rejects(catalogue.load(), { name: 'UserError', message: /has no folder bots\/: make a catalogue/ });
    await catalogue.close();
    const { write, name } = await openCatalogue({ 'bots/.gitkeep': '' });
    write({ [pagePath('7')]: named('Seven') });
    await eventually(() => name('7') === 'Seven');
  });

  it('finds in rounds what no hint reported', async () => {
    const { root, catalogue, name } = await openCatalogue(
      { [pagePath('7')]: named('Old') },
      { roundSeconds: 0.1 },
    );
    ok(catalogue.isReady);
    renameSync(join(root, 'bots'), join(root, 'away'));
    writeFileSync(join(root, 'away/007/7.en.md'), named('New'));
    renameSync(join(root, 'away'), join(root, 'bots'));
    await eventually(() => name('7') === 'New');
  });

  it('keeps what it served while bots/ itself is away, and says so @slow', async () => {
    const { root, catalogue, write, name } = await openCatalogue(
      { [pagePath('7')]: named('Old') },
      { roundSeconds: 0.1 },
    );
    renameSync(join(root, 'bots'), join(root, 'away'));
    await eventually(() => catalogue.bots.fault?.startsWith('bots/ cannot be read: ') ?? false);
    await rest(300);
    strictEqual(name('7'), 'Old');
    renameSync(join(root, 'away'), join(root, 'bots'));
    await eventually(() => catalogue.faults.length === 0);
    write({ [pagePath('7')]: named('New') });
    await eventually(() => name('7') === 'New');
  });

  it('keeps what it served while Git is replacing files, however long it takes from one to the other', async () => {
    let isWriting = true;
    const { root, write, name } = await openCatalogue(
      { [pagePath('7')]: named('Old'), [pagePath('8')]: named('Eight') },
      { isGitWriting: () => isWriting },
    );
    for (const id of ['7', '8']) rmSync(join(root, pagePath(id)));
    await rest(600);
    deepStrictEqual([name('7'), name('8')], ['Old', 'Eight']);
    write({ [pagePath('7')]: named('New') });
    isWriting = false;
    await eventually(() => name('7') === 'New' && name('8') === undefined);
  });

  it('serves what was committed at once, and what a person saved in that moment as soon as it is whole', async () => {
    const { catalogue, write, name } = await openCatalogue({ [pagePath('7')]: named('Old') });
    const put = (text: string): void => catalogue.put(new Map([[pagePath('7'), Buffer.from(named(text))]]));
    // After this, the file is no longer new; a new file would be read again.
    await rest(200);
    put('Posted');
    await rest(600);
    // Shown although the file could not be replaced.
    strictEqual(name('7'), 'Posted');
    write({ [pagePath('7')]: named('Saved') });
    put('Posted again');
    strictEqual(name('7'), 'Posted again');
    await eventually(() => name('7') === 'Saved');
  });

  it('keeps what it served while bots/ is a symbolic link, reads nothing through it, and says so', async () => {
    const { root, catalogue, name } = await openCatalogue(
      { [pagePath('7')]: named('Seven') },
      { roundSeconds: 0.1 },
    );
    renameSync(join(root, 'bots'), join(root, 'away'));
    writeFiles(root, { [pagePath('8').replace('bots', 'elsewhere')]: named('Eight') });
    symlinkSync('elsewhere', join(root, 'bots'));
    await eventually(() => catalogue.bots.fault?.includes('bots is a symbolic link') ?? false);
    await rest(300);
    deepStrictEqual([name('7'), name('8')], ['Seven', undefined]);
    rmSync(join(root, 'bots'));
    renameSync(join(root, 'away'), join(root, 'bots'));
    await eventually(() => catalogue.bots.fault === null);
    strictEqual(name('7'), 'Seven');
  });

  describe('calls back', () => {
    it('and of nothing when a file is written as it is', async () => {
      const { root, catalogue, write, name } = await openCatalogue({
        [pagePath('7')]: named('Seven'),
        [pagePath('8')]: named('Old'),
      });
      const { version } = catalogue.store.bots;
      write({ [pagePath('7')]: named('Seven') });
      utimesSync(join(root, pagePath('7')), 5, 5);
      write({ [pagePath('8')]: named('New') });
      await eventually(() => name('8') === 'New');
      strictEqual(catalogue.store.bots.version, version + 1);
    });
  });

  describe('with a faulty file', () => {
    const bad = '---\n{"name": }\n---\n';

    it('says so once, however often it is looked at', async () => {
      const warnings: object[] = [];
      const log: Log = { ...silentLog, warn: (fields) => warnings.push(fields) };
      const { root, name, write } = await openCatalogue({ [pagePath('7')]: bad }, { log, roundSeconds: 0.1 });
      for (const time of [5, 6, 7]) {
        utimesSync(join(root, pagePath('7')), time, time);
        await rest(30);
      }
      write({ [pagePath('8')]: named('Eight') });
      await eventually(() => name('8') === 'Eight');
      strictEqual(warnings.length, 1, JSON.stringify(warnings));
    });

    it('lists faults by path, then by line', async () => {
      const { catalogue } = await openCatalogue({
        [pagePath('30')]: mainPage({ website: 'x', authors: [], name: '' }),
        [pagePath('7')]: bad,
        'bots/README': '',
      });
      deepStrictEqual(
        catalogue.store.faults().map(({ path, line }) => `${path}:${line}`),
        [
          'bots/007/7.en.md:2',
          'bots/030/30.en.md:3',
          'bots/030/30.en.md:5',
          'bots/030/30.en.md:9',
          'bots/README:1',
        ],
      );
    });
  });

  it('looks at a bot without forgetting what is wrong with its other files', async () => {
    const { catalogue, write, name, faults } = await openCatalogue({
      [pagePath('7')]: named('Old'),
      [pagePath('7', 'fr')]: 'broken',
    });
    write({ [pagePath('7')]: named('New', 'Another end.') });
    catalogue.look([pagePath('7'), pagePath('8')]);
    deepStrictEqual([name('7'), name('8')], ['New', undefined]);
    deepStrictEqual(faults(), [`${pagePath('7', 'fr')} opener`]);
  });

  it('comes to what a fresh reading of its files would be, whatever happened to them', async () => {
    const ids = ['7', '1007', '30', '190519304972663312'];
    const { root, catalogue, write } = await openCatalogue({ [pagePath('7')]: named('Seven') });
    for (let step = 0; step < 60; step++) {
      const id = ids[step % ids.length] ?? '7';
      const locale = ['en', 'de', 'fr'][step % 3] ?? 'en';
      if (step % 7 === 3) rmSync(join(root, pagePath(id, locale)), { force: true });
      else if (locale === 'en') write({ [pagePath(id)]: named(`Step ${step}`, 'x'.repeat(step)) });
      else write({ [pagePath(id, locale)]: translation(`Step ${step}`, 'y') });
      await rest(step % 5 === 0 ? 15 : 0);
    }
    for (const id of ids) write({ [pagePath(id)]: named('Last') });
    const fresh = await openCatalogue({}, { root });
    await eventually(() => deepStrictEqual(catalogue.store.bots.all(), fresh.catalogue.store.bots.all()));
  });
});

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
    const root = tempFolder({ ...good, 'outside/30.en.md': mainPage() });
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
    const root = tempFolder(good);
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
