import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { sortInSlices } from '../../src/concurrency/in-slices.ts';
import { TimeSlice } from '../../src/concurrency/time-slice.ts';

describe('work in slices', () => {
  it('is done once a round of the event loop, however much work there is at once', async () => {
    let round = 0;
    let counting = true;
    const count = (): void => {
      round++;
      if (counting) setImmediate(count);
    };
    setImmediate(count);
    const rounds: number[] = [];
    const work = async (): Promise<void> => {
      const slice = new TimeSlice();
      for (let step = 0; step < 3; step++) {
        await slice.next();
        rounds.push(round);
      }
    };
    await Promise.all(Array.from({ length: 20 }, work));
    counting = false;
    strictEqual(rounds.length, 60);
    strictEqual(new Set(rounds).size, 60, 'no two steps in the same round');
  });

  it('sorts as a sort in one piece does, and keeps the order of equals', async () => {
    const item = fc.record({ value: fc.nat(20), place: fc.nat() });
    const compare = (a: { value: number }, b: { value: number }): number => a.value - b.value;
    await fc.assert(
      fc.asyncProperty(
        fc.array(item, { maxLength: 50 }),
        fc.integer({ min: 0, max: 200 }),
        async (drawn, times) => {
          const items = Array.from({ length: times }, () => drawn).flat();
          deepStrictEqual(await sortInSlices(items, compare), items.toSorted(compare));
        },
      ),
      { numRuns: 30 },
    );
  });
});
