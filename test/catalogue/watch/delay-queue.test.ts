import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { setTimeout as rest } from 'node:timers/promises';
import { DelayQueue } from '../../../src/catalogue/watch/delay-queue.ts';
import { eventually } from '../../support/eventually.ts';

describe('an delayQueue', () => {
  it('does each piece of work once, in the order in which they are due', async () => {
    const done: string[] = [];
    const delayQueue = new DelayQueue((name) => done.push(name));
    delayQueue.add('late', 60);
    delayQueue.add('early', 5);
    delayQueue.add('early', 5);
    ok(!delayQueue.idle);
    await eventually(() => delayQueue.idle);
    deepStrictEqual(done, ['early', 'late']);
  });

  it('does work at the earliest time that anybody asked for', async () => {
    const done: string[] = [];
    const delayQueue = new DelayQueue((name) => done.push(name));
    delayQueue.add('a', 3_600_000);
    delayQueue.add('a', 5);
    delayQueue.add('a', 3_600_000);
    await eventually(() => done.length === 1);
    ok(delayQueue.idle);
  });

  it('does work again when it is put down while it is done', async () => {
    let times = 0;
    const delayQueue = new DelayQueue((name) => {
      times += 1;
      if (times < 3) delayQueue.add(name, 1);
    });
    delayQueue.add('a', 0);
    await eventually(() => times === 3 && delayQueue.idle);
  });

  it('lets others have their turn between long pieces of work', async () => {
    const done: string[] = [];
    const delayQueue = new DelayQueue((name) => {
      done.push(name);
      const end = performance.now() + 20;
      while (performance.now() < end);
    });
    for (const name of ['a', 'b', 'c']) delayQueue.add(name, 0);
    await eventually(() => done.length > 0);
    strictEqual(done.length, 1, 'a timer of ours ran before the second piece');
    await eventually(() => delayQueue.idle);
    deepStrictEqual(done, ['a', 'b', 'c']);
  });

  it('does nothing any more once it is closed', async () => {
    const done: string[] = [];
    const delayQueue = new DelayQueue((name) => done.push(name));
    delayQueue.add('a', 0);
    delayQueue.close();
    delayQueue.add('b', 0);
    await rest(30);
    deepStrictEqual(done, []);
    ok(delayQueue.idle);
  });
});
