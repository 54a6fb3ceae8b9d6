import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { createScope, isInScope, listNamesInScope } from '../../src/check/source.ts';

describe('a part of the catalogue', () => {
  const scope = createScope([
    'bots/001/1.en.md',
    'bots/001/2.en.md',
    'bots/002',
    'bots/002/2.en.md',
    'bots/003/x',
    'bots/003',
  ]);

  it('has the names that paths lead to, and all names of a folder', () => {
    deepStrictEqual(listNamesInScope(scope, '001'), new Set(['1.en.md', '2.en.md']));
    for (const top of ['002', '003']) strictEqual(listNamesInScope(scope, top), 'everything');
    strictEqual(listNamesInScope(scope, '004'), undefined);
    strictEqual(createScope(['bots/001/1.en.md', 'bots']), 'everything');
    strictEqual(listNamesInScope('everything', '004'), 'everything');
  });

  it('says whether a path is in it', () => {
    for (const [path, expected] of [
      ['bots/001/1.en.md', true],
      ['bots/001/3.en.md', false],
      ['bots/001', false],
      ['bots/002', true],
      ['bots/002/any', true],
      ['bots/004/4.en.md', false],
      ['bots', false],
      ['docs/002/2.en.md', false],
    ] as const) {
      strictEqual(isInScope(scope, path), expected, path);
      strictEqual(isInScope('everything', path), true);
    }
  });
});
