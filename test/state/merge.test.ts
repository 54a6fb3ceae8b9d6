import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { timeAfter } from '../../src/state/facts.ts';
import { mergeFacts } from '../../src/state/merge.ts';
import { someFacts } from './arbitrary.ts';
import type { TokenDigest } from '../../src/bot/token.ts';

describe('merging what two replicas know of a bot', () => {
  it('does not depend on who merges whom', () => {
    fc.assert(
      fc.property(someFacts, someFacts, (a, b) => deepStrictEqual(mergeFacts(a, b), mergeFacts(b, a))),
    );
  });

  it('does not depend on the order in which several meet', () => {
    fc.assert(
      fc.property(someFacts, someFacts, someFacts, (a, b, c) =>
        deepStrictEqual(mergeFacts(mergeFacts(a, b), c), mergeFacts(a, mergeFacts(b, c))),
      ),
    );
  });

  it('changes nothing when done again', () => {
    fc.assert(
      fc.property(someFacts, someFacts, (a, b) => {
        deepStrictEqual(mergeFacts(a, a), a);
        deepStrictEqual(mergeFacts(mergeFacts(a, b), b), mergeFacts(a, b));
      }),
    );
  });

  it('takes the later count and the later token, each by its own time', () => {
    const digest = `sha256:${'0'.repeat(64)}` as TokenDigest;
    deepStrictEqual(
      mergeFacts(
        { count: { value: 9, at: 1 }, token: { digest, at: 4 } },
        { count: { value: 3, at: 2 }, token: { digest: null, at: 3 } },
      ),
      { count: { value: 3, at: 2 }, token: { digest, at: 4 } },
    );
  });

  it('lets a revocation win over a token of the same time', () => {
    const digest = `sha256:${'0'.repeat(64)}` as TokenDigest;
    deepStrictEqual(mergeFacts({ token: { digest, at: 4 } }, { token: { digest: null, at: 4 } }), {
      token: { digest: null, at: 4 },
    });
  });
});

describe('the time of a new fact', () => {
  it('is now', () => {
    strictEqual(timeAfter(undefined, 50), 50);
    strictEqual(timeAfter(49, 50), 50);
  });

  it('is later than that of the fact it replaces, though the clock went backwards', () => {
    strictEqual(timeAfter(50, 50), 51);
    strictEqual(timeAfter(5000, 50), 5001);
  });
});
