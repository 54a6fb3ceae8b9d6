import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import type { IndexedFile } from '../../../src/catalogue/store/bot-index.ts';
import type { FileStat } from '../../../src/catalogue/store/folder.ts';
import type { PageFile } from '../../../src/catalogue/page/page-file.ts';
import { clockTick, StatCache } from '../../../src/catalogue/store/stat-cache.ts';

const name = '7.en.md';
const now = 1_700_000_000_000;

function stat(more: Partial<FileStat> = {}): FileStat {
  return { size: 10, mtimeMs: now - 5000, ctimeMs: now - 5000, ino: 1, ...more };
}

function changed(cache: StatCache, stats: Readonly<Record<string, FileStat>>): string[] {
  return [...new Set([...cache.names, ...Object.keys(stats)])].filter((name) =>
    cache.differs(name, stats[name]),
  );
}

describe('a cache of stats', () => {
  it('knows nothing of a file at first', () => {
    const cache = new StatCache();
    deepStrictEqual(changed(cache, { [name]: stat() }), [name]);
  });

  it('takes a file for unchanged while its stat is the same', () => {
    const cache = new StatCache();
    strictEqual(cache.record(name, stat(), now), false);
    deepStrictEqual(changed(cache, { [name]: stat() }), []);
    deepStrictEqual(cache.sureStats().get(name), stat());
  });

  for (const part of ['size', 'mtimeMs', 'ctimeMs', 'ino'] as const)
    it(`takes a file for changed by its ${part} alone`, () => {
      const cache = new StatCache();
      cache.record(name, stat(), now);
      deepStrictEqual(changed(cache, { [name]: stat({ [part]: 42 }) }), [name]);
    });

  it('misses a file that is gone', () => {
    const cache = new StatCache();
    cache.record(name, stat(), now);
    deepStrictEqual(changed(cache, {}), [name]);
    strictEqual(cache.record(name, undefined, now), false);
    deepStrictEqual(changed(cache, {}), []);
    deepStrictEqual(cache.names, []);
  });

  it('wants a file read once more that changed within a tick of the clock', () => {
    for (const fresh of [{ mtimeMs: now - clockTick + 1 }, { ctimeMs: now }, { mtimeMs: now + 10 }]) {
      const cache = new StatCache();
      strictEqual(cache.record(name, stat(fresh), now), true);
      deepStrictEqual(changed(cache, { [name]: stat(fresh) }), [name]);
      strictEqual(cache.sureStats().size, 0);
      strictEqual(cache.record(name, stat(fresh), now + 2 * clockTick), false);
      deepStrictEqual(changed(cache, { [name]: stat(fresh) }), []);
    }
  });

  it('does not read a file again and again whose time lies in the future', () => {
    const cache = new StatCache();
    strictEqual(cache.record(name, stat({ mtimeMs: now + 3_600_000 }), now), false);
  });

  it('reads a postponed file again whatever its stat', () => {
    const cache = new StatCache();
    cache.postpone(name, stat(), now);
    deepStrictEqual(changed(cache, { [name]: stat() }), [name]);
  });

  it('reads an expected file, and misses it where it is gone', () => {
    const cache = new StatCache();
    cache.addUnread(name);
    deepStrictEqual(cache.names, [name]);
    deepStrictEqual(changed(cache, { [name]: stat() }), [name]);
    deepStrictEqual(changed(cache, {}), [name]);
  });

  describe('leaves a file alone', () => {
    const file = { tail: 1 } as PageFile;
    const served = { tail: 1 } as IndexedFile;
    const other = { tail: 2 } as IndexedFile;
    const waitFor = (more: Partial<FileStat>, served?: IndexedFile, isWriting = false): number =>
      new StatCache().waitFor(name, stat(more), file, served, now, isWriting);

    it('until it was quiet for a while, as it may be half written', () => {
      ok(waitFor({ mtimeMs: now - 10 }) > 200);
      ok(waitFor({ mtimeMs: now - 10 }, other) > 200);
      ok(waitFor({ mtimeMs: now - 5000 }, other) <= 0);
      // Times of files have parts of milliseconds, and the file may change between the look at the clock and its stat.
      ok(waitFor({ mtimeMs: now + 0.7 }, other) > 200);
      ok(waitFor({ mtimeMs: now + 50 }) > 200);
    });

    it('not at all when it ends as the one that is served', () => {
      strictEqual(waitFor({ mtimeMs: now }, served), 0);
    });

    it('not at all when its time lies in the future, where waiting could take for ever', () => {
      strictEqual(waitFor({ mtimeMs: now + 60_000 }, other), 0);
    });

    it('when it is missing, counted from when that was seen first', () => {
      const cache = new StatCache();
      cache.record(name, stat(), now - 1000);
      const wait = cache.waitFor(name, undefined, undefined, served, now, false);
      ok(wait > 0);
      cache.postpone(name, undefined, now);
      cache.postpone(name, undefined, now + wait - 1);
      strictEqual(cache.waitFor(name, undefined, undefined, served, now + wait, false), 0);
    });

    it('while Git is writing files, for some seconds', () => {
      ok(waitFor({ mtimeMs: now - 5000 }, other, true) > 0);
      ok(waitFor({ mtimeMs: now - 60_000 }, other, true) <= 0);
      strictEqual(waitFor({ mtimeMs: now }, served, true), 0);
      const cache = new StatCache();
      cache.postpone(name, undefined, now);
      ok(cache.waitFor(name, undefined, undefined, served, now + 5000, true) > 0);
      ok(cache.waitFor(name, undefined, undefined, served, now + 60_000, true) <= 0);
    });
  });
});
