import { deepStrictEqual } from 'node:assert/strict';
import { showCommits } from '../../src/catalogue/catalogue.ts';
import type { FileChange } from '../../src/git/trees.ts';
import { eventually } from '../support/eventually.ts';

const commit = 'a'.repeat(40);

function changesOf(paths: readonly string[]): FileChange[] {
  return paths.map((path) => ({ path, before: null, after: null }));
}

describe('the subscriber that shows commits', () => {
  it('shows a posted change at once, and no file that is not in the catalogue', () => {
    const shown: [string, Buffer][] = [];
    const show = showCommits({ put: (files) => void shown.push(...files), look: () => {} }, 'shop/');
    const bytes = Buffer.from('new');
    const paths = ['shop/bots/007/7.en.md', 'bots/007/7.en.md', 'shop/people/1.json', 'README.md'];
    show({ ref: 'branch', commit, changes: [], contents: new Map(paths.map((path) => [path, bytes])) });
    show({ ref: 'state', commit });
    deepStrictEqual(shown, [
      ['bots/007/7.en.md', bytes],
      ['people/1.json', bytes],
    ]);
  });

  it('has all files of a merge looked at, those of a bot together, and no file beside the catalogue', async () => {
    const looks: (readonly string[])[] = [];
    const show = showCommits({ put: () => {}, look: (paths) => void looks.push(paths) }, 'shop/');
    const bots = Array.from({ length: 20 }, (_, i) => [`bots/007/${i}007.en.md`, `bots/007/${i}007.de.md`]);
    const own = [...bots.flat().toReversed(), 'botshelf.json'].map((path) => `shop/${path}`);
    show({
      ref: 'branch',
      commit,
      changes: changesOf([...own, 'botshelf.json', 'bots/007/7.en.md']),
      contents: undefined,
    });
    const expected = [...bots.toReversed().map((paths) => paths.toReversed()), ['botshelf.json']];
    await eventually(() => deepStrictEqual(looks, expected));
  });
});
