import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import type { FileStat } from '../../../src/catalogue/page/layout.ts';
import { clockTickMs, StatCache } from '../../../src/catalogue/store/stat-cache.ts';

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

  it('has a file read that is new, differs in any part of its stat, or is gone', () => {
    ok(cache.differs(name, stat()) && !cache.differs(name, undefined));
    strictEqual(cache.record(name, stat(), now), false);
    ok(!cache.differs(name, stat()) && cache.differs(name, undefined));
    deepStrictEqual(cache.reliableStats().get(name), stat());
    for (const part of ['size', 'mtimeMs', 'ctimeMs', 'ino'] as const)
      ok(cache.differs(name, stat({ [part]: 42 })), part);
    strictEqual(cache.record(name, undefined, now), false);
    deepStrictEqual([cache.differs(name, undefined), cache.names], [false, []]);
  });

  it('has a file read whatever its stat that was postponed or is expected', () => {
    cache.postpone(name, stat(), now);
    cache.addUnread('8.en.md');
    deepStrictEqual(cache.names, [name, '8.en.md']);
    for (const each of cache.names) ok(cache.differs(each, stat()) && cache.differs(each, undefined), each);
  });

  it('has a file read once more that changed within a tick of the clock, but not for a time in the future', () => {
    for (const fresh of [{ mtimeMs: now - clockTickMs + 1 }, { ctimeMs: now }, { mtimeMs: now + 10 }]) {
      strictEqual(cache.record(name, stat(fresh), now), true);
      ok(cache.differs(name, stat(fresh)));
      strictEqual(cache.reliableStats().size, 0);
      strictEqual(cache.record(name, stat(fresh), now + 2 * clockTickMs), false);
      ok(!cache.differs(name, stat(fresh)));
    }
    strictEqual(cache.record(name, stat({ mtimeMs: now + 3_600_000 }), now), false);
  });

  // Times of files have fractions of milliseconds, and a file may change between reading the clock and its stat.
  for (const [title, ageMs, isComplete, isWriting, min, max] of [
    ['waits for a file that was just written', 10, false, false, 201, 1000],
    ['waits for a file that was written in this millisecond', -0.7, false, false, 201, 1000],
    ['waits for a file that was written since the clock was read', -50, false, false, 201, 1000],
    ['waits for no file that has not changed for seconds', 5000, false, false, -Infinity, 0],
    ['waits for no file that ends as the one that is served', 0, true, false, 0, 0],
    ['waits for no file of a time in the future', -60_000, false, false, 0, 0],
    ['waits longer while Git is writing', 5000, false, true, 1, 1000],
    ['waits for Git some seconds', 60_000, false, true, -Infinity, 0],
    ['waits for no complete file while Git is writing', 0, true, true, 0, 0],
  ] as const)
    it(title, () => {
      const wait = cache.waitFor(name, stat({ mtimeMs: now - ageMs }), isComplete, now, isWriting);
      ok(wait >= min && wait <= max, `${wait}`);
    });

  it('waits for a file that is missing, from when that was seen first, and some seconds for Git', () => {
    cache.record(name, stat(), now - 1000);
    const wait = cache.waitFor(name, undefined, false, now, false);
    ok(wait > 0);
    cache.postpone(name, undefined, now);
    cache.postpone(name, undefined, now + wait - 1);
    strictEqual(cache.waitFor(name, undefined, false, now + wait, false), 0);
    ok(cache.waitFor(name, undefined, false, now + 5000, true) > 0);
    ok(cache.waitFor(name, undefined, false, now + 60_000, true) <= 0);
  });
});
