import { deepStrictEqual } from 'node:assert/strict';
import { toClient } from '../../src/lib/network.ts';
import { readCases } from '../support/fixture-lines.ts';

describe('the client that has an address', () => {
  for (const { title, input, expected } of readCases('networks'))
    it(title, () => {
      const { group, network } = toClient(input);
      deepStrictEqual([`${group} ${network}`], expected);
    });
});
