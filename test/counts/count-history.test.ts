import { deepStrictEqual, match, strictEqual, rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { BotId } from '../../src/bot/id.ts';
import { CountHistory, CountSeries } from '../../src/counts/count-history.ts';
import { maxBots } from '../../src/counts/state-files.ts';
import { toDayPath } from '../../src/counts/state.ts';
import { maxObjectBytes } from '../../src/git/objects.ts';
import { stateRef } from '../../src/git/refs.ts';
import { silentLog } from '../../src/lib/log.ts';
import { mergeStates } from '../../src/sync/remote.ts';
import { cleanUp } from '../support/cleanup.ts';
import { commitCounts } from '../support/counts.ts';
import { openerOf, openUntilEnd } from '../support/opened.ts';
import { repositoryIn, testRepository } from '../support/repository.ts';
import { botId } from '../support/sample.ts';

const homer = botId('190519304972663312');
const marge = botId('190519304972663313');
const lisa = botId('7');
const day = 24 * 60 * 60;
/** Midnight of 22 November 2026. */
const today = Date.UTC(2026, 10, 22) / 1000;

/** A bot's latest count, and how many days ago it was posted. */
type Latest = Partial<Record<BotId, readonly [value: number, daysAgo: number]>>;

describe('the counts over time', () => {
  it('are those of the files of days, and of a day without one those of the day before', async () => {
    const place = newPlace();
    commitCounts(place, [
      { time: today - 4 * day, counts: { [homer]: 1, [lisa]: 7 } },
      { time: today - 2 * day, counts: { [homer]: 5, [marge]: 9 } },
    ]);
    const history = await read(place, { [homer]: [6, 0], [marge]: [9, 0] });
    deepStrictEqual(days(history, homer), { '-4': 1, '-3': 1, '-2': 5, '-1': 5, 0: 6 });
    deepStrictEqual(days(history, marge), { '-2': 9, '-1': 9, 0: 9 });
    deepStrictEqual(
      [homer, marge, botId('8')].map((id) => history.first(id)),
      [today / day - 4, today / day - 2, undefined],
    );
  });

  it('are the latest count from its day on, also where that has no file yet', async () => {
    const place = newPlace();
    commitCounts(place, [{ time: today - 4 * day, counts: { [homer]: 1 } }]);
    const history = await read(place, { [homer]: [3, 2], [marge]: [8, 1], [lisa]: [4, -9] });
    deepStrictEqual(days(history, homer), { '-4': 1, '-3': 1, '-2': 3, '-1': 3, 0: 3 });
    deepStrictEqual(days(history, marge), { '-1': 8, 0: 8 });
    deepStrictEqual(days(history, lisa), { 0: 4 }, 'of a clock that is ahead');
    strictEqual(history.first(marge), today / day - 1);
  });

  it('are read again from the first file that another machine has changed', async () => {
    const [place, other] = [newPlace(), newPlace()];
    const common = [4, 3].map((ago) => ({ time: today - ago * day, counts: { [homer]: ago } }));
    commitCounts(place, [...common, { time: today - 2 * day, counts: { [homer]: 2 } }]);
    const live = await read(place);
    commitCounts(other, [
      ...common,
      { time: today - 2 * day, counts: { [homer]: 7, [marge]: 1 } },
      { time: today + 1000 * day, counts: { [homer]: 9 } },
    ]);
    repositoryIn(place).git('fetch', '-q', other, '+refs/botshelf/state:refs/botshelf/state');
    await live.update();
    deepStrictEqual(days(live, homer), { '-4': 4, '-3': 3, '-2': 7, '-1': 7, 0: 7 });
    deepStrictEqual(days(live, marge), { '-2': 1, '-1': 1, 0: 1 });
  });

  it('are read of the last 90 days first, which is enough for a report @slow', async () => {
    const place = newPlace();
    const ago = Array.from({ length: 95 }, (_, i) => 95 - i);
    commitCounts(
      place,
      ago.map((n) => ({ time: today - n * day, counts: { [homer]: n } })),
    );
    const history = historyOf(place);
    await history.update({ recentOnly: true });
    deepStrictEqual([await history.isRead('recent'), await history.isRead('all')], [true, false]);
    strictEqual(history.first(homer), today / day - 90);
    await history.update();
    strictEqual(await history.isRead('all'), true);
    strictEqual(history.first(homer), today / day - 95);
  });

  it('have the growth since the day 30 days ago, of bots that had a count then', async () => {
    const place = newPlace();
    commitCounts(place, [
      { time: today - 40 * day, counts: { [homer]: 100 } },
      { time: today - 30 * day, counts: { [homer]: 200, [lisa]: 0 } },
      { time: today - 29 * day, counts: { [marge]: 5 } },
    ]);
    const history = await read(place, { [homer]: [250, 0], [marge]: [7, 0], [lisa]: [4, 0] });
    deepStrictEqual(
      [homer, marge, lisa].map((id) => history.growth(id)),
      [0.25, undefined, undefined],
    );
    strictEqual((await read(place)).growth(homer), undefined);
  });

  it('are read from a file of a day that is larger than files of people', async () => {
    const history = await read(placeWithDay(`${homer} 5\n${'-'.repeat(maxObjectBytes)}\n${marge} 9\n`));
    deepStrictEqual(days(history, homer), { '-1': 5, 0: 5 });
    deepStrictEqual(days(history, marge), { '-1': 9, 0: 9 });
  });

  it('leave out a day whose file is too large @long', async () => {
    const history = await read(placeWithDay(`${homer} 5\n${'-'.repeat(41 * maxBots)}`));
    deepStrictEqual(days(history, homer), {});
    match(
      history.faults().join(),
      /^days\/2026\/11-21 of .* it is missing or has more than \d+ MiB: restore/,
    );
  });

  it('are read before the end of the first day, and merged', async () => {
    const { folder, git, commitOn } = testRepository({ file: 'text' });
    const [ours, theirs] = [1, 2].map((count) =>
      commitOn(null, {
        files: { '33/12.json': `{\n"${homer}":{"count":${count},"countedAt":${count}}\n}\n` },
      }),
    ) as [string, string];
    git('update-ref', stateRef, ours);
    const history = await read(folder);
    deepStrictEqual([await history.isRead('all'), history.faults()], [true, []]);
    strictEqual(await mergeStates(await openUntilEnd(folder), ours, theirs), theirs);
  });

  it('tell when they are read', async () => {
    const place = newPlace();
    commitCounts(place, [{ time: today - day, counts: { [homer]: 1 } }]);
    const history = historyOf(place);
    strictEqual(await history.isRead('recent'), false);
    history.start();
    const began = performance.now();
    // On a machine that is very busy it gives up.
    const isWaited = (await history.isRead('all')) || performance.now() - began > 1900;
    strictEqual(isWaited, true);
    await history.close();
  });

  it('are read again after a minute, until they are closed', async () => {
    const place = newPlace();
    const history = historyOf(place);
    mock.timers.enable({ apis: ['setTimeout'] });
    cleanUp(() => mock.timers.reset());
    const hasReadMore = async (ago: number, turns: number): Promise<boolean> => {
      const { version } = history;
      commitCounts(place, [{ time: today - ago * day, counts: { [homer]: ago } }]);
      mock.timers.tick(60_000);
      for (let turn = 0; turn < turns && history.version === version; turn++) await setImmediate();
      return history.version > version;
    };
    history.start();
    while (!(await history.isRead('all'))) await setImmediate();
    await setImmediate();
    strictEqual(await hasReadMore(3, 1_000_000), true);
    strictEqual(history.first(homer), today / day - 3);
    await history.close();
    strictEqual(await hasReadMore(2, 1000), false);
  });
});

function newPlace(): string {
  return testRepository({ file: 'text' }).folder;
}

/** A place whose state has yesterday's file only. */
function placeWithDay(text: string): string {
  const { folder, git, commitOn } = testRepository({ file: 'text' });
  git('update-ref', stateRef, commitOn(null, { files: { [toDayPath(today / day - 1)]: text } }));
  return folder;
}

function historyOf(place: string, latest: Latest = {}, now = (): number => today): CountHistory {
  return new CountHistory({
    repositoryOpener: openerOf(place),
    latest: (id) => {
      const [value, daysAgo = 0] = latest[id] ?? [];
      return value === undefined ? undefined : { value, at: (now() - daysAgo * day) * 1000 };
    },
    log: silentLog,
    now: () => now() * 1000,
  });
}

async function read(place: string, latest?: Latest): Promise<CountHistory> {
  const history = historyOf(place, latest);
  await history.update();
  return history;
}

/** The bot's counts by the days before today. */
function days(history: CountHistory, id: BotId): Record<string, number> {
  const counts = history.counts(id, 0, today / day + 1);
  return Object.fromEntries(counts.map(({ period, count }) => [period - today / day, count]));
}

describe('a series of counts', () => {
  it('has the changes of each bot, up and down and after gaps', async () => {
    const series = new CountSeries();
    const changes = [
      { period: 7, count: 0 },
      { period: 8, count: 2 ** 40 },
      { period: 900, count: 3 },
      { period: 901, count: 200 },
    ];
    for (const { period, count } of changes) series.add(homer, period, count);
    series.add(marge, 5, 1);
    deepStrictEqual(series.changes(homer), changes);
    deepStrictEqual(series.changes(marge), [{ period: 5, count: 1 }]);
    deepStrictEqual(series.changes(botId('7')), []);
    deepStrictEqual(Object.fromEntries(await series.countsAt(7)), { [homer]: 0, [marge]: 1 });
    deepStrictEqual(Object.fromEntries(await series.countsAt(6)), { [marge]: 1 });
  });

  it('leaves out a count that did not change, or is not after the last, and all once its memory is full', () => {
    const series = new CountSeries(1000);
    for (const [period = 0, count = 0] of [
      [7, 5],
      [8, 5],
      [9, 6],
      [9, 7],
      [3, 8],
    ])
      series.add(homer, period, count);
    deepStrictEqual(series.changes(homer), [
      { period: 7, count: 5 },
      { period: 9, count: 6 },
    ]);
    for (const id of [marge, lisa, botId('8'), botId('9')]) series.add(id, 1, 5);
    deepStrictEqual([series.isFull, series.changes(marge).length, series.changes(botId('9'))], [true, 1, []]);
  });

  it('ends within a file when it is stopped', async () => {
    const series = new CountSeries();
    const stop = new AbortController();
    const read = async (): Promise<Buffer> => Buffer.from(`${homer} 1\n`.repeat(100_000));
    const updated = series.update([{ path: '', period: 1, id: 'a' }], read, stop.signal);
    stop.abort(new Error('the service stops'));
    await rejects(updated, /the service stops/);
    deepStrictEqual([series.files, series.changes(homer)], [[], []]);
  });

  it('goes on from the file that could not be read', async () => {
    const series = new CountSeries();
    const texts: Record<string, string> = { a: `${homer} 1\n`, c: `${homer} 3\n` };
    const reads: string[] = [];
    const read = async (id: string): Promise<Buffer> => {
      reads.push(id);
      return Buffer.from(texts[id] ?? (await Promise.reject(new Error('the disk fails'))));
    };
    const files = ['a', 'b', 'c'].map((id, period) => ({ path: '', period, id }));
    await rejects(series.update(files, read), /the disk fails/);
    texts['b'] = `${homer} 2\n`;
    await series.update(files, read);
    deepStrictEqual(reads, ['a', 'b', 'b', 'c']);
    deepStrictEqual(
      series.changes(homer).map(({ count }) => count),
      [1, 2, 3],
    );
  });
});
