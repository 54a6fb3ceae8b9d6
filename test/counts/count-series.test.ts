import { deepStrictEqual, rejects } from 'node:assert/strict';
import { CountSeries } from '../../src/counts/count-history.ts';
import { botId } from '../support/sample.ts';

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
    deepStrictEqual(series.changes(marge), [{ period: 5, count: 1 }]);
    deepStrictEqual(series.changes(botId('7')), []);
    deepStrictEqual(Object.fromEntries(await series.countsAt(7)), { [homer]: 0, [marge]: 1 });
    deepStrictEqual(Object.fromEntries(await series.countsAt(6)), { [marge]: 1 });
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

  it('goes on from the file that could not be read', async () => {
    const series = new CountSeries();
    const texts: Record<string, string> = { a: `${homer} 1\n`, c: `${homer} 3\n` };
    const reads: string[] = [];
    const read = async (id: string): Promise<string> => {
      reads.push(id);
      return texts[id] ?? (await Promise.reject(new Error('the disk fails')));
    };
    const files = ['a', 'b', 'c'].map((id, period) => ({ period, id }));
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
