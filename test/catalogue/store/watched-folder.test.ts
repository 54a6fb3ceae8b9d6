import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { holdIntervals } from '../../support/intervals.ts';
import { openCatalogue } from '../../support/live-catalogue.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { collection, profile } from '../../support/side-files.ts';

const id = '123456789012345678';
const bots = [id, '2'];
const page = { [pagePath(id)]: mainPage() };

describe('the files beside bots/', () => {
  it('are read at the start, and again when they are edited, added and removed', async () => {
    const { catalogue, write, root, faults } = await openCatalogue({
      ...page,
      'people/1.json': profile(),
      'collections/small.en.md': collection({ bots }),
    });
    const { profiles, collections } = catalogue;
    strictEqual(profiles.files.get('1.json')?.name, 'Ada');
    deepStrictEqual(collections.all.get('small')?.bots, bots);
    write({ 'people/1.json': profile({ name: 'Ada L.' }), 'people/2.json': profile({ name: 'Bob' }) });
    await eventually(() => {
      deepStrictEqual(
        [...profiles.files.values()].map(({ name }) => name),
        ['Ada L.', 'Bob'],
      );
    });
    rmSync(join(root, 'people/2.json'));
    write({ 'collections/small.de.md': collection({ title: 'Klein' }) });
    await eventually(() => {
      deepStrictEqual([...profiles.files.keys()], ['1.json']);
      strictEqual(collections.all.get('small')?.contents.size, 2);
    });
    deepStrictEqual(faults(), []);
  });

  it('stay served as they were while they are faulty, and the faults are listed until they are mended', async () => {
    const pass = holdIntervals();
    const { catalogue, write, root, faults } = await openCatalogue({ ...page, 'people/1.json': profile() });
    const { profiles, collections } = catalogue;
    write({
      'people/1.json': '{',
      'collections/small.en.md': collection({ bots }),
      'collections/small.de.md': collection({ bots }),
    });
    symlinkSync('/etc/hostname', join(root, 'people/3.json'));
    pass(2);
    await eventually(() =>
      deepStrictEqual(faults(), [
        'collections/small.en.md one-list-of-bots',
        'people/1.json json',
        'people/3.json regular-file',
      ]),
    );
    strictEqual(profiles.files.get('1.json')?.name, 'Ada');
    strictEqual(collections.all.size, 0);
    rmSync(join(root, 'people'), { recursive: true });
    rmSync(join(root, 'collections/small.de.md'));
    pass(2);
    await eventually(() => {
      deepStrictEqual(faults(), []);
      deepStrictEqual([profiles.files.size, collections.all.size], [0, 1]);
    });
  });

  it('are found where the folder is made later', async () => {
    const pass = holdIntervals();
    const { catalogue, root } = await openCatalogue(page);
    mkdirSync(join(root, 'people'));
    writeFileSync(join(root, 'people/1.json'), profile());
    pass(2);
    await eventually(() => catalogue.profiles.files.size === 1);
  });
});
