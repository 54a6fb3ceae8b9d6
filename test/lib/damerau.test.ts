import { strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { damerauDistance } from '../../src/lib/damerau.ts';

describe('the distance of two spellings', () => {
  it('counts letters that are added, missing, replaced, or swapped with their neighbour', () => {
    for (const other of ['musics', 'musc', 'musik', 'umsic'])
      strictEqual(damerauDistance('music', other, 2), 1, other);
    strictEqual(damerauDistance('translate', 'trasnalte', 2), 2);
    strictEqual(damerauDistance('music', 'magic', 1), 2);
  });

  it('is the same both ways, and 0 for the same word only', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });
    fc.assert(
      fc.property(word, word, (a, b) => {
        strictEqual(damerauDistance(a, b, 9), damerauDistance(b, a, 9));
        strictEqual(damerauDistance(a, b, 9) === 0, a === b);
      }),
    );
  });
});
