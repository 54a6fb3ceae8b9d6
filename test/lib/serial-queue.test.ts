import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { BotshelfError, isError } from '../../src/lib/errors.ts';
import { DelayQueue, FairQueue, SerialQueue } from '../../src/lib/serial-queue.ts';
import { eventually } from '../support/eventually.ts';

describe('a serial queue', () => {
  it('runs one piece of work at a time, in order, whether the one before failed or not', async () => {
    const queue = new SerialQueue(10);
    const events: string[] = [];
    const work = (name: string, fails: boolean) => async (): Promise<string> => {
      events.push(`${name} begins`);
      await Promise.resolve();
      events.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
    const results = await Promise.allSettled([queue.run(work('a', true)), queue.run(work('b', false))]);
    deepStrictEqual(events, ['a begins', 'a ends', 'b begins', 'b ends']);
    deepStrictEqual(
      results.map(({ status }) => status),
      ['rejected', 'fulfilled'],
    );
  });

  it('refuses what would wait behind too much, and takes work again when there is room', async () => {
    const queue = new SerialQueue(2);
    const results = await Promise.allSettled([1, 2, 3, 4, 5].map((n) => queue.run(async () => n)));
    deepStrictEqual(
      results.map((result) =>
        result.status === 'fulfilled' ? result.value : isError(result.reason, 'queue-full'),
      ),
      [1, 2, 3, true, true],
    );
    strictEqual(await queue.run(async () => 6), 6);
  });

  it('holds any number of pieces of work without a limit, and counts those that have not ended', async () => {
    const queue = new SerialQueue();
    strictEqual(queue.size, 0);
    const results = Array.from({ length: 1000 }, (_, n) => queue.run(async () => n));
    strictEqual(queue.size, 1000);
    strictEqual((await Promise.all(results)).length, 1000);
    strictEqual(queue.size, 0);
  });
});

describe('a fair queue', () => {
  it('runs one piece of work at a time, and takes turns among clients', async () => {
    const queue = new FairQueue(40);
    const order: string[] = [];
    let running = 0;
    const run = async (client: string, fails = false): Promise<void> =>
      await queue.run(client, async () => {
        strictEqual(++running, 1);
        await Promise.resolve();
        order.push(client);
        running--;
        if (fails) throw new Error(client);
      });
    const greedy = Array.from({ length: 8 }, async (_, i) => await run('greedy', i === 3));
    const others = ['a', 'b', 'a'].map(async (client) => await run(client));
    const results = await Promise.allSettled([...greedy, ...others]);
    strictEqual(results.filter(({ status }) => status === 'rejected').length, 1);
    strictEqual(order.slice(0, 7).join(' '), 'greedy greedy a b greedy a greedy');
    strictEqual(order.length, 11);
    await run('later');
    strictEqual(order.at(-1), 'later');
  });

  it('takes turns among networks, and in each of them among its groups', async () => {
    const queue = new FairQueue(40);
    const order: string[] = [];
    const addresses = 'x 2001:db8:1:1::1 2001:db8:1:1::2 2001:db8:1:2::1 2001:db8:1:3::1 a a'.split(' ');
    await Promise.all(
      addresses.map(async (address) => await queue.run(address, async () => void order.push(address))),
    );
    strictEqual(order.join(' '), 'x 2001:db8:1:1::1 a 2001:db8:1:2::1 a 2001:db8:1:3::1 2001:db8:1:1::2');
  });

  it('refuses what is over a quarter of its places for one client, and all when it is full, and says which', async () => {
    const queue = new FairQueue(8);
    const refusedOf = async (clients: readonly string[]): Promise<string[]> => {
      const refused: string[] = [];
      const run = async (client: string): Promise<void> => await queue.run(client, async () => {});
      await Promise.all(
        clients.map(
          async (client) =>
            await run(client).catch((error: unknown) => {
              refused.push(`${client} ${error instanceof BotshelfError && error.code}`);
            }),
        ),
      );
      return refused;
    };
    deepStrictEqual(await refusedOf(['a', 'a', 'a', 'a', 'b']), ['a share-full']);
    deepStrictEqual(await refusedOf('abcdefghij'.split('')), ['j queue-full']);
    deepStrictEqual(await refusedOf('abbcdefghbj'.split('')), ['b share-full', 'j queue-full']);
    const ofSite = [1, 2, 3, 4, 5].map((group) => `2001:db8:1:${group}::1`);
    deepStrictEqual(
      await refusedOf([...ofSite, 'a', '2001:db8:2::1']),
      ofSite.slice(3).map((address) => `${address} share-full`),
    );
    // No visitor is to blame for what the service itself does.
    deepStrictEqual(await refusedOf(['', '', '', '']), [' queue-full']);
  });
});

describe('a delay queue', () => {
  let done: string[];
  let busyMs: number;
  let queue: DelayQueue;
  beforeEach(() => {
    [done, busyMs] = [[], 0];
    queue = new DelayQueue((name) => {
      done.push(name);
      for (const end = performance.now() + busyMs; performance.now() < end;);
    });
  });

  it('does each piece of work once, at the earliest time that it was added for', async () => {
    for (const [name, delay] of [
      ['late', 500],
      ['early', 3_600_000],
      ['early', 5],
      ['early', 3_600_000],
      ['not yet', 3_600_000],
    ] as const)
      queue.add(name, delay);
    strictEqual(queue.size, 3);
    await eventually(() => queue.size === 1);
    deepStrictEqual(done, ['early', 'late']);
  });

  it('does work again when its name is added while it is done, and nothing once it is closed', async () => {
    queue = new DelayQueue((name) => {
      if (done.push(name) < 3) queue.add(name, 1);
    });
    queue.add('a', 0);
    await eventually(() => done.length === 3 && queue.size === 0);
    queue.add('b', 0);
    queue.close();
    queue.add('c', 0);
    await sleep(30);
    deepStrictEqual([done.length, queue.size], [3, 0]);
  });
});
