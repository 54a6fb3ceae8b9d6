import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { eraMs } from '../../src/bot/clock.ts';
import { mergeDays, parseDay, parseDayPath, toDay, toDayPath, writeDay } from '../../src/counts/state.ts';
import { botId } from '../support/sample.ts';

describe('the file of a day', () => {
  it('is named by the day, in UTC', () => {
    const day = toDay(Date.UTC(2026, 10, 22, 23, 59, 59));
    strictEqual(toDayPath(day), 'days/2026/11-22');
    strictEqual(parseDayPath('days/2026/11-22'), day);
    strictEqual(toDay(eraMs + Date.UTC(2026, 10, 22)), day, 'of the next era');
    for (const path of ['days/2026/13-01', 'days/2026/11-22.orig', '2026/11-22', 'README'])
      strictEqual(parseDayPath(path), undefined);
  });

  it('has a line for each bot in the order of the ids, and lines that are none are left out', async () => {
    const text = await writeDay([
      [botId('190519304972663312'), 5],
      [botId('7'), 0],
    ]);
    strictEqual(text, '7 0\n190519304972663312 5\n');
    deepStrictEqual([...parseDay(Buffer.from(`<<<<<<< ours\n${text}8 -1\n9\n`))].flat(), [
      ['7', 0],
      ['190519304972663312', 5],
    ]);
  });

  it('merges in any order, any number of times, to the larger counts of all bots', async () => {
    const file = fc.dictionary(fc.constantFrom('7', '8', '12'), fc.nat(9));
    await fc.assert(
      fc.asyncProperty(file, file, file, async (...files) => {
        const [a = '', b = '', c = ''] = await Promise.all(
          files.map(
            async (counts) => await writeDay(Object.entries(counts).map(([id, count]) => [botId(id), count])),
          ),
        );
        const merge = async (known: string, other: string): Promise<string> =>
          (await mergeDays(Buffer.from(known), Buffer.from(other))) ?? known;
        const merged = await merge(await merge(a, b), c);
        strictEqual(await merge(a, await merge(c, b)), merged);
        strictEqual(await merge(merged, b), merged);
        const largest = Object.fromEntries(
          files.flatMap((counts) => Object.entries(counts)).toSorted(([, x], [, y]) => x - y),
        );
        deepStrictEqual(Object.fromEntries([...parseDay(Buffer.from(merged))].flat()), largest);
      }),
      { numRuns: 50 },
    );
  });
});
