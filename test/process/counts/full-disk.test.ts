import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { isUnavailable } from '../../../src/bot/errors.ts';
import { atTime } from '../../support/at-time.ts';
import { crashed, newPlace, open } from '../../support/place.ts';
import { botId } from '../../support/sample.ts';

const homer = botId('190519304972663312');

describe('a count on a full disk', () => {
  it('that is posted after a refused one, which may be on disk all the same, wins over that after a crash', async () => {
    const place = newPlace();
    const store = await open(place);
    await store.setCount(homer, 5);
    const at = 1_900_000_000_000;
    await atTime(at, async () => {
      await withFileSizeLimit(10, async () => {
        await rejects(store.setCount(homer, 7), isUnavailable);
        strictEqual(store.failures().length, 1);
        await rejects(store.setCount(homer, 5), isUnavailable, 'also the known one');
      });
      strictEqual(store.count(homer), 5);
      await store.setCount(homer, 5);
      strictEqual(store.latest(homer)?.at, at + 2, 'later than both');
    });
    deepStrictEqual(store.failures(), []);
    strictEqual((await open(crashed(place))).count(homer), 5);
  });
});

/** Runs `work` while no file of this process may grow past `bytes`: a write fails with EFBIG, as on a full disk. */
async function withFileSizeLimit<Result>(bytes: number, work: () => Promise<Result>): Promise<Result> {
  const limit = (size: number | 'unlimited'): void =>
    void execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${size}:`]);
  limit(bytes);
  try {
    return await work();
  } finally {
    limit('unlimited');
  }
}
