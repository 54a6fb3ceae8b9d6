import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayQueue } from '../../../src/catalogue/store/stat-cache.ts';
import { eventually } from '../../support/eventually.ts';

describe('a delay queue', () => {
  it('does each piece of work once, in the order in which they are due', async () => {
    const done: string[] = [];
    const queue = new DelayQueue((name) => done.push(name));
    queue.add('late', 60);
    queue.add('early', 5);
    queue.add('early', 5);
    strictEqual(queue.size, 2);
    await eventually(() => queue.size === 0);
    deepStrictEqual(done, ['early', 'late']);
  });

  it('asks for no timeout of less than nothing, of which Node warns, when it is late', async () => {
    const timeouts = mock.method(globalThis, 'setTimeout');
    const done: string[] = [];
    const queue = new DelayQueue((name) => {
      done.push(name);
      const end = performance.now() + 60;
      while (performance.now() < end);
    });
    for (const name of ['a', 'b', 'c']) queue.add(name, 1);
    await eventually(() => done.length === 3);
    timeouts.mock.restore();
    deepStrictEqual(
      timeouts.mock.calls.map(({ arguments: [, delay = 0] }) => delay).filter((delay) => delay < 0),
      [],
    );
  });

  it('does work at the earliest time that it was added for, and no other work with it', async () => {
    const done: string[] = [];
    const queue = new DelayQueue((name) => done.push(name));
    queue.add('b', 3_600_000);
    queue.add('a', 3_600_000);
    queue.add('a', 5);
    queue.add('a', 3_600_000);
    await eventually(() => done.length > 0);
    deepStrictEqual(done, ['a']);
    strictEqual(queue.size, 1);
  });

  it('does work again when its name is added while it is done', async () => {
    let times = 0;
    const queue = new DelayQueue((name) => {
      times += 1;
      if (times < 3) queue.add(name, 1);
    });
    queue.add('a', 0);
    await eventually(() => times === 3 && queue.size === 0);
  });

  it('lets the event loop go round between long pieces of work', async () => {
    const done: string[] = [];
    const queue = new DelayQueue((name) => {
      done.push(name);
      const end = performance.now() + 20;
      while (performance.now() < end);
    });
    for (const name of ['a', 'b', 'c']) queue.add(name, 0);
    await eventually(() => done.length > 0);
    strictEqual(done.length, 1, 'a timer of ours ran before the second piece');
    await eventually(() => queue.size === 0);
    deepStrictEqual(done, ['a', 'b', 'c']);
  });

  it('does nothing once it is closed', async () => {
    const done: string[] = [];
    const queue = new DelayQueue((name) => done.push(name));
    queue.add('a', 0);
    queue.close();
    queue.add('b', 0);
    await sleep(30);
    deepStrictEqual(done, []);
    strictEqual(queue.size, 0);
  });
});
