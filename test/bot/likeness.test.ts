import { strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { toInviteKey, toNameKeys, toNameSlug } from '../../src/bot/likeness.ts';
import { readCases } from '../support/fixture-lines.ts';

describe('the likeness', () => {
  for (const [list, toKeys] of [
    ['names-alike', toNameKeys],
    ['invites-alike', (invite: string) => [toInviteKey(invite) ?? '']],
  ] as const)
    for (const { input, expected } of readCases(list))
      for (const line of expected)
        it(`of ${input} ${line}`, () =>
          strictEqual(
            toKeys(line.slice(2)).some((key) => toKeys(input).includes(key)),
            line.startsWith('='),
          ));

  it('of names with one slug of letters or digits, and without + and #', () => {
    const unit = fc.oneof(
      fc.constantFrom(...Array.from('lI1|rnvv ßẞΣς ŀ🅐-')),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
    );
    const property = fc.property(fc.string({ unit }), (name) => {
      const slug = toNameSlug(name);
      if (/[+#]/.test(name.normalize('NFKD'))) return true;
      return !/[\p{L}\p{N}]/u.test(slug) || toNameKeys(name).some((key) => toNameKeys(slug).includes(key));
    });
    fc.assert(property);
  });

  it('of invites is found without a search for the end from each slash', () => {
    // In quadratic time, this address would take a minute.
    const slashes = '/'.repeat(400_000);
    strictEqual(toInviteKey(`https://example.org${slashes}x`), `example.org${slashes}x`);
    strictEqual(toInviteKey(`https://example.org/x${slashes}`), 'example.org/x');
    strictEqual(toInviteKey('no address'), undefined);
  });
});
