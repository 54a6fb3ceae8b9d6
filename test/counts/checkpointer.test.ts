import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import { formatJournalLine } from '../../src/counts/journal.ts';
import { botId } from '../support/sample.ts';
import { BrokenRef, newPlace, open, until } from '../support/place.ts';
import { recordedLog } from '../support/recorded-log.ts';

const homer = botId('190519304972663312');
const marge = botId('190519304972663313');

describe('a checkpoint', () => {
  it('commits the first count at once, later ones together, and empties the journal', async () => {
    const place = newPlace();
    const store = await open(place);
    await store.setCount(homer, 1);
    await until(() => place.ref.history().length === 1);
    for (let count = 2; count < 9; count++) await store.setCount(homer, count);
    await store.setCount(marge, 1);
    strictEqual(place.ref.history().length, 1);
    await store.checkpoint();
    deepStrictEqual(
      place.ref.history().map(({ subject }) => subject),
      ['Count 1 bot', 'Count 2 bots'],
    );
    match(place.ref.history().at(-1)?.files['33/12.json'] ?? '', /^\{\n"190519304972663312":\{"count":8,/);
    deepStrictEqual(readdirSync(place.folder), []);
  });

  it('commits what came while another ran, when its time is over, and within a minute where that failed @slow', async () => {
    for (const [stateSeconds, reason] of [
      [1, undefined],
      [3600, 'no space'],
    ] as const) {
      const place = newPlace();
      const store = await open(place, { stateSeconds });
      const commit = place.ref.commit.bind(place.ref);
      place.ref.commit = async (...args) => {
        place.ref.commit = commit;
        await store.setCount(marge, 1);
        if (reason) throw new Error(reason);
        return await commit(...args);
      };
      await store.setCount(homer, 1);
      await until(() => Object.keys(place.ref.history().at(-1)?.files ?? {}).length === 2);
    }
  });

  it('is done by a clean stop, which then refuses what comes', async () => {
    const place = newPlace();
    const store = await open(place);
    await store.setCount(homer, 1);
    await store.setCount(marge, 1);
    await store.close();
    strictEqual(Object.keys(place.ref.history().at(-1)?.files ?? {}).length, 2);
    deepStrictEqual(readdirSync(place.folder), []);
    await rejects(store.setCount(homer, 2), { code: 'unavailable', message: /is stopping/ });
    await store.close();
  });

  it('takes up at start what an earlier process left', async () => {
    const place = newPlace();
    const blocked = await open(place, { ref: new BrokenRef(place.refPath) });
    await blocked.setCount(homer, 1);
    const timeouts = mock.method(globalThis, 'setTimeout');
    await blocked.close();
    strictEqual(timeouts.mock.callCount(), 0, 'nothing is retried once it is closed');
    timeouts.mock.restore();
    strictEqual(readdirSync(place.folder).length, 1);
    await open(place);
    await until(() => readdirSync(place.folder).length === 0);
    strictEqual(place.ref.history().length, 1);
  });

  it('makes no commit of what is committed already, and removes the journal all the same', async () => {
    const place = newPlace();
    const forgetful = await open(place);
    await forgetful.setCount(homer, 1);
    const [name = ''] = readdirSync(place.folder);
    await forgetful.checkpoint();
    const shard = place.ref.history().at(-1)?.files['33/12.json'] ?? '';
    const countedAt = Number(/"countedAt":(\d+)/.exec(shard)?.[1]);
    writeFileSync(join(place.folder, name), formatJournalLine({ id: homer, count: 1, countedAt }));
    await open(place);
    await until(() => readdirSync(place.folder).length === 0);
    strictEqual(place.ref.history().length, 1);
  });

  it('that fails keeps the journal, is logged once, is a failure for as long, and is retried @slow', async () => {
    const place = newPlace();
    const ref = new BrokenRef(place.refPath);
    const log = recordedLog();
    ref.broken = false;
    const store = await open(place, { ref, log });
    ref.broken = true;
    await store.setCount(homer, 1);
    await rejects(store.checkpoint());
    await rejects(store.checkpoint());
    ok(readdirSync(place.folder).length > 0);
    deepStrictEqual(
      store.failures().map(({ message }) => message),
      ['git is not there: install it'],
    );
    ref.broken = false;
    await until(() => store.failures().length === 0);
    strictEqual(ref.history().length, 1);
    deepStrictEqual(readdirSync(place.folder), []);
    deepStrictEqual(log.lines, [
      'error: could not commit counts to Git: git is not there: install it; ' +
        'they are safe in the journal, retrying within a minute',
      'info: counts are committed to Git again',
    ]);
  });
});
