import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FileStat } from '../../../src/catalogue/page/page-file.ts';
import { clockTickMs, StatCache, DelayQueue } from '../../../src/catalogue/store/stat-cache.ts';
import { eventually } from '../../support/eventually.ts';

const name = '7.en.md';
const now = 1_700_000_000_000;

function stat(more: Partial<FileStat> = {}): FileStat {
  return { size: 10, mtimeMs: now - 5000, ctimeMs: now - 5000, ino: 1, ...more };
}

describe('a cache of stats', () => {
  let cache: StatCache;

  beforeEach(() => {
    cache = new StatCache();
  });

  it('knows nothing of a file at first', () => {
    ok(cache.differs(name, stat()));
    ok(!cache.differs(name, undefined));
  });

  it('takes a file for unchanged while its stat is the same, and for changed by each part of it', () => {
    strictEqual(cache.record(name, stat(), now), false);
    ok(!cache.differs(name, stat()));
    deepStrictEqual(cache.reliableStats().get(name), stat());
    for (const part of ['size', 'mtimeMs', 'ctimeMs', 'ino'] as const)
      ok(cache.differs(name, stat({ [part]: 42 })), part);
  });

  it('misses a file that is gone', () => {
    cache.record(name, stat(), now);
    ok(cache.differs(name, undefined));
    strictEqual(cache.record(name, undefined, now), false);
    ok(!cache.differs(name, undefined));
    deepStrictEqual(cache.names, []);
  });

  it('wants a file read once more that changed within a tick of the clock', () => {
    for (const fresh of [{ mtimeMs: now - clockTickMs + 1 }, { ctimeMs: now }, { mtimeMs: now + 10 }]) {
      strictEqual(cache.record(name, stat(fresh), now), true);
      ok(cache.differs(name, stat(fresh)));
      strictEqual(cache.reliableStats().size, 0);
      strictEqual(cache.record(name, stat(fresh), now + 2 * clockTickMs), false);
      ok(!cache.differs(name, stat(fresh)));
    }
  });

  it('does not read a file again and again whose time lies in the future', () => {
    strictEqual(cache.record(name, stat({ mtimeMs: now + 3_600_000 }), now), false);
  });

  it('reads a postponed file again whatever its stat', () => {
    cache.postpone(name, stat(), now);
    ok(cache.differs(name, stat()));
  });

  it('reads an expected file, and misses it where it is gone', () => {
    cache.addUnread(name);
    deepStrictEqual(cache.names, [name]);
    ok(cache.differs(name, stat()) && cache.differs(name, undefined));
  });

  describe('leaves a file alone', () => {
    const waitFor = (mtimeMs: number, isComplete = false, isWriting = false): number =>
      new StatCache().waitFor(name, stat({ mtimeMs }), isComplete, now, isWriting);

    it('until it was quiet for a while, as it may be half written', () => {
      // Times of files have fractions of milliseconds, and a file may change between reading the clock and its stat.
      for (const time of [now - 10, now + 0.7, now + 50]) ok(waitFor(time) > 200, `${time - now}`);
      ok(waitFor(now - 5000) <= 0);
    });

    it('not at all when it ends as the one that is served', () => strictEqual(waitFor(now, true), 0));

    it('not at all when its time lies in the future, where waiting could take for ever', () => {
      strictEqual(waitFor(now + 60_000), 0);
    });

    it('when it is missing, counted from when that was seen first', () => {
      cache.record(name, stat(), now - 1000);
      const wait = cache.waitFor(name, undefined, false, now, false);
      ok(wait > 0);
      cache.postpone(name, undefined, now);
      cache.postpone(name, undefined, now + wait - 1);
      strictEqual(cache.waitFor(name, undefined, false, now + wait, false), 0);
    });

    it('while Git is writing files, for some seconds', () => {
      ok(waitFor(now - 5000, false, true) > 0);
      ok(waitFor(now - 60_000, false, true) <= 0);
      strictEqual(waitFor(now, true, true), 0);
      cache.postpone(name, undefined, now);
      ok(cache.waitFor(name, undefined, false, now + 5000, true) > 0);
      ok(cache.waitFor(name, undefined, false, now + 60_000, true) <= 0);
    });
  });
});

describe('a delay queue', () => {
  it('does each piece of work once, in the order in which they are due', async () => {
    const done: string[] = [];
    const queue = new DelayQueue((name) => done.push(name));
    queue.add('late', 500);
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
