import { deepEqual, equal } from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { HostQueue } from '../../src/images/image-queue.ts';

const rest = { first: 1, max: 4 };

describe('a host queue', () => {
  it('works on several items at once, up to a limit, and never on two of one host', async () => {
    const busy: string[] = [];
    let max = 0;
    const done: string[] = [];
    const hostQueue = new HostQueue<string>({
      concurrency: 3,
      rest,
      work: async (item) => {
        const host = item.slice(0, 1);
        equal(busy.includes(host), false);
        busy.push(host);
        max = Math.max(max, busy.length);
        await setImmediate();
        busy.splice(busy.indexOf(host), 1);
        done.push(item);
        return true;
      },
    });
    const items = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1', 'd1', 'e1', 'e2'];
    for (const item of items) hostQueue.add(item.slice(0, 1), item, false);
    equal(hostQueue.left, items.length);
    await hostQueue.idle();
    deepEqual(done.toSorted(), items);
    equal(max, 3);
    equal(hostQueue.left, 0);
  });

  it('leaves a host that has spent more for after the others', async () => {
    const done: string[] = [];
    const hostQueue = new HostQueue<string>({
      concurrency: 1,
      rest,
      work: async (item, spend) => {
        spend(item.startsWith('slow') ? 100 : 30);
        return done.push(item) > 0;
      },
    });
    for (const item of ['slow 1', 'slow 2', 'a 1', 'a 2', 'a 3', 'a 4', 'a 5'])
      hostQueue.add(item.slice(0, -2), item, false);
    await hostQueue.idle();
    // Items of one host are done from the last to the first.
    deepEqual(
      done.map((item) => item.slice(0, -2)),
      ['slow', 'a', 'a', 'a', 'a', 'slow', 'a'],
    );
  });

  it('takes an urgent item before those of its host that are not', async () => {
    const done: number[] = [];
    const hostQueue = new HostQueue<number>({
      concurrency: 1,
      rest,
      work: async (item) => done.push(item) > 0,
    });
    for (const item of [0, 1, 2]) hostQueue.add('a', item, false);
    hostQueue.add('a', 9, true);
    await hostQueue.idle();
    equal(done[1], 9);
  });

  it('returns to a host that failed until all its items are done', async () => {
    const done: number[] = [];
    const hostQueue = new HostQueue<number>({
      concurrency: 2,
      rest,
      work: async (item) => {
        done.push(item);
        return item > 2;
      },
    });
    for (const item of [1, 2, 3, 4, 5]) hostQueue.add('a', item, false);
    await hostQueue.idle();
    deepEqual(new Set(done), new Set([1, 2, 3, 4, 5]));
  });

  it('goes on with other hosts while one of them does not respond', async () => {
    const done: string[] = [];
    let answer: ((well: boolean) => void) | undefined;
    const hostQueue = new HostQueue<string>({
      concurrency: 2,
      rest,
      work: async (item) => {
        done.push(item);
        if (item === 'stuck') return await new Promise((resolve) => (answer = resolve));
        if (done.length === 4) answer?.(true);
        return true;
      },
    });
    hostQueue.add('slow', 'stuck', false);
    for (const host of ['a', 'b', 'c']) hostQueue.add(host, host, false);
    await hostQueue.idle();
    deepEqual(done, ['stuck', 'a', 'b', 'c']);
  });

  it('finishes what has started and nothing else when it is closed', async () => {
    const done: number[] = [];
    const hostQueue = new HostQueue<number>({
      concurrency: 1,
      rest,
      work: async (item) => {
        await setImmediate();
        done.push(item);
        return true;
      },
    });
    for (const item of [1, 2, 3]) hostQueue.add('a', item, false);
    const idle = hostQueue.idle();
    await hostQueue.close();
    await idle;
    equal(done.length, 1);
  });
});
