import { deepStrictEqual } from 'node:assert/strict';
import { LogThrottle } from '../../src/lib/retry.ts';

describe('the log of refused requests', () => {
  it('has a reason once, and forgets the least recent of more than a hundred reasons', () => {
    const throttle = new LogThrottle();
    const logged = (...reasons: readonly number[]): number[] =>
      reasons.filter((reason) => throttle.shouldLog(`reason ${reason}`));
    const hundred = Array.from({ length: 100 }, (_, i) => i);
    deepStrictEqual(logged(...hundred), hundred);
    deepStrictEqual(logged(...hundred), []);
    deepStrictEqual(logged(100, 99, 0), [100, 0]);
  });
});
