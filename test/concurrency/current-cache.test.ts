import { strictEqual } from 'node:assert/strict';
import { type Current, CurrentCache } from '../../src/concurrency/current-cache.ts';

interface Value extends Current {
  readonly version: number;
}

describe('a cache of what is current', () => {
  let version: number;
  let made: number;
  const make = async (): Promise<Value> => {
    const then = version;
    made++;
    await new Promise(setImmediate);
    return { version: then, current: () => version === then };
  };
  beforeEach(() => ([version, made] = [0, 0]));

  it('makes a value once for all who ask for it at the same time, and again when it has changed', async () => {
    const cache = new CurrentCache<Value>(1_000_000, () => 1000);
    await Promise.all(Array.from({ length: 10 }, async () => await cache.get('a', make)));
    await cache.get('a', make);
    strictEqual(made, 1);
    version++;
    strictEqual((await cache.get('a', make)).version, 1);
    strictEqual(made, 2);
  });

  it('never hands out what was begun before a change to those who ask after it', async () => {
    const cache = new CurrentCache<Value>(1_000_000, () => 1000);
    const before = cache.get('a', make);
    version++;
    const after = await cache.get('a', make);
    strictEqual(after.version, 1);
    strictEqual((await before).version, 0);
  });

  it('holds no more bytes than it may, however many values there are', async () => {
    const cache = new CurrentCache<Value>(100_000, () => 10_000);
    for (let i = 0; i < 100; i++) await cache.get(String(i), make);
    made = 0;
    for (let i = 99; i >= 0; i--) await cache.get(String(i), make);
    strictEqual(made, 100 - 9, 'nine values of 10,000 bytes and their keys fit');
  });

  it('asks again after a failure', async () => {
    const cache = new CurrentCache<Value>(1_000_000, () => 1000);
    const failing = cache.get('a', async () => await Promise.reject(new Error('no')));
    strictEqual(await failing.catch(() => 'failed'), 'failed');
    strictEqual((await cache.get('a', make)).version, 0);
  });
});
