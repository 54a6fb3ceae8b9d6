import { deepEqual, equal } from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { openLanes } from '../../src/images/host-queue.ts';

const rest = { first: 1, most: 4 };

describe('lanes', () => {
  it('work on so many items at once, and never on two of one host', async () => {
    const busy: string[] = [];
    let most = 0;
    const done: string[] = [];
    const lanes = openLanes<string>({
      concurrency: 3,
      rest,
      work: async (item) => {
        const host = item.slice(0, 1);
        equal(busy.includes(host), false);
        busy.push(host);
        most = Math.max(most, busy.length);
        await setImmediate();
        busy.splice(busy.indexOf(host), 1);
        done.push(item);
        return true;
      },
    });
    const items = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1', 'd1', 'e1', 'e2'];
    for (const item of items) lanes.add(item.slice(0, 1), item, false);
    equal(lanes.left, items.length);
    await lanes.idle();
    deepEqual(done.toSorted(), items);
    equal(most, 3);
    equal(lanes.left, 0);
  });

  it('take an urgent item before those of its host that are not', async () => {
    const done: number[] = [];
    const lanes = openLanes<number>({ concurrency: 1, rest, work: async (item) => done.push(item) > 0 });
    for (const item of [0, 1, 2]) lanes.add('a', item, false);
    lanes.add('a', 9, true);
    await lanes.idle();
    equal(done[1], 9);
  });

  it('come back to a host that is unwell until all its items are done', async () => {
    const done: number[] = [];
    const lanes = openLanes<number>({
      concurrency: 2,
      rest,
      work: async (item) => {
        done.push(item);
        return item > 2;
      },
    });
    for (const item of [1, 2, 3, 4, 5]) lanes.add('a', item, false);
    await lanes.idle();
    deepEqual(new Set(done), new Set([1, 2, 3, 4, 5]));
  });

  it('go on with other hosts while one of them does not answer', async () => {
    const done: string[] = [];
    let answer: ((well: boolean) => void) | undefined;
    const lanes = openLanes<string>({
      concurrency: 2,
      rest,
      work: async (item) => {
        done.push(item);
        if (item === 'stuck') return await new Promise((resolve) => (answer = resolve));
        if (done.length === 4) answer?.(true);
        return true;
      },
    });
    lanes.add('slow', 'stuck', false);
    for (const host of ['a', 'b', 'c']) lanes.add(host, host, false);
    await lanes.idle();
    deepEqual(done, ['stuck', 'a', 'b', 'c']);
  });

  it('finish what was begun and nothing else when they are closed', async () => {
    const done: number[] = [];
    const lanes = openLanes<number>({
      concurrency: 1,
      rest,
      work: async (item) => {
        await setImmediate();
        done.push(item);
        return true;
      },
    });
    for (const item of [1, 2, 3]) lanes.add('a', item, false);
    const idle = lanes.idle();
    await lanes.close();
    await idle;
    equal(done.length, 1);
  });
});
