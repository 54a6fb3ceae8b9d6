import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { failureLine, headingLines, rowLine, type Run } from '../../bench/row.ts';

const run: Run = { date: '2026-11-22', machine: '2 cores, 24 GiB', command: 'content' };

describe('what npm run bench prints', () => {
  it('is the table of docs/benchmarks.md, so that rows can be pasted', () => {
    const document = fileURLToPath(new URL('docs/benchmarks.md', import.meta.resolve('#package')));
    const table = readFileSync(document, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .map(cellsOf);
    const [head = ''] = headingLines().split('\n');
    deepStrictEqual(table[0], cellsOf(head));
    ok(table.length > 2);
    for (const cells of table) strictEqual(cells.length, table[0]?.length, cells.join());
  });

  it('names figure, goal, peer, ratio, date, machine, command, and whether the goal is met', () => {
    const row = {
      name: 'edits',
      measured: '631/s',
      peer: 'git 3.4/s',
      ratio: 185,
      goal: '≥ 200 ×',
      met: false,
    };
    const end = ['2026-11-22', '2 cores, 24 GiB', '`content`'];
    deepStrictEqual(cellsOf(rowLine(row, run)), [
      'edits: 631/s',
      '≥ 200 ×',
      'git 3.4/s',
      '185',
      ...end,
      '**no**',
    ]);
    const alone = { name: 'a', measured: '1 s', goal: '≤ 2 s', met: true };
    deepStrictEqual(cellsOf(rowLine(alone, run)), ['a: 1 s', '≤ 2 s', '', '', ...end, 'yes']);
  });

  it('has a row of its own for what could not be measured', () => {
    deepStrictEqual(cellsOf(failureLine('no wrk', run)), [
      'not measured: no wrk',
      '',
      '',
      '',
      '2026-11-22',
      '2 cores, 24 GiB',
      '`content`',
      '**no**',
    ]);
  });
});

function cellsOf(line: string): string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}
