import { strictEqual } from 'node:assert/strict';
import { parseDate } from '../../src/import/map-record.ts';
import { atTime } from '../support/at-time.ts';

const day = Date.UTC(2023, 3, 5);
const time = Date.UTC(2023, 3, 5, 6, 7, 8);

const dates: readonly (readonly [text: string, time: number])[] = [
  ['2023-04-05', day],
  ['2023/04/05', day],
  ['2023-4-5', day],
  ['20230405', day],
  ['05.04.2023', day],
  ['5 April 2023', day],
  ['05-Apr-2023', day],
  ['Apr 5, 2023', day],
  ['April 5 2023', day],
  ['45021', day],
  ['2023-04-05T06:07:08Z', time],
  ['2023-04-05 06:07:08', time],
  ['2023-04-05 06:07:08.123456+00', time + 123],
  ['2023-04-05 08:07:08 +0200', time],
  ['2023-04-05 06:07:08 UTC', time],
  ['2023-04-05 01:37:08-04:30', time],
  ['05.04.2023 06:07:08', time],
  ['5 Apr 2023 6:07:08 am', time],
  ['Apr 5, 2023, 12:07:08 PM', time + 6 * 3_600_000],
  ['Wed, 05 Apr 2023 06:07:08 GMT', time],
  ['Wed, 05 Apr 2023 08:07:08 +0200', time],
  ['Wed Apr 05 2023 08:07:08 GMT+0200 (Central European Summer Time)', time],
  ['ISODate("2023-04-05T06:07:08.000Z")', time],
  ['20230405060708', time],
  ['1680674828', time],
  ['1680674828.5', time + 500],
  ['1680674828000', time],
  ['1680674828000000', time],
];

const others = [
  '',
  '4/5/2023',
  '2023-02-30',
  '2023-13-01',
  '2023-00-10',
  '31.04.2023',
  '2023-04-05 24:00',
  '2023-04-05 10:60',
  '2023-04-05 13:00 pm',
  '2014-12-31',
  '1969-12-31',
  '0',
  '5',
  '2023',
  '9999999999',
  '20230230',
  '5 Smarch 2023',
  'yesterday',
  `2023-04-05${' '.repeat(200_000)}`,
];

describe('a date', () => {
  for (const [text, expected] of dates)
    it(`is read from ${text}`, () => {
      strictEqual(parseDate(text), expected);
    });

  for (const text of others)
    it(`is not read from ${JSON.stringify(text.slice(0, 40))}`, () => {
      strictEqual(parseDate(text), undefined);
    });

  it('is not after tomorrow', async () => {
    // oxlint-disable-next-line typescript/require-await -- others read files
    await atTime(time, async () => {
      strictEqual(parseDate('2023-04-06'), day + 86_400_000);
      strictEqual(parseDate('2023-04-07'), undefined);
    });
  });
});
