import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { isUnavailable } from '../../../src/bot/errors.ts';
import { Journal, formatJournalLine, type JournalEntry, Segment } from '../../../src/counts/journal.ts';
import { atTime } from '../../support/at-time.ts';
import { eventually } from '../../support/eventually.ts';
import { withFileSizeLimit } from '../../support/file-size-limit.ts';
import { crashed, newPlace, open } from '../../support/place.ts';
import { recordedLog } from '../../support/recorded-log.ts';
import { botId } from '../../support/sample.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const homer = botId('190519304972663312');

describe('a segment of the journal on a full disk', () => {
  it('cuts off what a write that failed has left, before anything else is appended', async () => {
    const segment = await Segment.create(tempFolder(), 7);
    await segment.append([entry(1)]);
    await withFileSizeLimit(segment.length + 10, async () => {
      strictEqual(segment.mayHoldRefused, false);
      for (const entries of [[entry(2)], [], [entry(3)]]) {
        await rejects(segment.append(entries), { code: 'EFBIG' });
        strictEqual(segment.mayHoldRefused, true);
        strictEqual(segment.length, linesOf(1).length);
      }
    });
    ok(readFileSync(segment.path, 'latin1').length > segment.length);
    await segment.repair();
    strictEqual(segment.mayHoldRefused, false);
    strictEqual(readFileSync(segment.path, 'latin1'), linesOf(1));
    await segment.append([entry(4)]);
    ok(readFileSync(segment.path, 'latin1').startsWith(`${linesOf(1, 4)}\0`));
    await segment.close();
    strictEqual(readFileSync(segment.path, 'latin1'), linesOf(1, 4));
  });
});

describe('a journal on a full disk', () => {
  it('is retried without an entry, once at a time, while the last one was refused', async () => {
    const folder = tempFolder();
    const log = recordedLog();
    const groups: JournalEntry[][] = [];
    const onDurable = (entries: readonly JournalEntry[]): void => void groups.push([...entries]);
    const journal = new Journal({ folder, log, onDurable });
    strictEqual(journal.mayHoldRefused, false);
    await journal.append(entry(0));
    journal.retry();
    strictEqual(journal.mayHoldRefused, false);
    await withFileSizeLimit(10, async () => {
      await rejects(journal.append(entry(1)), /files may not grow any more/);
      strictEqual(journal.mayHoldRefused, true);
      await setTimeout(1);
      journal.retry();
      await rejects(journal.append(entry(2)), isUnavailable);
    });
    ok(journal.failure !== null);
    await setTimeout(1);
    journal.retry();
    journal.retry();
    await eventually(() => strictEqual(journal.failure, null));
    strictEqual(journal.mayHoldRefused, false);
    strictEqual(journal.writes, 1);
    deepStrictEqual(groups, [[entry(0)]]);
    deepStrictEqual(
      log.lines.map((line) => line.split(':')[0]),
      ['error', 'info'],
    );
    await journal.close();
    const found: JournalEntry[] = [];
    const next = new Journal({ folder, log, onDurable: () => {} });
    await next.replay((entry) => found.push(entry));
    await next.close();
    deepStrictEqual(found, [entry(0)]);
  });
});

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

function entry(i: number): JournalEntry {
  return { id: homer, count: i, countedAt: 1_700_000_000_000 + i };
}

function linesOf(...numbers: readonly number[]): string {
  return numbers.map((i) => formatJournalLine(entry(i))).join('');
}
