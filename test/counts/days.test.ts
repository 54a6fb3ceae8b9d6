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
    for (const path of ['days/2026/13-01', 'days/2026/02-31', 'days/2026/11-22.orig', '2026/11-22', 'README'])
      strictEqual(parseDayPath(path), undefined);
  });

  it('has a line for each bot in the order of the ids, with the time if it is known; invalid lines are skipped', async () => {
    const text = await writeDay([
      [botId('190519304972663312'), 5, 1790000000000],
      [botId('7'), 0],
    ]);
    strictEqual(text, '7 0\n190519304972663312 5 1790000000000\n');
    const invalid = '8 -1\n9\n10 1 x\n11 1 9000000000000000\n12 1 1 1\n';
    deepStrictEqual([...parseDay(Buffer.from(`<<<<<<< ours\n${text}${invalid}`))].flat(), [
      ['7', 0],
      ['190519304972663312', 5, 1790000000000],
    ]);
  });

  it('merges to the later of two counts, and without times to the larger', async () => {
    for (const [known, other, merged] of [
      ['7 9 1', '7 3 2', '7 3 2'],
      ['7 3 2', '7 9 2', '7 9 2'],
      ['7 9', '7 3', undefined],
      ['7 9', '7 3 1', '7 3 1'],
      ['7 3 2', '7 9', undefined],
      ['7 3 2', '', undefined],
      ['7 3 2', '12 1', '7 3 2\n12 1'],
    ])
      strictEqual(
        await mergeDays(Buffer.from(`${known}\n`), Buffer.from(`${other}\n`)),
        merged && `${merged}\n`,
      );
  });

  it('merges in any order, any number of times, to the last counts of all bots', async () => {
    const line = fc.record({ count: fc.nat(9), at: fc.nat(4) });
    const file = fc.dictionary(fc.constantFrom('7', '8', '12'), line);
    await fc.assert(
      fc.asyncProperty(file, file, file, async (...files) => {
        const [a = '', b = '', c = ''] = await Promise.all(
          files.map(
            async (lines) =>
              await writeDay(Object.entries(lines).map(([id, { count, at }]) => [botId(id), count, at])),
          ),
        );
        const merge = async (known: string, ...others: string[]): Promise<string> =>
          (await mergeDays(Buffer.from(known), ...others.map((text) => Buffer.from(text)))) ?? known;
        const merged = await merge(await merge(a, b), c);
        strictEqual(await merge(a, await merge(c, b)), merged);
        strictEqual(await merge(b, c, a), merged);
        strictEqual(await merge(merged, b, merged), merged);
        const last = files
          .flatMap((lines) => Object.entries(lines))
          .toSorted(([, x], [, y]) => x.at - y.at || x.count - y.count);
        deepStrictEqual(
          Object.fromEntries([...parseDay(Buffer.from(merged))].flat().map(([id, count]) => [id, count])),
          Object.fromEntries(last.map(([id, { count }]) => [id, count])),
        );
      }),
      { numRuns: 100 },
    );
  });
});
