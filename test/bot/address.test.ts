import { deepStrictEqual } from 'node:assert/strict';
import { isExpiring, toAsciiAddress } from '../../src/bot/address.ts';
import { readCases } from '../support/fixture-lines.ts';

describe('an address', () => {
  for (const { input, expected } of readCases('addresses-in-ascii'))
    it(`in ASCII is ${expected[0]} for ${input}`, () =>
      deepStrictEqual([toAsciiAddress(JSON.parse(input) as string) ?? []].flat(), expected));

  for (const { input, expected } of readCases('addresses-that-expire'))
    it(`with ${input} ${expected[0]}`, () =>
      deepStrictEqual([isExpiring(`https://example.org/a.png${input}`) ? 'expires' : 'stays'], expected));
});
