import { deepEqual, ok } from 'node:assert/strict';
import { defaultIntervals, retryDelay } from '../../src/images/image-queue.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

describe('the wait before another attempt', () => {
  it('is a minute at first, doubles, and is never more than a day, a quarter more or less', () => {
    const turns = [1, 2, 3, 10, 11, 12, 40, 2000].map((count) => {
      const delay = retryDelay(count, defaultIntervals);
      const turn = Math.min(day, minute * 2 ** (count - 1));
      ok(delay >= turn * 0.75 && delay <= turn * 1.25);
      return turn;
    });
    deepEqual(turns.slice(0, 3), [minute, 2 * minute, 4 * minute]);
    deepEqual(turns.slice(-2), [day, day]);
  });

  it('differs from image to image, so that they do not all come back at once', () => {
    const delays = new Set(Array.from({ length: 20 }, () => retryDelay(3, defaultIntervals)));
    ok(delays.size > 1);
  });
});
