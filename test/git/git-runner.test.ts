import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { GitExit } from '../../src/git/git-exit.ts';
import { GitRunner } from '../../src/git/git-runner.ts';
import { blobId } from '../../src/git/object-id.ts';
import { eventually } from '../support/eventually.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('the process that runs git', () => {
  const folder = tempFolder();
  const hashObject = { folder, args: ['hash-object', '--stdin'] };
  let runner: GitRunner;

  before(() => {
    runner = new GitRunner();
  });
  after(() => runner.close());

  it('gives each of many commands its own input, large and small', async () => {
    const inputs = [5_000_000, 1, 300_000, 7, 65_536, 2_000_000, 65_537].map((size) => randomBytes(size));
    const ids = await Promise.all(
      inputs.map(async (input) => (await runner.run({ ...hashObject, input })).toString().trim()),
    );
    deepStrictEqual(
      ids,
      inputs.map((input) => blobId(input, 'sha1')),
    );
  });

  it('refuses an empty input, and goes on with the next', async () => {
    await rejects(runner.run({ ...hashObject, input: '' }), /empty input/);
    const id = (await runner.run({ ...hashObject, input: 'text' })).toString().trim();
    strictEqual(id, blobId(Buffer.from('text'), 'sha1'));
  });

  it('fails what it was doing when it is killed, and another takes over', async () => {
    const { pid } = runner;
    const waiting = runner.run({ ...hashObject, input: randomBytes(20_000_000) });
    process.kill(Number(pid), 'SIGKILL');
    await rejects(waiting, (error) => error instanceof GitExit && error.exitCode === null);
    await eventually(() => runner.pid !== pid);
    const id = (await runner.run({ ...hashObject, input: 'text' })).toString().trim();
    strictEqual(id, blobId(Buffer.from('text'), 'sha1'));
  });

  it('kills what works in the background when it is no longer wanted', async () => {
    const stop = new AbortController();
    const args = ['-c', 'alias.rest=!sleep 3', 'rest'];
    const waiting = runner.run({ folder, args, background: true }, stop.signal);
    stop.abort();
    await rejects(waiting, (error) => error instanceof GitExit && error.exitCode === null);
    await rejects(runner.run({ folder, args, background: true }, stop.signal), GitExit);
  });
});
