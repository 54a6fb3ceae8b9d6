import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { CurrentCache, whileTrue } from '../../src/lib/current-cache.ts';

interface Value {
  readonly version: number;
}

describe('a cache of what is current', () => {
  let version: number;
  let made: number;
  const inputs = [() => version];
  const make = async (): Promise<Value> => {
    made++;
    const value = { version };
    await new Promise(setImmediate);
    return value;
  };
  beforeEach(() => ([version, made] = [0, 0]));

  it('makes a value once for all callers at the same time, and again when an input has changed', async () => {
    const cache = new CurrentCache<Value>(1_000_000, () => 1000);
    await Promise.all(Array.from({ length: 10 }, async () => await cache.get('a', inputs, make)));
    await cache.get('a', inputs, make);
    strictEqual(made, 1);
    version++;
    strictEqual((await cache.get('a', inputs, make)).version, 1);
    strictEqual(made, 2);
  });

  it('makes a value again that took long, too', async () => {
    const cache = new CurrentCache<Value>(1_000_000, () => 1000);
    const slowly = async (): Promise<Value> => {
      await sleep(30);
      return { version };
    };
    await cache.get('a', inputs, slowly);
    version++;
    strictEqual((await cache.get('a', inputs, slowly)).version, 1);
  });

  it('makes a value again when one of its inputs is equal and not the same, or is no longer true', async () => {
    const cache = new CurrentCache<Value>(1_000_000, () => 1000);
    const list = await cache.get('list', inputs, make);
    let bot = {};
    const readPage = [() => bot, whileTrue(list.current)];
    const makePage = async (): Promise<Value> => ({ version });
    const values = [await cache.get('page', readPage, makePage)];
    bot = {};
    strictEqual(values[0]?.current(), false);
    values.push(await cache.get('page', readPage, makePage));
    version++;
    deepStrictEqual(
      values.map((value) => value.current()),
      [false, false],
    );
  });

  describe('where making may take a part of the time only', () => {
    /** Makes a value in so many milliseconds. */
    const slowly = (milliseconds: number) => async () => {
      await sleep(milliseconds);
      return await make();
    };

    it('keeps a value for many times the time that it took, whatever changes', async () => {
      const cache = new CurrentCache<Value>(1_000_000, () => 1000, 20);
      const value = await cache.get('a', inputs, slowly(5));
      version++;
      strictEqual(await cache.get('a', inputs, slowly(5)), value);
      await sleep(400);
      strictEqual(
        (await cache.get('a', inputs, slowly(5))).version,
        1,
        'it was quick to make: it is waited for',
      );
    });

    it('shows a value that took long to make until the next one is made in the background', async () => {
      const cache = new CurrentCache<Value>(1_000_000, () => 1000, 1);
      const value = await cache.get('a', inputs, slowly(50));
      version++;
      await sleep(60);
      strictEqual(value.current(), false);
      strictEqual(await cache.get('a', inputs, slowly(50)), value, 'nobody waits');
      strictEqual(value.current(), true, 'it begins to make one and no other');
      while (value.current()) await sleep(10);
      deepStrictEqual([(await cache.get('a', inputs, slowly(50))).version, made], [1, 2]);
    });

    it('goes on with it when the next one cannot be made, and tries again', async () => {
      const cache = new CurrentCache<Value>(1_000_000, () => 1000, 1);
      const tries: number[] = [];
      const makeOnce = async (): Promise<Value> => {
        if (tries.push(version) > 1) throw new Error('no');
        return await slowly(50)();
      };
      const value = await cache.get('a', inputs, makeOnce);
      version++;
      while (tries.length < 3) {
        strictEqual(await cache.get('a', inputs, makeOnce), value);
        await sleep(10);
      }
    });

    it('shows none that is out of date for more than a minute', async () => {
      const cache = new CurrentCache<Value>(1_000_000, () => 1000, 1);
      await cache.get('a', inputs, slowly(50));
      version++;
      const now = performance.now.bind(performance);
      performance.now = () => now() + 61_000;
      try {
        strictEqual((await cache.get('a', inputs, slowly(50))).version, 1);
      } finally {
        performance.now = now;
      }
    });
  });

  it('returns nothing that was begun before a change to a caller after it', async () => {
    const cache = new CurrentCache<Value>(1_000_000, () => 1000);
    const before = cache.get('a', inputs, make);
    version++;
    const after = await cache.get('a', inputs, make);
    strictEqual(after.version, 1);
    strictEqual((await before).version, 0);
  });

  it('makes a value twice at most for all callers at the same time, though its inputs change all the time', async () => {
    const cache = new CurrentCache<Value>(1_000_000, () => 1000);
    const makeAndChange = async (): Promise<Value> => {
      version++;
      return await make();
    };
    await Promise.all(Array.from({ length: 10 }, async () => await cache.get('a', inputs, makeAndChange)));
    strictEqual(made, 2);
  });

  it('holds no more bytes than it may, however many values there are', async () => {
    const cache = new CurrentCache<Value>(100_000, () => 10_000);
    for (let i = 0; i < 100; i++) await cache.get(String(i), inputs, make);
    made = 0;
    for (let i = 99; i >= 0; i--) await cache.get(String(i), inputs, make);
    strictEqual(made, 100 - 9, 'nine values of 10,000 bytes and their keys fit');
  });

  it('asks again after a failure', async () => {
    const cache = new CurrentCache<Value>(1_000_000, () => 1000);
    const failing = cache.get('a', inputs, async () => await Promise.reject(new Error('no')));
    strictEqual(await failing.catch(() => 'failed'), 'failed');
    strictEqual((await cache.get('a', inputs, make)).version, 0);
  });
});
