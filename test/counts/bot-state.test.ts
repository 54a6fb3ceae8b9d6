import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import {
  toClockTime,
  countTimeAfter,
  eraMs,
  isAhead,
  maxTime,
  maxLeadMs,
  computeTimeAfter,
} from '../../src/bot/clock.ts';
import type { TokenDigest } from '../../src/bot/token.ts';
import { type BotState, chooseLaterCount, mergeBotStates, mergeTokens } from '../../src/counts/state.ts';
import { someBotState } from '../support/arbitrary.ts';

const first = `sha256:${'f'.repeat(64)}` as TokenDigest;
const second = `sha256:${'0'.repeat(64)}` as TokenDigest;

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

  it('takes the later count and the token of the higher generation', () => {
    deepStrictEqual(
      mergeBotStates(
        { count: { value: 9, at: 1 }, token: { digest: first, at: 4, generation: 2 } },
        { count: { value: 3, at: 2 }, token: { digest: null, at: 3, generation: 1 } },
      ),
      { count: { value: 3, at: 2 }, token: { digest: first, at: 4, generation: 2 } },
    );
  });

  for (const [title, ours, theirs, merged] of [
    [
      'never brings back a token that was replaced by one of a clock that is behind',
      { digest: first, at: 60_000, generation: 1 },
      { digest: second, at: 5, generation: 2 },
      { digest: second, at: 5, generation: 2 },
    ],
    [
      'ends both of two tokens that replicas issued before they saw each other',
      { digest: first, at: 4, generation: 2 },
      { digest: second, at: 9, generation: 2 },
      { digest: null, at: 9, generation: 2 },
    ],
    [
      'lets a revocation win over a token of the same generation, though that is later',
      { digest: first, at: 9, generation: 2 },
      { digest: null, at: 4, generation: 2 },
      { digest: null, at: 9, generation: 2 },
    ],
  ] as const)
    it(title, () => {
      deepStrictEqual(mergeBotStates({ token: ours }, { token: theirs }), { token: merged });
      deepStrictEqual(mergeBotStates({ token: theirs }, { token: ours }), { token: merged });
    });

  it('returns the very object that was there where the other brings nothing new', () => {
    const count = { value: 5, at: 1 };
    strictEqual(chooseLaterCount(count, { ...count }), count);
    for (const token of [
      { digest: first, at: 4, generation: 2 },
      { digest: null, at: 4, generation: 2 },
    ])
      strictEqual(mergeTokens(token, { ...token }), token);
    const revoked = { digest: null, at: 4, generation: 2 };
    strictEqual(mergeTokens(revoked, { digest: first, at: 3, generation: 2 }), revoked);
    deepStrictEqual(Object.keys(mergeBotStates({ count }, {})), ['count']);
    deepStrictEqual(Object.keys(mergeBotStates({}, {})), []);
  });
});

describe('the time of a new fact', () => {
  it('is now', () => {
    strictEqual(computeTimeAfter(undefined, 50), 50);
    strictEqual(computeTimeAfter(49, 50), 50);
  });

  it('is later than that of the fact it replaces, though the clock went backwards', () => {
    strictEqual(computeTimeAfter(50, 50), 51);
    strictEqual(computeTimeAfter(5000, 50), 5001);
  });

  it('is never past the last one that can be read back', () => {
    strictEqual(computeTimeAfter(maxTime, 50), maxTime);
  });
});

describe('the time of a count', () => {
  const now = 1_800_000_000_000;

  it('is that of the clock, and later than that of the count it replaces', () => {
    const time = fc.integer({ min: 0, max: maxTime - 1 });
    fc.assert(
      fc.property(time, (previous) => {
        const at = countTimeAfter(previous, now);
        ok(at > previous && at <= maxTime);
        if (at < maxTime - eraMs) ok(!isAhead(at, now));
      }),
    );
    strictEqual(countTimeAfter(undefined, now), now);
    strictEqual(countTimeAfter(now + maxLeadMs, now), now + maxLeadMs + 1);
    strictEqual(toClockTime(countTimeAfter(now + maxLeadMs + 1, now)), now);
    const lastEra = maxTime - eraMs;
    strictEqual(countTimeAfter(lastEra + now + maxLeadMs + 1, now), lastEra + now + maxLeadMs + 2);
    strictEqual(countTimeAfter(lastEra + maxLeadMs + 1, 0), maxTime);
  });

  it('lets the later of two counts win that replace one from a clock that was two days ahead', () => {
    const ahead = countTimeAfter(now, now + 2 * 86_400_000);
    const twice = countTimeAfter(countTimeAfter(ahead, now + 1), now + 2);
    const later = countTimeAfter(ahead, now + 3);
    ok(later > twice && twice > ahead);
  });

  it('makes a count win on every machine over those that its machine knew, whatever the clocks say', () => {
    const machine = fc.nat(2);
    const step = fc.oneof(
      fc.record({ post: machine, wait: fc.nat(2 * maxLeadMs) }),
      fc.record({ from: machine, to: machine }),
    );
    const lead = fc.integer({ min: -3 * 86_400_000, max: 3 * 86_400_000 });
    fc.assert(
      fc.property(fc.tuple(lead, lead, lead), fc.array(step), machine, (leads, steps, last) => {
        const machines: BotState[] = [{}, {}, {}];
        let clock = now;
        const post = (on: number): void => {
          const at = countTimeAfter(machines[on]?.count?.at, clock + (leads[on] ?? 0));
          machines[on] = mergeBotStates(machines[on] ?? {}, { count: { value: clock, at } });
        };
        const merge = (from: number, to: number): void =>
          void (machines[to] = mergeBotStates(machines[to] ?? {}, machines[from] ?? {}));
        for (const step of steps) {
          if ('from' in step) merge(step.from, step.to);
          else post(step.post);
          clock += 'wait' in step ? step.wait + 1 : 0;
        }
        for (const from of [0, 1, 2]) merge(from, last);
        post(last);
        for (const to of [0, 1, 2]) {
          merge(last, to);
          strictEqual(machines[to]?.count?.value, clock);
        }
      }),
    );
  });
});
