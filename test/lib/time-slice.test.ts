import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { forEachInSlices, sortInSlices, TimeSlice } from '../../src/lib/time-slice.ts';

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

  it("does not make the service's own work wait for the slices of clients", async () => {
    const events: string[] = [];
    const client = async (): Promise<void> => {
      await new TimeSlice().next();
      events.push('client');
    };
    const service = async (): Promise<void> => {
      const slice = new TimeSlice('service');
      strictEqual(slice.isOver, false, 'it begins at once');
      await slice.next();
      events.push('service');
    };
    await Promise.all([client(), client(), client(), service()]);
    ok(events.indexOf('service') < 2, events.join(' '));
  });

  it('lets timers run between the items of a long list, and ends when it is aborted', async () => {
    const closing = new AbortController();
    setTimeout(() => closing.abort(), 1);
    let done = 0;
    const work = (): void => {
      done++;
      const end = performance.now() + 1;
      while (performance.now() < end);
    };
    await forEachInSlices(Array.from({ length: 1000 }), work, 'service', closing.signal);
    ok(done > 0 && done < 1000, `${done} items`);
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
