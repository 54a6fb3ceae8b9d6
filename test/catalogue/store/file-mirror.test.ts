import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { appendFileSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import type { Locale } from '../../../src/bot/locale.ts';
import type { Catalogue } from '../../../src/catalogue/catalogue.ts';
import { eventually } from '../../support/eventually.ts';
import { holdIntervals } from '../../support/intervals.ts';
import { openCatalogue } from '../../support/live-catalogue.ts';
import { recordedLog } from '../../support/recorded-log.ts';
import { botId, collection, mainPage, pagePath, profile } from '../../support/sample.ts';
import { tempFolder, writeFiles } from '../../support/temp-folder.ts';

interface Kind {
  readonly path: string;
  readonly text: (name: string) => string;
  /** Returns the value that is served. */
  readonly find: (catalogue: Catalogue) => string | undefined;
  /** The value without the file; undefined by default. */
  readonly without?: string;
  /** The rule that `{` breaks. */
  readonly rule: string;
}

const kinds: Readonly<Record<string, Kind>> = {
  'the page of a bot': {
    path: pagePath('7'),
    text: (name) => mainPage({ name }),
    find: ({ store }) => store.bots.get(botId('7'))?.facts.name,
    rule: 'opener',
  },
  'a profile': {
    path: 'people/1.json',
    text: (name) => profile({ name }),
    find: ({ profiles }) => profiles.files.get('1.json')?.name,
    rule: 'json',
  },
  'a collection': {
    path: 'collections/small.en.md',
    text: (title) => collection({ title, bots: ['7', '30'] }),
    find: ({ collections }) => collections.all.get('small')?.contents.get('en' as Locale)?.title,
    rule: 'opener',
  },
  'the file with the settings': {
    path: 'botshelf.json',
    text: (name) => JSON.stringify({ name }),
    find: ({ settings }) => settings.current.name,
    without: 'Botshelf',
    rule: 'json',
  },
  'the file that says who is blocked': {
    path: 'blocked.json',
    text: (reason) => JSON.stringify({ accounts: { 1: { reason } } }),
    find: ({ blocked }) => blocked.current?.accounts['1']?.reason,
    rule: 'json',
  },
};

/** A bot in every catalogue, because Git keeps no empty folder. */
const other = { [pagePath('30')]: mainPage() };

for (const [kind, { path, text, find, without, rule }] of Object.entries(kinds))
  describe(`${kind} in memory`, () => {
    it('is as the file at the start, and when it is edited, removed and added @slow', async () => {
      const { catalogue, root, write, faults } = await openCatalogue({ ...other, [path]: text('First') });
      strictEqual(find(catalogue), 'First');
      write({ [path]: text('Second') });
      await eventually(() => strictEqual(find(catalogue), 'Second'));
      rmSync(join(root, path));
      await eventually(() => strictEqual(find(catalogue), without));
      write({ [path]: text('Third') });
      await eventually(() => strictEqual(find(catalogue), 'Third'));
      deepStrictEqual(faults(), []);
    });

    it('keeps the last valid version while the file is faulty or a link, and the fault is listed until then', async () => {
      const { catalogue, root, write, faults } = await openCatalogue({ ...other, [path]: text('Valid') });
      write({ [path]: '{' });
      await eventually(() => deepStrictEqual(faults(), [`${path} ${rule}`]));
      rmSync(join(root, path));
      symlinkSync('/etc/hostname', join(root, path));
      await eventually(() => deepStrictEqual(faults(), [`${path} regular-file`]));
      strictEqual(find(catalogue), 'Valid');
      rmSync(join(root, path));
      await eventually(() => deepStrictEqual([find(catalogue), faults()], [without, []]));
    });

    it('is never made of half a file', async () => {
      const { catalogue, root, write, faults } = await openCatalogue({ ...other, [path]: text('Old') });
      const whole = text('New, and longer');
      write({ [path]: whole.slice(0, 20) });
      const seen = new Set<string | undefined>();
      const look = setInterval(() => seen.add(find(catalogue)).add(faults()[0]), 5);
      await rest(200);
      appendFileSync(join(root, path), whole.slice(20));
      await eventually(() => strictEqual(find(catalogue), 'New, and longer'));
      clearInterval(look);
      deepStrictEqual(
        [...seen].filter((one) => one !== undefined && one !== 'New, and longer'),
        ['Old'],
      );
    });

    it('is what was committed at once, and what a caller has written', async () => {
      const { catalogue, write } = await openCatalogue({ ...other, [path]: text('Old') });
      catalogue.put(new Map([[path, Buffer.from(text('Committed'))]]));
      strictEqual(find(catalogue), 'Committed');
      write({ [path]: text('Written') });
      catalogue.look([path, 'README.md']);
      strictEqual(find(catalogue), 'Written');
    });
  });

describe('files in memory', () => {
  it('are found where their folder is made later', async () => {
    const pass = holdIntervals();
    const { catalogue, root } = await openCatalogue(other);
    mkdirSync(join(root, 'people'));
    writeFiles(root, { 'people/1.json': profile() });
    pass(1);
    await eventually(() => strictEqual(catalogue.profiles.files.size, 1));
  });

  it('are joined: a collection is made of all its files, and a fault of them together is listed', async () => {
    const { catalogue, root, write, faults } = await openCatalogue({
      ...other,
      'collections/small.en.md': collection({ bots: ['7', '30'] }),
      'collections/small.de.md': collection({ title: 'Klein' }),
    });
    strictEqual(catalogue.collections.all.get('small')?.contents.size, 2);
    write({ 'collections/small.fr.md': collection({ bots: ['7', '30'] }) });
    await eventually(() => deepStrictEqual(faults(), ['collections/small.fr.md one-list-of-bots']));
    strictEqual(catalogue.collections.all.size, 0);
    rmSync(join(root, 'collections/small.fr.md'));
    await eventually(() => deepStrictEqual([faults(), catalogue.collections.all.size], [[], 1]));
  });

  it('tell of a change when the file is changed, and not when it is read for the first time', async () => {
    const log = recordedLog();
    const { catalogue } = await openCatalogue({ ...other, 'botshelf.json': '{ "name": "A" }' }, { log });
    deepStrictEqual(log.lines, []);
    catalogue.put(new Map([['botshelf.json', Buffer.from('{ "name": "B" }')]]));
    deepStrictEqual(log.lines, ['info: botshelf.json has changed and is in force']);
  });

  it('are those of a private block list, whatever a commit has in the file of the same name', async () => {
    const file = join(tempFolder(), 'blocked.json');
    writeFiles(join(file, '..'), { 'blocked.json': '{ "bots": { "7": {} } }' });
    const { catalogue } = await openCatalogue(other, { blockedFile: file });
    const list = catalogue.blocked.current;
    catalogue.put(new Map([['blocked.json', Buffer.from('{}')]]));
    catalogue.look(['blocked.json']);
    deepStrictEqual([catalogue.blocked.current, list?.bots], [list, { 7: {} }]);
  });
});
