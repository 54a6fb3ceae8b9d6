import { strictEqual } from 'node:assert/strict';
import { toInviteKey, toNameKey } from '../../src/bot/likeness.ts';
import { readCases } from '../support/fixture-lines.ts';

describe('the likeness', () => {
  for (const [list, toKey] of [
    ['names-alike', toNameKey],
    ['invites-alike', toInviteKey],
  ] as const)
    for (const { input, expected } of readCases(list))
      for (const line of expected)
        it(`of ${input} ${line}`, () =>
          strictEqual(toKey(line.slice(2)) === toKey(input), line.startsWith('=')));

  it('of invites is found without a search for the end from each slash', () => {
    // That would take a minute.
    const slashes = '/'.repeat(400_000);
    strictEqual(toInviteKey(`https://example.org${slashes}x`), `example.org${slashes}x`);
    strictEqual(toInviteKey(`https://example.org/x${slashes}`), 'example.org/x');
    strictEqual(toInviteKey('no address'), undefined);
  });
});
