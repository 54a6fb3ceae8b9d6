import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import {
  computeDistance,
  countCharacters,
  findNearestName,
  formatCount,
  splitLines,
} from '../../src/lib/text.ts';

describe('a number with its noun', () => {
  it('has the plural for all numbers but one', () => {
    deepStrictEqual(
      [0, 1, 2].map((number) => formatCount(number, 'bot')),
      ['0 bots', '1 bot', '2 bots'],
    );
  });
});

describe('the lines of a text', () => {
  it('are those of a split, a few KiB together, and long ones are cut', () => {
    const line = fc.oneof(fc.string({ unit: fc.constantFrom('a', 'b') }), fc.constantFrom('c'.repeat(4000)));
    fc.assert(
      fc.property(fc.array(line), fc.boolean(), (lines, isEnded) => {
        const text = lines.map((text) => `${text}\n`).join('') + (isEnded ? '' : 'end');
        const pieces = [...splitLines(Buffer.from(text))];
        deepStrictEqual(pieces.flat(), isEnded ? lines : [...lines, 'end']);
        ok(pieces.every((piece) => piece.join('\n').length <= 4096));
      }),
    );
    const long = `a\n${'x'.repeat(10_000)}\nb`;
    deepStrictEqual([...splitLines(Buffer.from(long))].flat(), ['a', 'x'.repeat(4096), 'b']);
  });
});

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

describe('the number of characters', () => {
  it('is that of the code points', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\ud800', '😀\udc00', 'é👩‍🚀'));
    fc.assert(fc.property(text, (text) => strictEqual(countCharacters(text), Array.from(text).length)));
  });
});

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
