import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CountSeries, readSeries, writeSeries } from '../../src/counts/count-series.ts';
import { botId } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

const homer = botId('312');
const marge = botId('313');

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
    deepStrictEqual(series.first(homer), changes[0]);
    deepStrictEqual(series.changes(marge), [{ period: 5, count: 1 }]);
    deepStrictEqual([series.changes(botId('7')), series.first(botId('7'))], [[], undefined]);
    deepStrictEqual(
      [...(await series.countsAt(7))],
      [
        [homer, 0],
        [marge, 1],
      ],
    );
    deepStrictEqual([...(await series.countsAt(6))], [[marge, 1]]);
  });

  it('leaves out a count that did not change, and one that is not after the last', () => {
    const series = new CountSeries();
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
  });

  it('takes at most four bytes a value for counts that change every day', async () => {
    const series = new CountSeries();
    for (let i = 0; i < 700; i++) series.add(homer, 20_000 + i, 1000 + ((i * 7919) % 200));
    const path = join(tempFolder(), 'count-history');
    await writeSeries(path, series);
    ok(statSync(path).size / 700 < 4);
  });

  it('is read from its cache as it was written, and not at all with one flipped bit @slow', async () => {
    const path = join(tempFolder(), 'count-history');
    const written = new CountSeries([{ period: 7, tree: 'a'.repeat(40) }]);
    written.add(homer, 7, 156);
    written.add(homer, 9, 157);
    await writeSeries(path, written);
    const bytes = readFileSync(path);
    const read = await readSeries(path);
    deepStrictEqual(read?.changes(homer), written.changes(homer));
    await writeSeries(path, read ?? new CountSeries());
    deepStrictEqual(readFileSync(path), bytes);
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      writeFileSync(
        path,
        bytes.map((byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte)),
      );
      strictEqual(await readSeries(path), undefined, `bit ${bit}`);
    }
  });
});
