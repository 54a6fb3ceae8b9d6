import { deepStrictEqual } from 'node:assert/strict';
import { checkAttributes } from '../../src/check/history-rules.ts';
import { readCases } from '../support/fixture-lines.ts';

describe('a .gitattributes is read as Git reads it', () => {
  for (const { input, expected } of readCases('git-attributes'))
    it(`so that ${input} is ${expected[0]}`, () => {
      const faults = checkAttributes('.gitattributes', Buffer.from(JSON.parse(input) as string));
      deepStrictEqual([faults.length > 0 ? 'refused' : 'fine'], expected);
    });

  it('so that what is refused is named by its place, and a file that is too large as a whole', () => {
    const places = (bytes: Buffer | undefined): number[][] =>
      checkAttributes('a', bytes).map(({ line, column }) => [line, column]);
    deepStrictEqual(places(Buffer.from('*.png binary\n*.md text filter=x\n')), [[2, 11]]);
    deepStrictEqual(places(undefined), [[1, 1]]);
  });
});
