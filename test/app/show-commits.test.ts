import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { type PagePlace, parsePlace } from '../../src/catalogue/page/layout.ts';
import type { FileChange } from '../../src/git/diff.ts';
import { showCommits } from '../../src/app/show-commits.ts';
import { eventually } from '../support/eventually.ts';

const commit = 'a'.repeat(40);
const settings = { read: async (): Promise<void> => {} };

describe('the subscriber that shows commits', () => {
  it('shows a posted change at once, and no file that is not a page below the catalogue', () => {
    const shown: [PagePlace, Buffer][] = [];
    const show = showCommits(
      { put: (files) => void shown.push(...files), read: () => {} },
      settings,
      [],
      'shop/',
    );
    const bytes = Buffer.from('new');
    const contents = new Map([
      ['shop/bots/007/7.en.md', bytes],
      ['bots/007/7.en.md', bytes],
      ['shop/README.md', bytes],
    ]);
    show({ ref: 'branch', commit, changes: [], contents });
    show({ ref: 'state', commit });
    deepStrictEqual(shown, [[parsePlace('007', '7.en.md'), bytes]]);
  });

  it('has the settings read when a merge changes them, and nothing beside them', () => {
    let reads = 0;
    const counting = { read: async () => void reads++ };
    const show = showCommits({ put: () => {}, read: () => {} }, counting, [], 'shop/');
    for (const path of ['botshelf.json', 'shop/README.md', 'shop/botshelf.json'])
      show({ ref: 'branch', commit, changes: [{ path, before: null, after: null }], contents: undefined });
    strictEqual(reads, 1);
  });

  it('has all files of a merge read, those of a bot together', async () => {
    const read: string[][] = [];
    const show = showCommits(
      { put: () => {}, read: (places) => void read.push(places.map(({ locale }) => locale)) },
      settings,
      [],
      '',
    );
    const changes = Array.from({ length: 40 }, (_, i): FileChange => ({
      path: `bots/007/${Math.floor(i / 2)}007.${i % 2 === 0 ? 'en' : 'de'}.md`,
      before: null,
      after: null,
    }));
    show({ ref: 'branch', commit, changes, contents: undefined });
    await eventually(() =>
      deepStrictEqual(
        read,
        Array.from({ length: 20 }, () => ['en', 'de']),
      ),
    );
  });
});
