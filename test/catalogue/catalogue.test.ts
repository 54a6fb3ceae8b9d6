import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { type Log, silentLog } from '../../src/log.ts';
import { eventually } from '../support/eventually.ts';
import { openCatalogue } from '../support/live-catalogue.ts';
import { botId, mainPage, pagePath, translation } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

const run = promisify(execFile);

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
    deepStrictEqual(catalogue.status, { ready: true, watcherFault: null, folderFault: null });
  });

  it('cannot be read where there is no bots/', async () => {
    const catalogue = new Catalogue({ root: tempFolder(), log: silentLog, snapshot: null });
    await rejects(catalogue.load(), { code: 'ENOENT' });
    await catalogue.close();
  });

  it('may be empty', async () => {
    const { write, name } = await openCatalogue({ 'bots/.gitkeep': '' });
    write({ [pagePath('7')]: named('Seven') });
    await eventually(() => name('7') === 'Seven');
  });

  describe('follows its files:', () => {
    it('an edit', async () => {
      const { write, name } = await openCatalogue({ [pagePath('7')]: named('Old') });
      write({ [pagePath('7')]: named('New') });
      await eventually(() => name('7') === 'New');
      write({ [pagePath('7')]: named('Newer', 'Another end.') });
      await eventually(() => name('7') === 'Newer');
    });

    it('a torn write, in two halves 200 ms apart, never serves garbage', async () => {
      const long = 'A long page. '.repeat(500);
      const { root, catalogue, write } = await openCatalogue({
        [pagePath('7')]: named('Old', long),
        [pagePath('30')]: named('Old', long),
        [pagePath('200')]: named('Old', 'Short.'),
      });
      const record = (id: string): string => String(catalogue.bots.get(botId(id))?.record);
      const seen = new Map(['7', '30', '200', '8'].map((id) => [id, new Set([record(id)])]));
      catalogue.onChange((id) => seen.get(id)?.add(record(id)));

      const texts = {
        '7': named('New', long),
        '30': named('New', `${long}More.`),
        '200': named('New', long),
      };
      const halves = { '7': 40, '30': 4000, '200': 3000, '8': 3000 };
      const whole = { ...texts, '8': named('New', long) };
      for (const [id, text] of Object.entries(whole)) {
        write({ [pagePath(id)]: '' });
        appendFileSync(join(root, pagePath(id)), text.slice(0, halves[id as keyof typeof halves]));
      }
      await rest(200);
      for (const [id, text] of Object.entries(whole))
        appendFileSync(join(root, pagePath(id)), text.slice(halves[id as keyof typeof halves]));

      await eventually(() => [...seen.values()].every((records) => records.size > 1));
      await rest(500);
      for (const [id, records] of seen) {
        strictEqual(records.size, 2, `${id}: the old record, the new one, and no other`);
        strictEqual(JSON.parse(record(id)).contents.en.name, 'New');
      }
      deepStrictEqual(catalogue.faults(), []);
    });

    it('an atomic save by rename', async () => {
      const { root, write, name } = await openCatalogue({ [pagePath('7')]: named('Old') });
      write({ '.7.tmp': named('New', 'Another end.') });
      renameSync(join(root, '.7.tmp'), join(root, pagePath('7')));
      await eventually(() => name('7') === 'New');
    });

    it('a save by an editor that moves the file away first never misses the bot', async () => {
      const { root, catalogue, write, name } = await openCatalogue({ [pagePath('7')]: named('Old') });
      let missing = false;
      catalogue.onChange((id) => (missing ||= catalogue.bots.get(id) === undefined));
      renameSync(join(root, pagePath('7')), join(root, `${pagePath('7')}~`));
      await rest(20);
      write({ [pagePath('7')]: named('New') });
      rmSync(join(root, `${pagePath('7')}~`));
      await eventually(() => name('7') === 'New');
      strictEqual(missing, false);
    });

    it('a delete', async () => {
      const { root, catalogue, name } = await openCatalogue({
        [pagePath('7')]: named('Seven'),
        [pagePath('7', 'fr')]: translation('Sept', 'Répond.'),
        [pagePath('30')]: named('Thirty'),
      });
      rmSync(join(root, pagePath('7', 'fr')));
      await eventually(() => catalogue.bots.get(botId('7'))?.facts.locales.length === 1);
      rmSync(join(root, pagePath('7')));
      await eventually(() => name('7') === undefined);
      strictEqual(catalogue.bots.size, 1);
    });

    it('a new locale, in the place that it has after a restart', async () => {
      const { root, catalogue, write } = await openCatalogue({
        [pagePath('7', 'en')]: named('Seven'),
        [pagePath('7', 'fr')]: translation('Sept', 'Répond.'),
      });
      write({ [pagePath('7', 'de')]: translation('Sieben', 'Antwortet.') });
      const locales = (catalogue: Catalogue): unknown => catalogue.bots.get(botId('7'))?.facts.locales;
      await eventually(() => deepStrictEqual(locales(catalogue), ['en', 'de', 'fr']));
      const again = await openCatalogue({}, { root });
      deepStrictEqual(again.catalogue.bots.all(), catalogue.bots.all());
    });

    it('another file that becomes the main page', async () => {
      const { catalogue, write } = await openCatalogue({
        [pagePath('7', 'en')]: named('Seven'),
        [pagePath('7', 'fr')]: translation('Sept', 'Répond.'),
      });
      const names = new Set<string | undefined>();
      catalogue.onChange((id) => names.add(catalogue.bots.get(id)?.facts.name));
      write({
        [pagePath('7', 'fr')]: named('Huit'),
        [pagePath('7', 'en')]: translation('Eight', 'Answers.'),
      });
      const locales = (): unknown => catalogue.bots.get(botId('7'))?.facts.locales;
      await eventually(() => deepStrictEqual(locales(), ['fr', 'en']));
      deepStrictEqual([...names], ['Huit']);
      deepStrictEqual(catalogue.faults(), []);
    });

    it('a folder that is renamed away and back', async () => {
      const { root, write, name } = await openCatalogue({
        [pagePath('7')]: named('Seven'),
        [pagePath('30')]: named('Thirty'),
      });
      renameSync(join(root, 'bots/007'), join(root, 'away'));
      await eventually(() => name('7') === undefined);
      strictEqual(name('30'), 'Thirty');
      renameSync(join(root, 'away'), join(root, 'bots/007'));
      await eventually(() => name('7') === 'Seven');
      write({ [pagePath('7')]: named('New') });
      await eventually(() => name('7') === 'New');
    });

    it('a folder that another takes the place of at once', async () => {
      const { root, write, name } = await openCatalogue({ [pagePath('7')]: named('Seven') });
      rmSync(join(root, 'bots/007'), { recursive: true });
      write({ [pagePath('7')]: named('New') });
      await eventually(() => name('7') === 'New');
      write({ [pagePath('7')]: named('Newer') });
      await eventually(() => name('7') === 'Newer');
    });

    it('two writes 20 ms apart, the last of which is served', async () => {
      const ids = Array.from({ length: 20 }, (_, i) => String(i));
      const { write, name } = await openCatalogue(
        Object.fromEntries(ids.map((id) => [pagePath(id), named('Old')])),
      );
      for (const id of ids) {
        write({ [pagePath(id)]: named('First', `Page ${id}.`) });
        await rest(20);
        write({ [pagePath(id)]: named('Last!', `Page ${id}.`) });
      }
      await eventually(() => ids.every((id) => name(id) === 'Last!'));
    });

    it('10,000 edits in a second', async () => {
      const paths = Array.from({ length: 100 }, (_, i) => pagePath(String(i)));
      const { root, catalogue } = await openCatalogue(
        Object.fromEntries(paths.map((path) => [path, named('Edit 000')])),
      );
      const edits = `
        const { openSync, writeSync } = require('node:fs');
        const [paths, text] = JSON.parse(process.argv[1]);
        const files = paths.map((path) => openSync(path, 'r+'));
        for (let i = 100; i < 200; i++) for (const file of files) writeSync(file, text.replace('000', i), 0);
      `;
      await run(process.execPath, ['-e', edits, JSON.stringify([paths, named('Edit 000')])], { cwd: root });
      await eventually(() => catalogue.bots.all().every(({ facts }) => facts.name === 'Edit 199'));
      deepStrictEqual(catalogue.faults(), []);
    });

    it("an edit of which the kernel's queue had no room to tell", async () => {
      const { root, write, name } = await openCatalogue({
        [pagePath('1')]: named('One'),
        [pagePath('2')]: named('Two'),
        [pagePath('3')]: named('Old'),
      });
      await rest(100);
      const limit = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'));
      for (let i = 0; i <= limit; i++) appendFileSync(join(root, pagePath(i % 2 === 0 ? '1' : '2')), '.');
      write({ [pagePath('3')]: named('New') });
      await eventually(() => name('3') === 'New');
    });

    it('git checkout of another branch that changes 5,000 files', async function () {
      this.timeout(60_000);
      const root = tempFolder();
      const git = async (...args: string[]): Promise<unknown> => await run('git', args, { cwd: root });
      const ids = Array.from({ length: 5000 }, (_, i) => String(10_000 + i));
      const branch = (name: string, only: string): string =>
        commitOf(name.toLowerCase(), {
          ...Object.fromEntries(ids.map((id) => [pagePath(id), named(name, `Ends with ${name}.`)])),
          [pagePath(only)]: named(`Only ${name}`),
        });
      await git('init', '-q');
      execFileSync('git', ['fast-import', '--quiet'], {
        cwd: root,
        input: branch('First', '1') + branch('Second', '2'),
      });
      await git('checkout', '-q', 'second');

      const { catalogue, name } = await openCatalogue({}, { root });
      const missing: string[] = [];
      catalogue.onChange((id) => {
        if (id.length > 1 && catalogue.bots.get(id) === undefined) missing.push(id);
      });
      for (const [branch, expected] of [
        ['first', 'First'],
        ['second', 'Second'],
      ] as const) {
        await git('checkout', '-q', branch);
        await eventually(() => ids.every((id) => name(id) === expected), 30);
        await eventually(() => catalogue.bots.size === 5001);
      }
      deepStrictEqual([name('1'), name('2')], [undefined, 'Only Second']);
      deepStrictEqual(missing, []);
    });
  });

  it('by rounds finds what no hint told of', async () => {
    const { root, catalogue, name } = await openCatalogue(
      { [pagePath('7')]: named('Old') },
      { roundSeconds: 1 },
    );
    ok(catalogue.status.ready);
    renameSync(join(root, 'bots'), join(root, 'away'));
    writeFileSync(join(root, 'away/007/7.en.md'), named('New'));
    renameSync(join(root, 'away'), join(root, 'bots'));
    await eventually(() => name('7') === 'New');
  });

  it('keeps what it served while bots/ itself is away, and says so', async () => {
    const { root, catalogue, write, name } = await openCatalogue(
      { [pagePath('7')]: named('Old') },
      { roundSeconds: 1 },
    );
    renameSync(join(root, 'bots'), join(root, 'away'));
    await eventually(() => catalogue.status.folderFault?.startsWith('bots/ cannot be read: ') ?? false);
    await eventually(() => catalogue.status.watcherFault !== null);
    await rest(300);
    strictEqual(name('7'), 'Old');
    renameSync(join(root, 'away'), join(root, 'bots'));
    await eventually(() => {
      const { folderFault, watcherFault } = catalogue.status;
      return folderFault === null && watcherFault === null;
    });
    write({ [pagePath('7')]: named('New') });
    await eventually(() => name('7') === 'New');
  });

  describe('tells of its changes', () => {
    it('with the id of each bot that is served anew, differently, or no more, once', async () => {
      const { root, catalogue, write } = await openCatalogue({ [pagePath('7')]: named('Seven') });
      const told: string[] = [];
      catalogue.onChange((id) => told.push(id));
      write({ [pagePath('8')]: named('Eight') });
      await eventually(() => told.length > 0);
      write({ [pagePath('7')]: named('New') });
      await eventually(() => told.length > 1);
      rmSync(join(root, pagePath('8')));
      await eventually(() => told.length > 2);
      deepStrictEqual(told, ['8', '7', '8']);
    });

    it('and of nothing when a file is written as it is', async () => {
      const { root, catalogue, write, name } = await openCatalogue({
        [pagePath('7')]: named('Seven'),
        [pagePath('8')]: named('Old'),
      });
      const { version } = catalogue.bots;
      write({ [pagePath('7')]: named('Seven') });
      utimesSync(join(root, pagePath('7')), 5, 5);
      write({ [pagePath('8')]: named('New') });
      await eventually(() => name('8') === 'New');
      strictEqual(catalogue.bots.version, version + 1);
    });
  });

  describe('with a faulty file', () => {
    const bad = '---\n{"name": }\n---\n';

    it('serves the last good version, names the fault, and forgets it when it is mended', async () => {
      const { write, name, faults, catalogue } = await openCatalogue({ [pagePath('7')]: named('Old') });
      write({ [pagePath('7')]: bad });
      await eventually(() => deepStrictEqual(faults(), [`${pagePath('7')} json`]));
      strictEqual(name('7'), 'Old');
      deepStrictEqual(
        catalogue.faults().map(({ line, column }) => [line, column]),
        [[2, 10]],
      );
      write({ [pagePath('7')]: named('New') });
      await eventually(() => name('7') === 'New');
      deepStrictEqual(faults(), []);
    });

    it('forgets the fault with the file', async () => {
      const { root, faults } = await openCatalogue({ [pagePath('7')]: bad });
      deepStrictEqual(faults(), [`${pagePath('7')} json`]);
      rmSync(join(root, pagePath('7')));
      await eventually(() => faults().length === 0);
    });

    it('says so once, however often it is looked at', async () => {
      const warnings: object[] = [];
      const log: Log = { ...silentLog, warn: (fields) => warnings.push(fields) };
      const { root, name, write } = await openCatalogue({ [pagePath('7')]: bad }, { log, roundSeconds: 1 });
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
        catalogue.faults().map(({ path, line }) => `${path}:${line}`),
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

  describe('reloads a bot', () => {
    it('at once, believing what is there', async () => {
      const { catalogue, write, name } = await openCatalogue({ [pagePath('7')]: named('Old') });
      write({ [pagePath('7')]: named('New', 'Another end.') });
      catalogue.reload([botId('7'), botId('8')]);
      strictEqual(name('7'), 'New');
      strictEqual(name('8'), undefined);
    });

    it('without forgetting what is wrong with its other files', async () => {
      const { catalogue, write, faults } = await openCatalogue({
        [pagePath('7')]: named('Old'),
        [pagePath('7', 'fr')]: 'broken',
      });
      write({ [pagePath('7')]: named('New') });
      catalogue.reload([botId('7')]);
      deepStrictEqual(faults(), [`${pagePath('7', 'fr')} opener`]);
    });
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
    await eventually(() => deepStrictEqual(catalogue.bots.all(), fresh.catalogue.bots.all()));
  });
});

/** A commit of these files on a new branch, for git fast-import. */
function commitOf(branch: string, files: Readonly<Record<string, string>>): string {
  const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const changes = Object.entries(files).map(([path, text]) => `M 644 inline ${path}\n${data(text)}`);
  const committer = 'committer Test <test@example.org> 1700000000 +0000\n';
  return `commit refs/heads/${branch}\n${committer}${data(branch)}${changes.join('')}\n`;
}
