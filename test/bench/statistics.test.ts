import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { median, medianRatio, percentile, seededRandom } from '../../bench/statistics.ts';

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

  it('draw the same numbers from the same seed', () => {
    deepStrictEqual(draw(1), draw(1));
    strictEqual(draw(1).join() === draw(2).join(), false);
    for (const number of draw(3)) strictEqual(number >= 0 && number < 1, true);
  });
});

function draw(seed: number): number[] {
  return Array.from({ length: 5 }, seededRandom(seed));
}
