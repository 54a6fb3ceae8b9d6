import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import type { IndexedFile } from '../../../src/catalogue/index/bot-index.ts';
import type { FileStat } from '../../../src/catalogue/load/folder.ts';
import type { PageFile } from '../../../src/catalogue/page/page-file.ts';
import { clockTick, StatCache } from '../../../src/catalogue/watch/stat-cache.ts';

const name = '7.en.md';
const now = 1_700_000_000_000;

function stat(more: Partial<FileStat> = {}): FileStat {
  return { size: 10, mtimeMs: now - 5000, ctimeMs: now - 5000, ino: 1, ...more };
}

function changed(seen: StatCache, stats: Readonly<Record<string, FileStat>>): string[] {
  return [...seen.changed(new Map(Object.entries(stats)))];
}

describe('a folder as it was seen', () => {
  it('knows nothing of a file at first', () => {
    const seen = new StatCache();
    ok(seen.isEmpty);
    deepStrictEqual(changed(seen, { [name]: stat() }), [name]);
  });

  it('takes a file for unchanged while its stat is the same', () => {
    const seen = new StatCache();
    strictEqual(seen.settle(name, stat(), now), false);
    deepStrictEqual(changed(seen, { [name]: stat() }), []);
    deepStrictEqual(seen.stat(name), stat());
  });

  for (const part of ['size', 'mtimeMs', 'ctimeMs', 'ino'] as const)
    it(`takes a file for changed by its ${part} alone`, () => {
      const seen = new StatCache();
      seen.settle(name, stat(), now);
      deepStrictEqual(changed(seen, { [name]: stat({ [part]: 42 }) }), [name]);
    });

  it('misses a file that is gone', () => {
    const seen = new StatCache();
    seen.settle(name, stat(), now);
    deepStrictEqual(changed(seen, {}), [name]);
    strictEqual(seen.settle(name, undefined, now), false);
    deepStrictEqual(changed(seen, {}), []);
    ok(seen.isEmpty);
  });

  it('wants a file read once more that changed within a tick of the clock', () => {
    for (const fresh of [{ mtimeMs: now - clockTick + 1 }, { ctimeMs: now }, { mtimeMs: now + 10 }]) {
      const seen = new StatCache();
      strictEqual(seen.settle(name, stat(fresh), now), true);
      deepStrictEqual(changed(seen, { [name]: stat(fresh) }), [name]);
      strictEqual(seen.stat(name), undefined);
      strictEqual(seen.settle(name, stat(fresh), now + 2 * clockTick), false);
      deepStrictEqual(changed(seen, { [name]: stat(fresh) }), []);
    }
  });

  it('does not read a file again and again whose time lies in the future', () => {
    const seen = new StatCache();
    strictEqual(seen.settle(name, stat({ mtimeMs: now + 3_600_000 }), now), false);
  });

  it('reads a postponed file again whatever its stat', () => {
    const seen = new StatCache();
    seen.postpone(name, stat(), now);
    deepStrictEqual(changed(seen, { [name]: stat() }), [name]);
  });

  it('reads an expected file, and misses it where it is gone', () => {
    const seen = new StatCache();
    seen.expect(name);
    deepStrictEqual([...seen.names], [name]);
    deepStrictEqual(changed(seen, { [name]: stat() }), [name]);
    deepStrictEqual(changed(seen, {}), [name]);
  });

  describe('leaves a file alone', () => {
    const file = { tail: 1 } as PageFile;
    const served = { tail: 1 } as IndexedFile;
    const other = { tail: 2 } as IndexedFile;
    const quietFor = (more: Partial<FileStat>, served?: IndexedFile): number =>
      new StatCache().quietFor(name, stat(more), file, served, now);

    it('until it was quiet for a while, as it may be half written', () => {
      ok(quietFor({ mtimeMs: now - 10 }) > 200);
      ok(quietFor({ mtimeMs: now - 10 }, other) > 200);
      ok(quietFor({ mtimeMs: now - 5000 }, other) <= 0);
    });

    it('not at all when it ends as the one that is served', () => {
      strictEqual(quietFor({ mtimeMs: now }, served), 0);
    });

    it('not at all when its time lies in the future, where waiting could take for ever', () => {
      strictEqual(quietFor({ mtimeMs: now + 60_000 }, other), 0);
    });

    it('when it is missing, counted from when that was seen first', () => {
      const seen = new StatCache();
      seen.settle(name, stat(), now - 1000);
      const wait = seen.quietFor(name, undefined, undefined, served, now);
      ok(wait > 0);
      seen.postpone(name, undefined, now);
      seen.postpone(name, undefined, now + wait - 1);
      strictEqual(seen.quietFor(name, undefined, undefined, served, now + wait), 0);
    });
  });
});
