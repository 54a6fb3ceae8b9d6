import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { parseDate } from '../../src/import/values.ts';
import { atTime } from '../support/at-time.ts';
import { readCases } from '../support/fixture-lines.ts';

describe('a date', () => {
  for (const { input, expected } of readCases('dates'))
    it(`is ${expected.length > 0 ? '' : 'not '}read from ${input}`, () => {
      const time = parseDate(input);
      deepStrictEqual(time === undefined ? [] : [new Date(time).toISOString()], expected);
    });

  it('is not read from nothing, nor from a day before many blanks', () => {
    for (const text of ['', `2023-04-05${' '.repeat(200_000)}`]) strictEqual(parseDate(text), undefined);
  });

  it('is not after tomorrow', async () => {
    // oxlint-disable-next-line typescript/require-await -- others read files
    await atTime(Date.UTC(2023, 3, 5, 6, 7, 8), async () => {
      strictEqual(parseDate('2023-04-06'), Date.UTC(2023, 3, 6));
      strictEqual(parseDate('2023-04-07'), undefined);
    });
  });
});
