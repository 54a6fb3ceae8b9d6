import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BotId } from '../../src/bot/id.ts';
import { silentLog } from '../../src/lib/log.ts';
import { type CountAt, CountHistory } from '../../src/counts/count-history.ts';
import { pruneHistory } from '../../src/counts/prune-history.ts';
import { repositoryIn, testRepository } from '../support/repository.ts';
import { botId } from '../support/sample.ts';
import { type CountCommit, commitCounts } from '../support/state-history.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { openUntilEnd, openerOf } from '../support/opened.ts';

const homer = botId('190519304972663312');
const marge = botId('190519304972663313');
const lisa = botId('7');
const hour = 60 * 60;
const day = 24 * hour;
/** Midnight of 22 November 2026. */
const today = Date.UTC(2026, 10, 22) / 1000;

describe('the counts over time', () => {
  it('are the last that were known at the end of each day', async () => {
    const place = newPlace();
    commitCounts(place, [
      { time: today - 3 * day + hour, counts: { [homer]: 1 } },
      { time: today - 3 * day + 2 * hour, counts: { [homer]: 2, [marge]: 9 } },
      { time: today - 2 * day + 100, counts: { [homer]: 5 } },
      { time: today - 2 * day + 200, counts: { [homer]: 4 } },
      { time: today + 100, counts: { [homer]: 6 } },
    ]);
    const history = await read(place, today + hour + 10, { [homer]: 6 });
    deepStrictEqual(days(history, homer), [
      [-3, 2],
      [-2, 4],
      [-1, 4],
      [0, 6],
    ]);
    strictEqual(history.first(homer), today / day - 3);
  });

  it('have the latest count where a day is not over', async () => {
    const place = newPlace();
    commitCounts(place, [{ time: today - hour, counts: { [homer]: 1 } }]);
    const history = await read(place, today + 10, { [homer]: 3, [marge]: 8 });
    deepStrictEqual(days(history, homer), [
      [-1, 1],
      [0, 3],
    ]);
    deepStrictEqual(days(history, marge), [[0, 8]]);
    deepStrictEqual(days(history, lisa), []);
  });

  it('read as they grow are the bytes that are read from Git at once @slow', async () => {
    const place = newPlace();
    let now = today;
    const live = historyOf(place, () => now);
    for (const commits of chunks(story(), 80)) {
      commitCounts(place, commits);
      now = (commits.at(-1)?.time ?? 0) + 1;
      await live.update();
    }
    await assertSameAsGit(live, place, now);
  });

  it('are the same after the history was pruned @slow', async () => {
    const place = newPlace();
    const commits = story();
    commitCounts(place, commits);
    const now = (commits.at(-1)?.time ?? 0) + 1;
    const live = await read(place, now);
    const before = await bytesFromGit(place, now);
    for (const keep of [2.3, 1.3, 0.8]) {
      ok((await prune(place, now - keep * day)) > 0);
      deepStrictEqual(await bytesFromGit(place, now), before);
    }
    const left = Number(execGit(place, 'rev-list', '--count', 'refs/botshelf/state'));
    ok(left < 60, 'old days have one commit');
    await live.update();
    await assertSameAsGit(live, place, now);
  });

  it('go on where history was pruned since @slow', async () => {
    const place = newPlace();
    const commits = story();
    let now = commits[0]?.time ?? 0;
    const live = historyOf(place, () => now);
    for (const some of chunks(commits, 100)) {
      commitCounts(place, some);
      now = (some.at(-1)?.time ?? 0) + 1;
      await live.update();
      await prune(place, now - day);
      await live.update();
    }
    await assertSameAsGit(live, place, now);
  });

  it('come back from Git where the cache was deleted or damaged, with the same bytes @slow', async () => {
    const place = newPlace();
    const folder = tempFolder();
    commitCounts(place, story());
    const first = historyOf(place, () => today, folder);
    await first.update();
    const bytes = await bytesOf(first);
    for (const spoil of [
      () => rmSync(join(folder, 'count-history')),
      () => writeFileSync(join(folder, 'count-history'), 'botshelf counts 2\nnonsense'),
      () => {},
    ]) {
      spoil();
      const again = historyOf(place, () => today, folder);
      await again.update();
      deepStrictEqual(await bytesOf(again), bytes);
    }
  });

  it('survive a clock that jumps: a commit of another time spoils no other day @slow', async () => {
    const place = newPlace();
    commitCounts(place, [
      { time: today - 3 * day, counts: { [homer]: 1 } },
      { time: 1000, counts: { [homer]: 2 } },
      { time: today + 4000 * day, counts: { [homer]: 3 } },
      { time: today - 2 * day, counts: { [homer]: 4 } },
      { time: today - 2 * day - 3 * hour, counts: { [homer]: 5 } },
      { time: today - day, counts: { [homer]: 6 } },
    ]);
    const wanted = [
      [-3, 5],
      [-2, 4],
      [-1, 6],
      [0, 6],
    ];
    deepStrictEqual(days(await read(place, today + hour, { [homer]: 6 }), homer), wanted);
    await prune(place, today - day / 2);
    deepStrictEqual(days(await read(place, today + hour, { [homer]: 6 }), homer), wanted);
  });

  it('lose what another line of history had, once the merged one is read @slow', async () => {
    const [place, other] = [newPlace(), newPlace()];
    const common = [{ time: today - 2 * day, counts: { [homer]: 1 } }];
    commitCounts(place, [...common, { time: today - day, counts: { [homer]: 2 } }]);
    commitCounts(other, [...common, { time: today - day + 5, counts: { [marge]: 3 } }]);
    const live = await read(place, today + 10);
    execGit(place, 'fetch', '-q', other, '+refs/botshelf/state:refs/botshelf/state');
    commitCounts(place, [{ time: today + 5, counts: { [homer]: 2 } }]);
    await live.update();
    await assertSameAsGit(live, place, today + 10);
  });

  it('have the growth since the day 30 days ago, of bots that had a count then', async () => {
    const place = newPlace();
    commitCounts(place, [
      { time: today - 40 * day, counts: { [homer]: 100 } },
      { time: today - 30 * day, counts: { [homer]: 200, [lisa]: 0 } },
      { time: today - 29 * day, counts: { [marge]: 5 } },
    ]);
    const history = await read(place, today + hour, { [homer]: 250, [marge]: 7, [lisa]: 4 });
    strictEqual(history.growth(homer), 0.25);
    strictEqual(history.growth(marge), undefined);
    strictEqual(history.growth(lisa), undefined);
    strictEqual((await read(place, today + hour)).growth(homer), undefined);
  });

  it('tell when they are read, and by a stamp when they may be others', async () => {
    const place = newPlace();
    commitCounts(place, [{ time: today - hour, counts: { [homer]: 1 } }]);
    let now = today;
    const latest: Record<string, number> = {};
    const history = historyOf(place, () => now, tempFolder(), latest);
    strictEqual(await history.isRead(), false);
    const stamps = [history.stamp(homer)];
    history.start();
    strictEqual(await history.isRead(), true);
    stamps.push(history.stamp(homer));
    now += day;
    stamps.push(history.stamp(homer));
    commitCounts(place, [{ time: today + 60, counts: { [homer]: 4 } }]);
    await history.update();
    stamps.push(history.stamp(homer));
    latest[homer] = 2;
    stamps.push(history.stamp(homer));
    latest[homer] = 3;
    stamps.push(history.stamp(homer));
    strictEqual(new Set(stamps).size, 6);
    strictEqual(history.stamp(homer), stamps[5]);
    await history.update();
    strictEqual(history.stamp(homer), stamps[5]);
    await history.close();
  });
});

/** 20 days of counts with gaps, falls, jumps of the clock and several commits an hour, until today. */
function story(): CountCommit[] {
  const commits: CountCommit[] = [];
  for (let at = today - 20 * day; at < today; at += 1800 + ((at / 60) % 7) * 600) {
    const n = commits.length;
    const gap =
      (at > today - 10 * day && at < today - 7.5 * day) || (at > today - 17 * day && at < today - 16.5 * day);
    if (gap) continue;
    const jump = n % 97 === 5 ? -3 * hour : n % 131 === 7 ? 2 * hour : 0;
    commits.push({
      time: at + jump,
      counts: {
        [homer]: 100 + n,
        ...(n % 3 === 0 && { [marge]: 1000 - n * 2 }),
        ...(n > 350 && { [lisa]: n % 10 }),
      },
    });
  }
  return commits;
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  );
}

function newPlace(): string {
  return testRepository({ file: 'text' }).folder;
}

function historyOf(
  place: string,
  now: () => number,
  folder = tempFolder(),
  latest: Readonly<Record<string, number>> = {},
): CountHistory {
  const history = new CountHistory({
    repositoryOpener: openerOf(place),
    latest: (id) => {
      const value = latest[id];
      return value === undefined ? undefined : { value, at: now() * 1000 };
    },
    folder,
    log: silentLog,
    now: () => now() * 1000,
  });
  caches.set(history, join(folder, 'count-history'));
  return history;
}

/** Where each history keeps its series once it is closed. */
const caches = new Map<CountHistory, string>();

async function read(
  place: string,
  now: number,
  latest: Readonly<Record<string, number>> = {},
): Promise<CountHistory> {
  const history = historyOf(place, () => now, tempFolder(), latest);
  await history.update();
  return history;
}

async function assertSameAsGit(history: CountHistory, place: string, now: number): Promise<void> {
  const bytes = await bytesOf(history);
  ok(bytes.length > 100);
  deepStrictEqual(bytes, await bytesFromGit(place, now));
}

async function bytesFromGit(place: string, now: number): Promise<Buffer> {
  return await bytesOf(await read(place, now));
}

/** The series of all bots as they are kept, with the trees that they were read from. */
async function bytesOf(history: CountHistory): Promise<Buffer> {
  await history.close();
  return readFileSync(caches.get(history) ?? '');
}

async function prune(place: string, since: number): Promise<number> {
  return (await pruneHistory(await openUntilEnd(place), since)) ?? 0;
}

function execGit(place: string, ...args: string[]): string {
  return repositoryIn(place).git(...args);
}

/** The bot's days as numbers before today, with their counts. */
function days(history: CountHistory, id: BotId): number[][] {
  return history
    .counts(id, 0, today / day)
    .map(({ period, count }: CountAt) => [period - today / day, count]);
}
