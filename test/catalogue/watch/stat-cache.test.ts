import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import type { IndexedFile } from '../../../src/catalogue/index/bot-index.ts';
import type { Stamp } from '../../../src/catalogue/load/folder.ts';
import type { PageFile } from '../../../src/catalogue/page/page-file.ts';
import { clockTick, StatCache } from '../../../src/catalogue/watch/stat-cache.ts';

const name = '7.en.md';
const now = 1_700_000_000_000;

function stamp(more: Partial<Stamp> = {}): Stamp {
  return { size: 10, mtimeMs: now - 5000, ctimeMs: now - 5000, ino: 1, ...more };
}

function changed(seen: StatCache, stamps: Readonly<Record<string, Stamp>>): string[] {
  return [...seen.changed(new Map(Object.entries(stamps)))];
}

describe('a folder as it was seen', () => {
  it('knows nothing of a file at first', () => {
    const seen = new StatCache();
    ok(seen.isEmpty);
    deepStrictEqual(changed(seen, { [name]: stamp() }), [name]);
  });

  it('takes a file for unchanged while its stamp is the same', () => {
    const seen = new StatCache();
    strictEqual(seen.settle(name, stamp(), now), false);
    deepStrictEqual(changed(seen, { [name]: stamp() }), []);
    deepStrictEqual(seen.stamp(name), stamp());
  });

  for (const part of ['size', 'mtimeMs', 'ctimeMs', 'ino'] as const)
    it(`takes a file for changed by its ${part} alone`, () => {
      const seen = new StatCache();
      seen.settle(name, stamp(), now);
      deepStrictEqual(changed(seen, { [name]: stamp({ [part]: 42 }) }), [name]);
    });

  it('misses a file that is gone', () => {
    const seen = new StatCache();
    seen.settle(name, stamp(), now);
    deepStrictEqual(changed(seen, {}), [name]);
    strictEqual(seen.settle(name, undefined, now), false);
    deepStrictEqual(changed(seen, {}), []);
    ok(seen.isEmpty);
  });

  it('wants a file read once more that changed within a tick of the clock', () => {
    for (const fresh of [{ mtimeMs: now - clockTick + 1 }, { ctimeMs: now }, { mtimeMs: now + 10 }]) {
      const seen = new StatCache();
      strictEqual(seen.settle(name, stamp(fresh), now), true);
      deepStrictEqual(changed(seen, { [name]: stamp(fresh) }), [name]);
      strictEqual(seen.stamp(name), undefined);
      strictEqual(seen.settle(name, stamp(fresh), now + 2 * clockTick), false);
      deepStrictEqual(changed(seen, { [name]: stamp(fresh) }), []);
    }
  });

  it('does not read a file again and again whose time lies in the future', () => {
    const seen = new StatCache();
    strictEqual(seen.settle(name, stamp({ mtimeMs: now + 3_600_000 }), now), false);
  });

  it('reads a postponed file again whatever its stamp', () => {
    const seen = new StatCache();
    seen.postpone(name, stamp(), now);
    deepStrictEqual(changed(seen, { [name]: stamp() }), [name]);
  });

  it('reads an expected file, and misses it where it is gone', () => {
    const seen = new StatCache();
    seen.expect(name);
    deepStrictEqual([...seen.names], [name]);
    deepStrictEqual(changed(seen, { [name]: stamp() }), [name]);
    deepStrictEqual(changed(seen, {}), [name]);
  });

  describe('leaves a file alone', () => {
    const file = { tail: 1 } as PageFile;
    const served = { tail: 1 } as IndexedFile;
    const other = { tail: 2 } as IndexedFile;
    const quietFor = (more: Partial<Stamp>, served?: IndexedFile): number =>
      new StatCache().quietFor(name, stamp(more), file, served, now);

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
      seen.settle(name, stamp(), now - 1000);
      const wait = seen.quietFor(name, undefined, undefined, served, now);
      ok(wait > 0);
      seen.postpone(name, undefined, now);
      seen.postpone(name, undefined, now + wait - 1);
      strictEqual(seen.quietFor(name, undefined, undefined, served, now + wait), 0);
    });
  });
});
