import { deepStrictEqual, notStrictEqual, strictEqual } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { CurrentCache } from '../../src/lib/current-cache.ts';

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

  it('makes a value again when one of its inputs is equal and not the same', async () => {
    const cache = new CurrentCache<Value>(1_000_000, () => 1000);
    let bot = {};
    const first = await cache.get('page', [() => bot], make);
    bot = {};
    strictEqual(first.current(), false);
    await cache.get('page', [() => bot], make);
    strictEqual(made, 2);
  });

  describe('of values that age', () => {
    const { now } = performance;
    let passed: number;
    let cache: CurrentCache<Value>;
    beforeEach(() => {
      passed = 0;
      performance.now = () => now.call(performance) + passed;
      cache = new CurrentCache<Value>(1_000_000, () => 1000, { ages: true });
    });
    after(() => (performance.now = now));
    const makeSlowly = async (): Promise<Value> => {
      passed += 1000;
      return await make();
    };

    it('uses a value for five seconds, or until an input is another', async () => {
      const value = await cache.get('a', inputs, make);
      passed += 4900;
      strictEqual(await cache.get('a', inputs, make), value);
      passed += 100;
      strictEqual(value.current(), false);
      await cache.get('a', inputs, make);
      version++;
      deepStrictEqual([(await cache.get('a', inputs, make)).version, made], [1, 3]);
    });

    it('uses a value for 20 times as long as it took to make it, and as long again while the next is made', async () => {
      const value = await cache.get('a', inputs, makeSlowly);
      passed += 19_900;
      strictEqual(await cache.get('a', inputs, makeSlowly), value);
      passed += 18_000;
      strictEqual(value.current(), false);
      strictEqual(await cache.get('a', inputs, makeSlowly), value, 'nobody waits');
      await sleep(1);
      notStrictEqual(await cache.get('a', inputs, makeSlowly), value);
      strictEqual(made, 2);
    });

    it('uses no value for more than a minute while it is current', async () => {
      const makeVerySlowly = async (): Promise<Value> => {
        passed += 3_600_000;
        return await make();
      };
      const value = await cache.get('a', inputs, makeVerySlowly);
      passed += 60_000;
      strictEqual(value.current(), false);
      passed += 60_000;
      strictEqual((await cache.get('a', inputs, make)).current(), true);
    });

    it('goes on with it when the next one cannot be made, and tries again', async () => {
      const value = await cache.get('a', inputs, makeSlowly);
      passed += 21_000;
      let tries = 0;
      const fail = async (): Promise<Value> => {
        tries++;
        return await Promise.reject(new Error('no'));
      };
      for (const expected of [1, 2, 3]) {
        strictEqual(await cache.get('a', inputs, fail), value);
        await sleep(1);
        strictEqual(tries, expected);
      }
    });

    it('uses none with another input while the next one is made', async () => {
      await cache.get('a', inputs, makeSlowly);
      passed += 21_000;
      version++;
      strictEqual((await cache.get('a', inputs, makeSlowly)).version, 1);
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
