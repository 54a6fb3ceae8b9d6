import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import * as fc from 'fast-check';
import type { BotId } from '../../src/bot/id.ts';
import { isUnavailable, stopping } from '../../src/bot/errors.ts';
import { BotshelfError } from '../../src/lib/errors.ts';
import { silentLog } from '../../src/lib/log.ts';
import { StateStore } from '../../src/counts/state-store.ts';
import { botId } from '../support/sample.ts';
import { eventually } from '../support/eventually.ts';
import { crashed, localTokens, newPlace, noGit, open, type Place } from '../support/place.ts';
import { recordedLog } from '../support/recorded-log.ts';

const homer = botId('190519304972663312');
const marge = botId('190519304972663313');

/** Commits lines of the shard of Homer. */
async function commitShard({ ref }: Place, lines: string): Promise<void> {
  await ref.commit(null, new Map([['33/12.json', `{\n${lines}\n}\n`]]), 'Count 1 bot');
}

describe('a count', () => {
  it('that is the same as before is not written again', async () => {
    const place = newPlace();
    const store = await open(place);
    await store.setCount(homer, 156);
    await store.checkpoint();
    await store.setCount(homer, 156);
    deepStrictEqual(readdirSync(place.folder), []);
  });

  it('that goes back to the one before, or repeats one, while that is on its way, is written after that', async () => {
    const place = newPlace();
    const store = await open(place);
    const first = store.setCount(homer, 5);
    await store.setCount(homer, 5);
    strictEqual(store.count(homer), 5);
    await first;
    await Promise.all([store.setCount(homer, 7), store.setCount(homer, 5)]);
    strictEqual(store.count(homer), 5);
    strictEqual((await open(crashed(place))).count(homer), 5);
  });

  it('wins over the one before it, though the clock went backwards', async () => {
    const place = newPlace();
    const future = Date.now() + 1_000_000_000;
    await commitShard(place, `"${homer}": {"count":1,"countedAt":${future}}`);
    const store = await open(place);
    await store.setCount(homer, 2);
    strictEqual(store.count(homer), 2);
    strictEqual((await open(crashed(place))).count(homer), 2);
    await store.close();
    strictEqual((await open(place)).count(homer), 2);
  });

  it('from a clock that is ahead is a fault until the next count, which has the time of this clock', async () => {
    const place = newPlace();
    const future = Date.now() + 2 * 86_400_000;
    await commitShard(place, `"${homer}": {"count":1,"countedAt":${future}}`);
    const store = await open(place);
    deepStrictEqual(store.clockFaults(), [
      `the count of the bot ${homer} has the time ${new Date(future).toISOString()}, which is ahead of this machine's clock: run "timedatectl set-ntp true" on all machines`,
    ]);
    await store.setCount(homer, 1);
    deepStrictEqual(store.clockFaults(), []);
    ok((store.reportedAt(homer) ?? Infinity) <= Date.now());
    deepStrictEqual((await open(crashed(place))).clockFaults(), []);
  });
});

describe('a store that is used, checkpointed and restarted in any order', () => {
  const bots = ['190519304972663312', '3312', '190519304972663313'].map(botId);
  const bot = fc.nat(bots.length - 1);
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ post: bot, count: fc.nat(3) }) },
    fc.constantFrom('checkpoint' as const, 'crash' as const, 'stop' as const),
  );

  it('has the last count that was answered for each bot @slow', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        let place = newPlace();
        const answered = new Map<BotId, number>();
        let store = await open(place);
        for (const step of [...steps, 'crash' as const]) {
          if (step === 'checkpoint') {
            await store.checkpoint();
          } else if (step === 'crash' || step === 'stop') {
            if (step === 'stop') await store.close();
            else place = crashed(place);
            store = await open(place);
          } else {
            const id = bots[step.post] ?? botId('0');
            await store.setCount(id, step.count);
            answered.set(id, step.count);
          }
          for (const id of bots) strictEqual(store.count(id), answered.get(id));
        }
      }),
      { numRuns: 25 },
    );
  });
});

describe('a checkpoint', () => {
  it('commits the first count at once, later ones together, and empties the journal', async () => {
    const place = newPlace();
    const store = await open(place);
    await store.setCount(homer, 1);
    await eventually(() => place.ref.history.length === 1);
    for (let count = 2; count < 9; count++) await store.setCount(homer, count);
    await store.setCount(marge, 1);
    strictEqual(place.ref.history.length, 1);
    await store.checkpoint();
    deepStrictEqual(
      place.ref.history.map(({ subject }) => subject),
      ['Count 1 bot', 'Count 2 bots'],
    );
    match(place.ref.history.at(-1)?.files['33/12.json'] ?? '', /^\{\n"190519304972663312":\{"count":8,/);
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
      await eventually(() => Object.keys(place.ref.history.at(-1)?.files ?? {}).length === 2);
    }
  });

  it('that a crash interrupts, before its commit or after it, loses no answered count', async () => {
    const place = newPlace();
    const store = await open(place);
    await store.setCount(homer, 1);
    await eventually(() => readdirSync(place.folder).length === 0);
    const crashes: Place[] = [];
    const commit = place.ref.commit.bind(place.ref);
    place.ref.commit = async (...args) => {
      crashes.push(crashed(place));
      const made = await commit(...args);
      crashes.push(crashed(place));
      return made;
    };
    await Promise.all([store.setCount(homer, 2), store.setCount(marge, 3)]);
    await store.checkpoint();
    strictEqual(crashes.length, 2);
    for (const each of [...crashes, crashed(place)]) {
      const again = await open(each);
      deepStrictEqual([again.count(homer), again.count(marge)], [2, 3]);
    }
  });

  it('takes up at start what an earlier process left', async () => {
    const place = newPlace();
    place.ref.failure = noGit;
    const blocked = await open(place);
    await blocked.setCount(homer, 1);
    await blocked.close();
    place.ref.failure = undefined;
    strictEqual(readdirSync(place.folder).length, 1);
    await open(place);
    await eventually(() => readdirSync(place.folder).length === 0);
    strictEqual(place.ref.history.length, 1);
  });

  it('that fails keeps the journal, is logged once, is a failure for as long, and is retried @slow', async () => {
    const place = newPlace();
    const log = recordedLog();
    const store = await open(place, { log });
    place.ref.failure = noGit;
    await store.setCount(homer, 1);
    await rejects(store.checkpoint());
    await rejects(store.checkpoint());
    ok(readdirSync(place.folder).length > 0);
    deepStrictEqual(
      store.failures().map(({ message }) => message),
      ['git is not there: install it'],
    );
    place.ref.failure = undefined;
    await eventually(() => store.failures().length === 0);
    strictEqual(place.ref.history.length, 1);
    deepStrictEqual(readdirSync(place.folder), []);
    deepStrictEqual(log.lines, [
      'error: could not commit counts to Git: git is not there: install it; ' +
        'they are safe in the journal, retrying within a minute',
      'info: counts are committed to Git again',
    ]);
  });
});

describe("another process's state", () => {
  it('is read from the ref, and so are its tokens', async () => {
    const place = newPlace();
    const [store, other] = [await open(place), await open({ ...place, folder: `${place.folder}-2` })];
    await store.setCount(homer, 1);
    await other.setCount(marge, 2);
    const { result: token } = await localTokens(other).issueToken(homer, 'user marge');
    await other.checkpoint();
    await store.refresh();
    strictEqual(store.count(marge), 2);
    strictEqual(store.count(homer), 1);
    strictEqual(await localTokens(store).checkToken(homer, token), 'valid');
  });

  it('does not win with an older count over one that was posted here again: 5, then 7 there, then 5', async () => {
    const place = newPlace();
    const store = await open(place, { isShared: true });
    const other = await open({ ...place, folder: `${place.folder}-2` });
    await store.setCount(homer, 5);
    await setTimeout(2);
    await other.setCount(homer, 7);
    await other.checkpoint();
    await setTimeout(2);
    await store.setCount(homer, 5);
    await store.refresh();
    strictEqual(store.count(homer), 5);
    strictEqual((await open(crashed(place), { isShared: true })).count(homer), 5);
  });
});

describe('a state that cannot be read', () => {
  it('is logged, unless the service is stopping', async () => {
    const place = newPlace();
    const log = recordedLog();
    const store = await open(place, { log });
    await commitShard(place, `"${homer}": {"count":1,"countedAt":5}`);
    for (const reason of [new BotshelfError('unavailable', stopping), noGit]) {
      place.ref.failure = reason;
      await rejects(store.refresh(), isUnavailable);
    }
    deepStrictEqual(log.lines, [
      'error: the state ref cannot be read: git is not there: install it; posts get a 503, the last counts are served',
    ]);
  });
});

describe('a store that only reads', () => {
  it('has what is committed, takes nothing, and leaves the journal of the place alone', async () => {
    const place = newPlace();
    const store = await open(place);
    await store.setCount(homer, 5);
    await store.checkpoint();
    await store.setCount(homer, 6);
    strictEqual(store.journal.writes, 2);
    strictEqual(store.checkpointer.waiting, 1);
    const { folder, ref } = crashed(place);
    const reader = new StateStore({ folder, ref, stateSeconds: 0, readOnly: true, log: silentLog });
    strictEqual(reader.isLoaded, false);
    await reader.load();
    strictEqual(reader.isLoaded, true);
    strictEqual(reader.count(homer), 5);
    for (const write of [reader.setCount(homer, 7), reader.write(async () => 'written')])
      await rejects(write, { code: 'unavailable', message: /read-only copy/ });
    await reader.checkpoint();
    await reader.close();
    strictEqual(readdirSync(folder).length, 1);
    strictEqual(ref.history.length, 1);
  });
});
