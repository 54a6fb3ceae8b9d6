import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs a script that has a log, `createLog`, and returns the lines on standard error. */
async function linesOf(script: string): Promise<string[]> {
  const log = JSON.stringify(new URL('../../src/lib/log.js', import.meta.url));
  const errors = JSON.stringify(new URL('../../src/lib/errors.js', import.meta.url));
  const git = JSON.stringify(new URL('../../src/git/run-git.js', import.meta.url));
  const imports = `const [{ createLog }, { BotshelfError }, { GitError }] =
    await Promise.all([import(${log}), import(${errors}), import(${git})]);`;
  const args = ['--input-type=module', '-e', `${imports}${script}`];
  const { stderr } = await run(process.execPath, args);
  return stderr.trimEnd().split('\n');
}

describe('the log', () => {
  let lines: string[];

  before(async () => {
    lines = await linesOf(`
      const json = await createLog({ level: 'warn', format: 'json' });
      json.info({}, 'too low');
      const git = new GitError(['fetch'], 128, 'fatal: no such remote');
      json.warn({ err: git }, 'git');
      json.warn({ err: new Error('it is away', { cause: git }) }, 'caused');
      json.warn({ err: new BotshelfError('unavailable', 'the disk is full') }, 'writes');
      json.warn({ err: Object.assign(new Error('EACCES: no'), { code: 'EACCES' }) }, 'system');
      json.warn({ err: new TypeError('a bug') }, 'bug');
      const pretty = await createLog({ level: 'debug', format: 'pretty' });
      pretty.debug({ bot: '7' }, 'low');
    `);
  });

  it('ends nothing where it cannot be written, as on a full disk', async () => {
    const log = JSON.stringify(new URL('../../src/lib/log.js', import.meta.url));
    const script = `const { createLog } = await import(${log});
      const log = await createLog({ level: 'info', format: 'json' });
      for (let i = 0; i < 3; i++) log.error({}, 'x'.repeat(700_000));
      process.stdout.write('done');`;
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', full],
    });
    const output = child.stdout?.toArray() ?? [];
    deepStrictEqual(await once(child, 'exit'), [0, null]);
    closeSync(full);
    strictEqual((await output).join(''), 'done');
  });

  it('has the level and the format that are set, and times in one form', () => {
    ok(!lines.join('\n').includes('too low'));
    deepStrictEqual((JSON.parse(lines[0] ?? '') as { level: number }).level, 40);
    match(lines[0] ?? '', /"time":"\d{4}-\d\d-\d\dT[\d:.]{12}Z"/);
    match(lines.at(-2) ?? '', /^\[\d{4}-\d\d-\d\dT[\d:.]{12}Z\] DEBUG: low$/);
  });

  it('has no character that is a command to a terminal, and says the same nevertheless', async () => {
    const hostile = '\u001b[2J\u009b2J\u0085\u2028\u202e';
    const [json = '', ...pretty] = await linesOf(`
      const fields = { name: ${JSON.stringify(hostile)}, err: new Error(${JSON.stringify(hostile)}) };
      for (const format of ['json', 'pretty']) {
        const log = await createLog({ level: 'warn', format });
        log.warn(fields, 'forged ' + fields.name + '\\n[now] WARN: mine');
      }
    `);
    const { name, msg } = JSON.parse(json) as { name: string; msg: string };
    deepStrictEqual([name, msg], [hostile, `forged ${hostile}\n[now] WARN: mine`]);
    for (const line of [json, ...pretty]) {
      // oxlint-disable-next-line no-control-regex -- that is what must not be there
      ok(!/[\u0000-\u001f\u007f-\u009f\u2028\u202e]|^\[now\]/.test(line), JSON.stringify(line));
    }
    ok(pretty.length > 1);
  });

  it('has a stack for what is not explained, and for nothing else', () => {
    const entries = lines.slice(0, 5).map((line) => JSON.parse(line) as { err: object; msg: string });
    deepStrictEqual(
      entries.map(({ msg, err }) => [msg, 'stack' in err]),
      [
        ['git', false],
        ['caused', false],
        ['writes', false],
        ['system', false],
        ['bug', true],
      ],
    );
    deepStrictEqual(entries[1]?.err, {
      type: 'Error',
      message: 'it is away',
      cause: 'git fetch ended with 128: fatal: no such remote',
    });
  });
});
