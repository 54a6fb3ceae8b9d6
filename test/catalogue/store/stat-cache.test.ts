import { ok, strictEqual } from 'node:assert/strict';
import type { FileStat } from '../../../src/catalogue/page/layout.ts';
import { clockTickMs, StatCache } from '../../../src/catalogue/store/stat-cache.ts';

const name = '7.en.md';
const now = 1_700_000_000_000;
const old: FileStat = { size: 10, mtimeMs: now - 5000, ctimeMs: now - 5000, ino: 1 };

describe('a file whose stat is cached', () => {
  it('is read where any part of its stat differs', () => {
    const cache = new StatCache();
    cache.record(name, old, now);
    ok(!cache.differs(name, old));
    for (const part of ['size', 'mtimeMs', 'ctimeMs', 'ino'] as const)
      ok(cache.differs(name, { ...old, [part]: 42 }), part);
  });

  it('is read once more where it changed within a tick of the clock, which may hide another change', () => {
    const cache = new StatCache();
    for (const fresh of [{ mtimeMs: now - clockTickMs + 1 }, { ctimeMs: now }, { mtimeMs: now + 10 }]) {
      const stat = { ...old, ...fresh };
      strictEqual(cache.record(name, stat, now), true);
      ok(cache.differs(name, stat) && cache.reliableStats().size === 0);
      strictEqual(cache.record(name, stat, now + 2 * clockTickMs), false);
      ok(!cache.differs(name, stat));
    }
  });
});
