import { strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { computeDistance } from '../../src/lib/text.ts';

describe('the distance of two spellings', () => {
  it('counts letters that are added, missing, replaced, or swapped with their neighbour', () => {
    for (const other of ['musics', 'musc', 'musik', 'umsic'])
      strictEqual(computeDistance('music', other, 2), 1, other);
    strictEqual(computeDistance('translate', 'trasnalte', 2), 2);
    strictEqual(computeDistance('music', 'magic', 1), 2);
  });

  it('is the same both ways, and 0 for the same word only', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });
    fc.assert(
      fc.property(word, word, (a, b) => {
        strictEqual(computeDistance(a, b, 9), computeDistance(b, a, 9));
        strictEqual(computeDistance(a, b, 9) === 0, a === b);
      }),
    );
  });
});
