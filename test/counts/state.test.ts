import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { createToken, computeDigest } from '../../src/bot/token.ts';
import { mergeBotStates } from '../../src/counts/bot-state.ts';
import { State } from '../../src/counts/state.ts';
import { botId } from '../support/sample.ts';
import { someBotState } from '../support/arbitrary.ts';

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
    ok(state.merge(homer, { count: { value: 6, at: 3 } }));
    ok(state.version > version);
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
  });
});
