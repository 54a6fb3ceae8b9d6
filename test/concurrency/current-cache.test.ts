import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { CurrentCache } from '../../src/concurrency/current-cache.ts';

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

  it('keeps a value for its time of grace, whatever changes', async () => {
    const cache = new CurrentCache<Value>(
      1_000_000,
      () => 1000,
      () => 30,
    );
    const value = await cache.get('a', read, make);
    version++;
    strictEqual(await cache.get('a', read, make), value);
    await new Promise((resolve) => {
      setTimeout(resolve, 40);
    });
    strictEqual((await cache.get('a', read, make)).version, 1);
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
