import { deepStrictEqual } from 'node:assert/strict';
import { findNearestName } from '../../src/lib/text.ts';

describe('the nearest name', () => {
  it('is the one with the fewest letters that differ, whatever case and punctuation', () => {
    const names = ['name', 'notice', 'inactiveDays', 'BOTSHELF_REMOTE'];
    deepStrictEqual(
      ['nmae', 'notise', 'INACTIVE_DAYS', 'botshelf_remtoe'].map((name) => findNearestName(name, names, 1)),
      names,
    );
    deepStrictEqual(findNearestName('zebra', names, 1), undefined);
    deepStrictEqual(findNearestName('x', []), undefined);
  });
});
