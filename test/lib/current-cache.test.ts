import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { CurrentCache } from '../../src/lib/current-cache.ts';

interface Value {
  readonly version: number;
}

describe('a cache of what is current', () => {
  let version: number;
  let made: number;
  const read = (): Value => ({ version });
  const make = async (inputs: Value): Promise<Value> => {
    made++;
    await new Promise(setImmediate);
    return { version: inputs.version };
  };
  beforeEach(() => ([version, made] = [0, 0]));

  it('makes a value once for all who ask for it at the same time, and again when an input has changed', async () => {
    const cache = new CurrentCache<Value>(1_000_000, () => 1000);
    await Promise.all(Array.from({ length: 10 }, async () => await cache.get('a', read, make)));
    await cache.get('a', read, make);
    strictEqual(made, 1);
    version++;
    strictEqual((await cache.get('a', read, make)).version, 1);
    strictEqual(made, 2);
  });

  it('makes a value again that took long, too', async () => {
    const cache = new CurrentCache<Value>(1_000_000, () => 1000);
    const slowly = async (inputs: Value): Promise<Value> => {
      await sleep(30);
      return inputs;
    };
    await cache.get('a', read, slowly);
    version++;
    strictEqual((await cache.get('a', read, slowly)).version, 1);
  });

  it('makes a value again when one of its inputs is equal and not the same, or is no longer current', async () => {
    const cache = new CurrentCache<Value>(1_000_000, () => 1000);
    const list = await cache.get('list', read, make);
    let bot = {};
    const readPage = (): object => ({ bot, list });
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
    const slowly = (milliseconds: number) => async (inputs: Value) => {
      await sleep(milliseconds);
      return await make(inputs);
    };

    it('keeps a value for many times the time that it took, whatever changes', async () => {
      const cache = new CurrentCache<Value>(1_000_000, () => 1000, 20);
      const value = await cache.get('a', read, slowly(5));
      version++;
      strictEqual(await cache.get('a', read, slowly(5)), value);
      await sleep(400);
      strictEqual(
        (await cache.get('a', read, slowly(5))).version,
        1,
        'it was quick to make: it is waited for',
      );
    });

    it('shows a value that took long to make until the next one is made in the background', async () => {
      const cache = new CurrentCache<Value>(1_000_000, () => 1000, 1);
      const value = await cache.get('a', read, slowly(50));
      version++;
      await sleep(60);
      strictEqual(await cache.get('a', read, slowly(50)), value, 'nobody waits');
      strictEqual(value.current(), true, 'it begins to make one and no other');
      while (value.current()) await sleep(10);
      deepStrictEqual([(await cache.get('a', read, slowly(50))).version, made], [1, 2]);
    });

    it('goes on with it when the next one cannot be made, and tries again', async () => {
      const cache = new CurrentCache<Value>(1_000_000, () => 1000, 1);
      const tries: Value[] = [];
      const makeOnce = async (inputs: Value): Promise<Value> => {
        tries.push(inputs);
        if (tries.length > 1) throw new Error('no');
        return await slowly(50)(inputs);
      };
      const value = await cache.get('a', read, makeOnce);
      version++;
      while (tries.length < 3) {
        strictEqual(value.current(), true);
        await sleep(10);
      }
    });

    it('shows none that is out of date for more than a minute', async () => {
      const cache = new CurrentCache<Value>(1_000_000, () => 1000, 1);
      await cache.get('a', read, slowly(50));
      version++;
      const now = performance.now.bind(performance);
      performance.now = () => now() + 61_000;
      try {
        strictEqual((await cache.get('a', read, slowly(50))).version, 1);
      } finally {
        performance.now = now;
      }
    });
  });

  it('returns what it has without waiting, and makes what is missing or has changed', async () => {
    const cache = new CurrentCache<Value>(1_000_000, () => 1000);
    strictEqual(cache.kept('a', read, make), undefined);
    const first = await cache.get('a', read, make);
    version++;
    strictEqual(cache.kept('a', read, make), first);
    strictEqual((await cache.get('a', read, make)).version, 1);
    strictEqual(cache.kept('a', read, make)?.version, 1);
    strictEqual(made, 2);
  });

  it('never returns what was begun before a change to those who ask after it', async () => {
    const cache = new CurrentCache<Value>(1_000_000, () => 1000);
    const before = cache.get('a', read, make);
    version++;
    const after = await cache.get('a', read, make);
    strictEqual(after.version, 1);
    strictEqual((await before).version, 0);
  });

  it('holds no more bytes than it may, however many values there are', async () => {
    const cache = new CurrentCache<Value>(100_000, () => 10_000);
    for (let i = 0; i < 100; i++) await cache.get(String(i), read, make);
    made = 0;
    for (let i = 99; i >= 0; i--) await cache.get(String(i), read, make);
    strictEqual(made, 100 - 9, 'nine values of 10,000 bytes and their keys fit');
  });

  it('asks again after a failure', async () => {
    const cache = new CurrentCache<Value>(1_000_000, () => 1000);
    const failing = cache.get('a', read, async () => await Promise.reject(new Error('no')));
    strictEqual(await failing.catch(() => 'failed'), 'failed');
    strictEqual((await cache.get('a', read, make)).version, 0);
  });
});
