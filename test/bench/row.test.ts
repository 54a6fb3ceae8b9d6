import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { failureLine, heading, rowLines } from '../../bench/row.ts';

const run = { date: '2026-11-22', machine: '2 cores, 24 GiB', node: '20.20.2', options: '' };

/** The texts between the bars of a row of a table, which the formatter pads with blanks. */
function cellsOf(row: string): string[] {
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

describe('what npm run bench prints', () => {
  it('is what docs/benchmarks.md holds, so that it can be pasted: a table for each group, the missed goals first', () => {
    const file = fileURLToPath(new URL('docs/benchmarks.md', import.meta.resolve('#package')));
    const [, results = ''] = /^## Results$([^]*?)^## /m.exec(readFileSync(file, 'utf8')) ?? [];
    const [, ...groups] = results.split(/^### /m);
    ok(groups.length > 2);
    for (const group of groups) {
      const [name = ''] = /(?<=^`)[^`]+/.exec(group) ?? [];
      const [first, , ...rows] = group.match(/^\|.*\|$/gm)?.map(cellsOf) ?? [];
      deepStrictEqual(first, cellsOf(heading(name).split('\n')[2] ?? ''), name);
      for (const cells of rows) {
        strictEqual(cells.length, 7, cells.join());
        match(cells[6] ?? '', /^\d{4}-\d\d-\d\d, \d+ cores, \d+ GiB, Node \d+\.\d+\.\d+(?:, `--.+`)?$/);
      }
      const results = rows.map(([result = '']) => result);
      const order = ['**not met**', 'met', ''];
      deepStrictEqual(
        results,
        results.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)),
        name,
      );
    }
  });

  it('names figure, peer, ratio, goal, and date, machine, Node and options of the run', () => {
    const edits = {
      name: 'edits',
      measured: '631/s',
      peer: 'git 3.4/s',
      ratio: 185,
      goal: '≥ 200 ×',
      met: false,
    };
    deepStrictEqual(rowLines([edits], run), [
      '| **not met** | edits | 631/s | git 3.4/s | 185 × | ≥ 200 × | 2026-11-22, 2 cores, 24 GiB, Node 20.20.2 |',
    ]);
    const [line = ''] = rowLines([edits], { ...run, options: '--bots 10' });
    match(line, / Node 20\.20\.2, `--bots 10` \|$/);
  });

  it('has the missed goals first and what has no goal last', () => {
    const row = (name: string, goal: string, met: boolean): Parameters<typeof rowLines>[0][number] => {
      return { name, measured: '1', goal, met };
    };
    const lines = rowLines([row('a', '–', true), row('b', '1', true), row('c', '1', false)], run);
    deepStrictEqual(
      lines.map((line) => line.split(' | ')[1]),
      ['c', 'b', 'a'],
    );
  });

  it('has a row of its own for what could not be measured', () => {
    strictEqual(failureLine('no wrk'), '| **not measured** | no wrk | | | | | |');
  });
});
