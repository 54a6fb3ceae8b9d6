import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { maxLeadMs } from '../../src/bot/clock.ts';
import { createToken, computeDigest } from '../../src/bot/token.ts';
import { mergeBotStates, toShardNumber, State } from '../../src/counts/state.ts';
import { someBotState } from '../support/arbitrary.ts';
import { atTime } from '../support/at-time.ts';
import { botId } from '../support/sample.ts';

const homer = botId('190519304972663312');
const marge = botId('190519304972663313');

describe('the state', () => {
  it('holds what a merge of everything it was given would', () => {
    fc.assert(
      fc.property(fc.array(someBotState, { minLength: 1 }), (all) => {
        const state = new State();
        for (const botState of all) state.merge(homer, botState);
        deepStrictEqual(
          state.get(homer),
          all.reduce((merged, botState) => mergeBotStates(merged, botState)),
        );
      }),
    );
  });

  it('grows its version when a count changes, and only then', () => {
    const state = new State();
    ok(state.merge(homer, { count: { value: 5, at: 1 } }));
    const { version } = state;
    ok(state.merge(homer, { count: { value: 5, at: 2 } }));
    ok(!state.merge(homer, { count: { value: 9, at: 1 } }));
    ok(state.merge(homer, { token: { digest: null, at: 1, generation: 1 } }));
    strictEqual(state.version, version);
    strictEqual(state.reports, 2, 'a report is a count, the same number too');
    ok(state.merge(homer, { count: { value: 6, at: 3 } }));
    ok(state.version > version);
    strictEqual(state.reports, 3);
    ok(!state.merge(homer, state.get(homer)));
    deepStrictEqual(state.listBots(toShardNumber(homer)), [homer]);
    deepStrictEqual(state.listBots(toShardNumber(marge)), []);
    deepStrictEqual([state.has(homer), state.has(marge)], [true, false]);
  });

  it('finds the bot that a token belongs to, until it has another or none', () => {
    const state = new State();
    const [first, second] = [computeDigest(createToken()), computeDigest(createToken())];
    state.merge(homer, { token: { digest: first, at: 1, generation: 1 } });
    state.merge(marge, { token: { digest: second, at: 1, generation: 1 } });
    strictEqual(state.holder(first), homer);
    strictEqual(state.holder(second), marge);
    state.merge(homer, { token: { digest: null, at: 2, generation: 2 } });
    strictEqual(state.holder(first), undefined);
    state.merge(homer, { token: { digest: first, at: 1, generation: 1 } });
    strictEqual(state.holder(first), undefined);
    const both = { token: { digest: first, at: 3, generation: 3 } };
    for (const id of [homer, marge]) state.merge(id, both);
    state.merge(homer, { token: { digest: null, at: 4, generation: 4 } });
    strictEqual(state.holder(first), marge);
    strictEqual(state.hasToken(marge), true);
    strictEqual(state.hasToken(homer), false);
    strictEqual(state.hasToken(botId('7')), false);
  });

  it('finds a bot whose count is from a clock that is ahead, until that time has come', async () => {
    const state = new State();
    const at = 1_900_000_000_000;
    await atTime(at, async () => {
      state.merge(marge, { count: { value: 5, at } });
      strictEqual(state.findAhead(), undefined);
      state.merge(homer, { count: { value: 5, at: at + maxLeadMs + 1 } });
      strictEqual(state.findAhead(), homer);
    });
    await atTime(at + 1, async () => strictEqual(state.findAhead(), undefined));
  });
});
