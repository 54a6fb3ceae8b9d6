import { deepStrictEqual } from 'node:assert/strict';
import { nearestName } from '../../src/lib/nearest-name.ts';

describe('the nearest name', () => {
  it('is the one with the fewest letters that differ, whatever case and punctuation', () => {
    const names = ['name', 'notice', 'inactiveDays', 'BOTSHELF_REMOTE'];
    deepStrictEqual(
      ['nmae', 'notise', 'INACTIVE_DAYS', 'botshelf_remtoe'].map((name) => nearestName(name, names, 1)),
      names,
    );
    deepStrictEqual(nearestName('zebra', names, 1), undefined);
    deepStrictEqual(nearestName('x', []), undefined);
  });
});
