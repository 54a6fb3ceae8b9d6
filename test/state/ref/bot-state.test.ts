import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { latestTime, timeAfter, mergeBotStates } from '../../../src/state/ref/bot-state.ts';
import { someBotState } from '../../support/arbitrary.ts';
import type { TokenDigest } from '../../../src/bot/token.ts';

describe('merging what two replicas know of a bot', () => {
  it('does not depend on who merges whom', () => {
    fc.assert(
      fc.property(someBotState, someBotState, (a, b) =>
        deepStrictEqual(mergeBotStates(a, b), mergeBotStates(b, a)),
      ),
    );
  });

  it('does not depend on the order in which several meet', () => {
    fc.assert(
      fc.property(someBotState, someBotState, someBotState, (a, b, c) =>
        deepStrictEqual(mergeBotStates(mergeBotStates(a, b), c), mergeBotStates(a, mergeBotStates(b, c))),
      ),
    );
  });

  it('changes nothing when done again', () => {
    fc.assert(
      fc.property(someBotState, someBotState, (a, b) => {
        deepStrictEqual(mergeBotStates(a, a), a);
        deepStrictEqual(mergeBotStates(mergeBotStates(a, b), b), mergeBotStates(a, b));
      }),
    );
  });

  it('ends with the same state on every replica, in whatever order and however often they meet', () => {
    const meetings = fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { maxLength: 12 });
    fc.assert(
      fc.property(fc.array(someBotState, { minLength: 4, maxLength: 4 }), meetings, (states, meetings) => {
        const replicas = [...states];
        for (const [a, b] of meetings) replicas[a] = mergeBotStates(replicas[a] ?? {}, replicas[b] ?? {});
        const all = states.reduce(mergeBotStates);
        for (const one of replicas) {
          deepStrictEqual(
            replicas.reduce((merged, other) => mergeBotStates(other, merged), one),
            all,
          );
        }
      }),
    );
  });

  it('takes the later count and the token of the higher generation', () => {
    deepStrictEqual(
      mergeBotStates(
        { count: { value: 9, at: 1 }, token: { digest: first, at: 4, generation: 2 } },
        { count: { value: 3, at: 2 }, token: { digest: null, at: 3, generation: 1 } },
      ),
      { count: { value: 3, at: 2 }, token: { digest: first, at: 4, generation: 2 } },
    );
  });

  it('never brings back a token that was replaced by one of a clock that is behind', () => {
    const leaked = { token: { digest: first, at: 60_000, generation: 1 } };
    const replacement = { token: { digest: second, at: 5, generation: 2 } };
    deepStrictEqual(mergeBotStates(leaked, replacement), replacement);
  });

  it('ends both of two tokens that replicas issued before they saw each other', () => {
    deepStrictEqual(
      mergeBotStates(
        { token: { digest: first, at: 4, generation: 2 } },
        { token: { digest: second, at: 9, generation: 2 } },
      ),
      { token: { digest: null, at: 9, generation: 2 } },
    );
  });

  it('lets a revocation win over a token of the same generation, though that is later', () => {
    deepStrictEqual(
      mergeBotStates(
        { token: { digest: first, at: 9, generation: 2 } },
        { token: { digest: null, at: 4, generation: 2 } },
      ),
      { token: { digest: null, at: 9, generation: 2 } },
    );
  });

  it('takes the later of two tokens from before there were generations', () => {
    const old = { token: { digest: first, at: 4, generation: 0 } };
    const later = { token: { digest: second, at: 5, generation: 0 } };
    deepStrictEqual(mergeBotStates(later, old), later);
  });
});

const first = `sha256:${'f'.repeat(64)}` as TokenDigest;
const second = `sha256:${'0'.repeat(64)}` as TokenDigest;

describe('the time of a new fact', () => {
  it('is now', () => {
    strictEqual(timeAfter(undefined, 50), 50);
    strictEqual(timeAfter(49, 50), 50);
  });

  it('is later than that of the fact it replaces, though the clock went backwards', () => {
    strictEqual(timeAfter(50, 50), 51);
    strictEqual(timeAfter(5000, 50), 5001);
  });

  it('is never past the last one that can be read back', () => {
    strictEqual(timeAfter(latestTime, 50), latestTime);
  });
});
