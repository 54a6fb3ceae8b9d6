import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Catalogue } from '../../../src/catalogue/catalogue.ts';
import { eventually } from '../../support/eventually.ts';
import { holdIntervals } from '../../support/intervals.ts';
import { openCatalogue } from '../../support/live-catalogue.ts';
import { testRepository } from '../../support/repository.ts';
import { botId, mainPage, pagePath, translation } from '../../support/sample.ts';

const run = promisify(execFile);

function named(name: string, page = 'The page.'): string {
  return mainPage({ name }, page);
}

describe('a catalogue follows its files:', () => {
  it('a save by an editor that replaces the file, or moves it away first, never misses the bot', async () => {
    const { root, catalogue, write, name } = await openCatalogue({ [pagePath('7')]: named('Old') });
    let missing = false;
    catalogue.store.on('change', (id) => (missing ||= catalogue.store.bots.get(id) === undefined));
    write({ '.7.tmp': named('New', 'Another end.') });
    renameSync(join(root, '.7.tmp'), join(root, pagePath('7')));
    await eventually(() => name('7') === 'New');
    renameSync(join(root, pagePath('7')), join(root, `${pagePath('7')}~`));
    await rest(20);
    write({ [pagePath('7')]: named('Newer') });
    rmSync(join(root, `${pagePath('7')}~`));
    await eventually(() => name('7') === 'Newer');
    strictEqual(missing, false);
  });

  it('a new locale, in the place that it has after a restart', async () => {
    const { root, catalogue, write } = await openCatalogue({
      [pagePath('7', 'en')]: named('Seven'),
      [pagePath('7', 'fr')]: translation('Sept', 'Répond.'),
    });
    write({ [pagePath('7', 'de')]: translation('Sieben', 'Antwortet.') });
    await eventually(() => deepStrictEqual(localesOf(catalogue), ['en', 'de', 'fr']));
    const again = await openCatalogue({}, { root });
    deepStrictEqual(again.catalogue.store.bots.all(), catalogue.store.bots.all());
  });

  it('another file that becomes the main page', async () => {
    const { catalogue, write } = await openCatalogue({
      [pagePath('7', 'en')]: named('Seven'),
      [pagePath('7', 'fr')]: translation('Sept', 'Répond.'),
    });
    const names = new Set<string | undefined>();
    catalogue.store.on('change', (id) => names.add(catalogue.store.bots.get(id)?.facts.name));
    write({ [pagePath('7', 'fr')]: named('Huit'), [pagePath('7', 'en')]: translation('Eight', 'Answers.') });
    await eventually(() => deepStrictEqual(localesOf(catalogue), ['fr', 'en']));
    deepStrictEqual([...names], ['Huit']);
    deepStrictEqual(catalogue.store.faults(), []);
  });

  it('a folder that is renamed away and back, or replaced at once', async () => {
    const { root, write, name } = await openCatalogue({
      [pagePath('7')]: named('Seven'),
      [pagePath('30')]: named('Thirty'),
    });
    renameSync(join(root, 'bots/007'), join(root, 'away'));
    await eventually(() => name('7') === undefined);
    strictEqual(name('30'), 'Thirty');
    renameSync(join(root, 'away'), join(root, 'bots/007'));
    await eventually(() => name('7') === 'Seven');
    rmSync(join(root, 'bots/007'), { recursive: true });
    for (const text of ['New', 'Newer']) {
      write({ [pagePath('7')]: named(text) });
      await eventually(() => name('7') === text);
    }
  });

  it('a file of the future, as one from a machine with a wrong clock', async () => {
    const { root, write, name } = await openCatalogue({ [pagePath('7')]: named('Old') });
    write({ '.7.tmp': named('New', 'Another end.') });
    utimesSync(join(root, '.7.tmp'), 9e9, 9e9);
    renameSync(join(root, '.7.tmp'), join(root, pagePath('7')));
    await eventually(() => name('7') === 'New');
  });

  it('another bots/ that takes the place of the first at once, which has its inode on ext4', async () => {
    const pass = holdIntervals();
    const { root, write, name } = await openCatalogue({ [pagePath('7')]: named('Old') });
    rmSync(join(root, 'bots'), { recursive: true });
    write({ [pagePath('7')]: named('Seven') });
    pass(1);
    await eventually(() => name('7') === 'Seven');
    write({ [pagePath('1007')]: named('New'), [pagePath('8')]: named('Eight') });
    await eventually(() => name('1007') === 'New' && name('8') === 'Eight');
  });

  it('with one inotify watch a folder, and none a file', async () => {
    const watchesOf = async (...ids: string[]): Promise<number> => {
      const before = inotifyWatches();
      await openCatalogue(Object.fromEntries(ids.map((id) => [pagePath(id), named('Bot')])));
      return inotifyWatches() - before;
    };
    strictEqual((await watchesOf('7', '1007', '2007', '8', '9')) - (await watchesOf('7')), 2);
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

  it("an edit of which the kernel's queue had no room to tell @slow", async () => {
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

  it('git checkout of another branch that changes 200 files @slow', async () => {
    const { folder: root, commitAll } = testRepository();
    const ids = Array.from({ length: 200 }, (_, i) => String(10_000 + i));
    const files = (name: string, only: string): Readonly<Record<string, string>> => ({
      ...Object.fromEntries(ids.map((id) => [pagePath(id), named(name, `Ends with ${name}.`)])),
      [pagePath(only)]: named(`Only ${name}`),
    });
    const [first = ''] = commitAll([
      { files: files('First', '1') },
      { files: { ...files('Second', '2'), [pagePath('1')]: null } },
    ]);

    const { catalogue, name } = await openCatalogue({}, { root });
    const missing: string[] = [];
    catalogue.store.on('change', (id) => {
      if (id.length > 1 && catalogue.store.bots.get(id) === undefined) missing.push(id);
    });
    await run('git', ['checkout', '-q', first], { cwd: root });
    await eventually(() => ids.every((id) => name(id) === 'First') && name('2') === undefined);
    strictEqual(name('1'), 'Only First');
    deepStrictEqual(missing, []);
  });
});

/** Returns the languages of bot 7, the default one first. */
function localesOf(catalogue: Catalogue): readonly string[] | undefined {
  return catalogue.store.bots.get(botId('7'))?.facts.locales;
}

/** Returns the number of inotify watches of this process. */
function inotifyWatches(): number {
  const texts = readdirSync('/proc/self/fdinfo').map((name) => {
    try {
      return readFileSync(`/proc/self/fdinfo/${name}`, 'utf8');
    } catch {
      return '';
    }
  });
  return texts.join('').match(/^inotify /gm)?.length ?? 0;
}
