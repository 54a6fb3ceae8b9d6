import { ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { compareBotIds, parseBotId } from '../../src/bot/id.ts';
import { botId } from '../support/sample.ts';
import { fixtureLines } from '../support/fixture-lines.ts';

const ids = fc.stringMatching(/^[0-9]{1,20}$/).map(botId);

describe('a bot id', () => {
  for (const text of fixtureLines('ids-valid.txt'))
    it(`can be ${text}, kept digit by digit`, () => strictEqual(parseBotId(text), text));

  for (const text of fixtureLines('ids-invalid.txt'))
    it(`cannot be ${JSON.stringify(text)}`, () => strictEqual(parseBotId(text), undefined));

  it('has no line end', () => strictEqual(parseBotId('7\n'), undefined));

  it('stands before every id of a greater value', () => {
    fc.assert(
      fc.property(ids, ids, (a, b) => {
        const difference = BigInt(a) - BigInt(b);
        if (difference !== 0n) strictEqual(Math.sign(compareBotIds(a, b)), difference < 0n ? -1 : 1);
      }),
    );
  });

  it('has its own place: no two ids are equal in order, and every two agree which is first', () => {
    const near = fc.tuple(fc.nat(3), fc.nat(30)).map(([zeros, n]) => botId('0'.repeat(zeros) + String(n)));
    fc.assert(
      fc.property(near, near, near, (a, b, c) => {
        strictEqual(compareBotIds(a, b) === 0, a === b);
        strictEqual(Math.sign(compareBotIds(a, b)), -Math.sign(compareBotIds(b, a)) + 0);
        if (compareBotIds(a, b) < 0 && compareBotIds(b, c) < 0) ok(compareBotIds(a, c) < 0);
      }),
    );
  });
});
