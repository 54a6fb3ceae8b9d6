import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import {
  atMost,
  formatGrowth,
  formatRow,
  heading,
  median,
  medianRatio,
  milliseconds,
  percentile,
} from '../../bench/rows.ts';
import { readPackageFile } from '../support/package-files.ts';

/** Returns the texts between the bars of a row of a table, which the formatter pads with blanks. */
function cellsOf(row: string): string[] {
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

describe('what npm run bench prints', () => {
  it('is the table of docs/benchmarks.md, so that it can be pasted', () => {
    const [first = '', , ...rows] = readPackageFile('docs/benchmarks.md').match(/^\|.*\|$/gm) ?? [];
    deepStrictEqual(cellsOf(first), cellsOf(heading.split('\n')[0] ?? ''));
    ok(rows.length > 40);
    for (const cells of rows.map(cellsOf)) {
      strictEqual(cells.length, 3, cells.join());
      ok(/^`[a-z-]+`$/.test(cells[2] ?? ''), cells.join());
    }
  });

  it('names what was measured with its goal, and marks a missed one', () => {
    strictEqual(
      formatRow(atMost('a | page', 12.34, 10, milliseconds), '`pages`'),
      '| **missed** a / page: ≤ 10 ms | 12.3 ms | `pages` |',
    );
    strictEqual(
      formatRow(atMost('a page', 0.123, 1000, milliseconds), '`pages`'),
      '| a page: ≤ 1,000 ms | 0.12 ms | `pages` |',
    );
    strictEqual(formatRow({ goal: 'a page', measured: '1 s' }, '`pages`'), '| a page | 1 s | `pages` |');
  });
});

describe('the table of several sizes', () => {
  it('says how each cost grows from the smallest to the largest list', () => {
    const costs = { same: [2, 9, 3], linear: [2, 9, 30], square: [2, 9, 200], unknown: [2, 9, undefined] };
    const rows = Object.entries(costs).map(([goal, values]) => {
      const measured = values.map((cost) => ({ goal, measured: `${cost}`, ...(cost && { cost }) }));
      return [goal, measured] as const;
    });
    deepStrictEqual(formatGrowth([1000, 5000, 10_000], new Map(rows)).split('\n'), [
      '|  | 1,000 bots | 5,000 bots | 10,000 bots | grows |',
      '| --- | --- | --- | --- | --- |',
      '| same | 2 | 9 | 3 | flat |',
      '| linear | 2 | 9 | 30 | with the list |',
      '| square | 2 | 9 | 200 | worse |',
      '| unknown | 2 | 9 | undefined |  |',
    ]);
  });
});

describe('the statistics of a benchmark', () => {
  it('take the middle value or that of a share, and compare round by round, so that a slow one changes nothing', () => {
    deepStrictEqual([median([9, 1, 5]), median([10, 2])], [5, 10]);
    const values = Array.from({ length: 100 }, (_, i) => 99 - i);
    deepStrictEqual(
      [0.99, 1, 0].map((share) => percentile(values, share)),
      [99, 99, 0],
    );
    strictEqual(medianRatio([200, 20, 200], [100, 10, 100]), 2);
  });
});
