import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

interface Outcome {
  readonly title: string;
  readonly err: { readonly message?: string };
}

describe('a test that starts services', function () {
  let tests: Outcome[];
  let failures: Outcome[];
  let pids: string[];
  let status: number | null;

  before(() => {
    const mocha = createRequire(import.meta.url).resolve('mocha/bin/mocha.js');
    const cases = fileURLToPath(new URL('service-process-cases.js', import.meta.url));
    const args = [mocha, '--timeout=20000', '--reporter=json', cases];
    const run = spawnSync(process.execPath, args, { encoding: 'utf8' });
    ({ tests, failures } = JSON.parse(run.stdout) as { tests: Outcome[]; failures: Outcome[] });
    pids = [...run.stderr.matchAll(/^started (\d+)$/gm)].map(([, pid = '']) => pid);
    status = run.status;
  });

  it('fails for a warning, an error or any other output that it does not expect, and for none that it does', () => {
    const expected = tests.map(({ title }) => title).filter((title) => title.startsWith('fails'));
    deepStrictEqual(
      failures.map(({ title }) => title),
      expected,
    );
    strictEqual(status, expected.length);
  });

  it('says which line that was', () => {
    const messages = failures.map(({ err }) => err.message ?? '');
    match(messages[0] ?? '', /logged what no test expects:\n\{"level":40,.*"msg":"a file breaks a rule"\}\n/);
    match(messages[1] ?? '', /logged what no test expects:\nSegfault\n/);
    match(messages[2] ?? '', /nothing that matches .*a file breaks a rule.* was expected/);
  });

  it('leaves no process behind, whether it passes or fails', () => {
    strictEqual(pids.length, 5);
    strictEqual(pids.filter((pid) => existsSync(`/proc/${pid}`)).join(), '');
  });
});
