import { deepStrictEqual, notStrictEqual, strictEqual } from 'node:assert/strict';
import { CurrentCache } from '../../src/lib/current-cache.ts';

interface Value {
  readonly version: number;
}

describe('a cache of what is current', () => {
  let version: number;
  let made: number;
  let cache: CurrentCache;
  const inputs = [() => version];
  const exact = { inputs, isExact: true };
  const make = async (): Promise<Value> => {
    made++;
    const value = { version };
    await new Promise(setImmediate);
    return value;
  };
  beforeEach(() => ([version, made, cache] = [0, 0, new CurrentCache()]));

  it('makes a value once for all callers at the same time, and again when an input has changed or it failed', async () => {
    const failing = cache.get('a', async () => await Promise.reject(new Error('no')), exact);
    strictEqual(await failing.catch(() => 'failed'), 'failed');
    await Promise.all(Array.from({ length: 10 }, async () => await cache.get('a', make, exact)));
    await cache.get('a', make, exact);
    strictEqual(made, 1);
    version++;
    strictEqual((await cache.get('a', make, exact)).version, 1);
    strictEqual(made, 2);
  });

  describe('of values that are not exact', () => {
    const { now } = performance;
    let passed: number;
    beforeEach(() => {
      passed = 0;
      performance.now = () => now.call(performance) + passed;
    });
    after(() => (performance.now = now));
    const makeSlowly = async (): Promise<Value> => {
      passed += 1000;
      return await make();
    };

    it('uses a value for five seconds, or until an input is another', async () => {
      const value = await cache.get('a', make, { inputs });
      passed += 4900;
      strictEqual(await cache.get('a', make, { inputs }), value);
      passed += 100;
      strictEqual(value.current(), false);
      await cache.get('a', make, { inputs });
      version++;
      deepStrictEqual([(await cache.get('a', make, { inputs })).version, made], [1, 3]);
    });

    it('uses a value for 20 times as long as it took to make it, and a minute more while the next is made', async () => {
      const value = await cache.get('a', makeSlowly, { inputs });
      passed += 19_900;
      strictEqual(await cache.get('a', makeSlowly, { inputs }), value);
      passed += 59_000;
      strictEqual(value.current(), false);
      strictEqual(await cache.get('a', makeSlowly, { inputs }), value, 'nobody waits');
      await new Promise(setImmediate);
      notStrictEqual(await cache.get('a', makeSlowly, { inputs }), value);
      strictEqual(made, 2);
      passed += 21_000;
      version++;
      strictEqual((await cache.get('a', makeSlowly, { inputs })).version, 1, 'not with another input');
    });

    it('uses no value for more than a minute while it is current', async () => {
      const makeVerySlowly = async (): Promise<Value> => {
        passed += 3_600_000;
        return await make();
      };
      const value = await cache.get('a', makeVerySlowly, { inputs });
      passed += 60_000;
      strictEqual(value.current(), false);
      passed += 60_000;
      strictEqual((await cache.get('a', make, { inputs })).current(), true);
    });

    it('goes on with it when the next one cannot be made, and tries again', async () => {
      const value = await cache.get('a', makeSlowly, { inputs });
      passed += 21_000;
      let tries = 0;
      const fail = async (): Promise<Value> => {
        tries++;
        return await Promise.reject(new Error('no'));
      };
      for (const expected of [1, 2, 3]) {
        strictEqual(await cache.get('a', fail, { inputs }), value);
        await new Promise(setImmediate);
        strictEqual(tries, expected);
      }
    });
  });

  it('returns nothing that was begun before a change to a caller after it', async () => {
    const before = cache.get('a', make, exact);
    version++;
    const after = await cache.get('a', make, exact);
    strictEqual(after.version, 1);
    strictEqual((await before).version, 0);
  });

  it('makes a value twice at most for all callers at the same time, though its inputs change all the time', async () => {
    const makeAndChange = async (): Promise<Value> => {
      version++;
      return await make();
    };
    await Promise.all(Array.from({ length: 10 }, async () => await cache.get('a', makeAndChange, exact)));
    strictEqual(made, 2);
  });

  it('holds no more bytes than it may, however many values there are', async () => {
    cache = new CurrentCache(100_000);
    const large = { ...exact, sizeOf: () => 10_000 };
    for (let i = 0; i < 100; i++) await cache.get(String(i), make, large);
    made = 0;
    for (let i = 99; i >= 0; i--) await cache.get(String(i), make, large);
    strictEqual(made, 100 - 9, 'nine values of 10,000 bytes and their keys fit');
  });
});
