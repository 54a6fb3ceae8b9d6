import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { failureLine, heading, rowLine } from '../../bench/row.ts';

describe('what npm run bench prints', () => {
  it('is what docs/benchmarks.md holds, so that it can be pasted: a heading for each run, an item for each row', () => {
    const file = fileURLToPath(new URL('docs/benchmarks.md', import.meta.resolve('#package')));
    const [, results = ''] = /^## Results$([^]*?)^## /m.exec(readFileSync(file, 'utf8')) ?? [];
    const [, ...runs] = results.split(/^### /m);
    ok(runs.length > 2);
    for (const run of runs) {
      const [first = '', ...lines] = run.split('\n');
      match(first, /^`[^`]+`: \d{4}-\d\d-\d\d, \d+ cores, \d+ GiB, Node \d+\.\d+\.\d+$/);
      const items = lines.join('\n').split(/^- /m).slice(1);
      ok(items.length > 0, first);
      for (const item of items) match(item, /: (?:met|\*\*not met\*\*)\n|not measured/, item);
    }
  });

  it('names date, machine, Node and command once for a run', () => {
    const run = { date: '2026-11-22', machine: '2 cores, 24 GiB', node: '20.20.2', command: 'content' };
    strictEqual(heading(run), '### `content`: 2026-11-22, 2 cores, 24 GiB, Node 20.20.2\n');
  });

  it('names figure, peer, ratio, goal, and whether it is met, in lines that fit a terminal', () => {
    const row = { name: 'edits', measured: '631/s', goal: '≥ 200 ×', met: false };
    const peer = { peer: 'git 3.4/s', ratio: 185 };
    strictEqual(
      rowLine({ ...row, ...peer }),
      '- edits: 631/s; beside git 3.4/s: 185 ×; goal ≥ 200 ×: **not met**',
    );
    strictEqual(rowLine({ ...row, met: true }), '- edits: 631/s; goal ≥ 200 ×: met');
    const long = rowLine({ ...row, ...peer, name: 'edits '.repeat(15).trim() });
    deepStrictEqual(long.split('\n').length, 2);
  });

  it('has an item of its own for what could not be measured', () => {
    strictEqual(failureLine('no wrk'), '- **not measured**; no wrk');
  });
});
