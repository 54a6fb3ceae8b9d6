import { strictEqual } from 'node:assert/strict';
import { median, medianRatio, percentile } from '../../bench/statistics.ts';

describe('the statistics of a benchmark', () => {
  it('take the middle value, whatever the order', () => {
    strictEqual(median([9, 1, 5]), 5);
    strictEqual(median([10, 2]), 10);
  });

  it('take the value that a share of the values are below', () => {
    const values = Array.from({ length: 100 }, (_, i) => 99 - i);
    strictEqual(percentile(values, 0.99), 99);
    strictEqual(percentile(values, 1), 99);
    strictEqual(percentile(values, 0), 0);
  });

  it('compare round by round, so that a slow round of both changes nothing', () => {
    strictEqual(medianRatio([200, 20, 200], [100, 10, 100]), 2);
  });
});
