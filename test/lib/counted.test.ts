import { deepStrictEqual } from 'node:assert/strict';
import { formatCount } from '../../src/lib/text.ts';

describe('a number with its noun', () => {
  it('has the plural for all numbers but one', () => {
    deepStrictEqual(
      [0, 1, 2].map((number) => formatCount(number, 'bot')),
      ['0 bots', '1 bot', '2 bots'],
    );
  });
});
