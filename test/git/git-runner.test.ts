import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { GitError } from '../../src/git/run-git.ts';
import { GitRunner } from '../../src/git/git-runner.ts';
import { computeBlobId } from '../../src/git/objects.ts';
import { describeRemoteError } from '../../src/sync/remote.ts';
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

  it('passes each of many commands its own input, large and small @slow', async () => {
    const inputs = [5_000_000, 1, 300_000, 7, 65_536, 2_000_000, 65_537].map((size) => randomBytes(size));
    const ids = await Promise.all(
      inputs.map(async (input) => (await runner.run({ ...hashObject, input })).trim()),
    );
    deepStrictEqual(
      ids,
      inputs.map((input) => computeBlobId(input, 'sha1')),
    );
  });

  it('refuses an empty input, and goes on with the next', async () => {
    await rejects(runner.run({ ...hashObject, input: '' }), /empty input/);
    await works();
  });

  const works = async (): Promise<void> => {
    const id = await runner.run({ ...hashObject, input: 'text' });
    strictEqual(id.trim(), computeBlobId(Buffer.from('text'), 'sha1'));
  };

  it('fails what it was doing when it is killed, and another takes over', async () => {
    const { pid } = runner;
    const waiting = runner.run({ ...hashObject, input: randomBytes(20_000_000) });
    process.kill(Number(pid), 'SIGKILL');
    await rejects(waiting, (error) => error instanceof GitError && error.status === null);
    await eventually(() => runner.pid !== pid);
    await works();
  });

  it('kills what works in the background when it is no longer wanted', async () => {
    const stop = new AbortController();
    const args = ['-c', 'alias.rest=!sleep 0.7', 'rest'];
    const waiting = runner.run({ folder, args, background: true }, stop.signal);
    stop.abort();
    await rejects(waiting, (error) => error instanceof GitError && error.status === null);
    await rejects(runner.run({ folder, args, background: true }, stop.signal), GitError);
  });

  it('kills what is on the network when it makes no progress, with all that it has started', async () => {
    const args = ['-c', 'alias.hang=!sleep 61.5 & wait', 'hang'];
    await rejects(
      runner.run({ folder, args, stallSeconds: 0.5 }),
      (error) =>
        error instanceof GitError && error.status === null && /no progress for 0.5 s/.test(error.stderr),
    );
    await eventually(() => strictEqual(running('sleep\u{0}61.5'), false));
  });

  it('lets what is on the network go on while it reports progress, which errors do not have', async () => {
    const report = String.raw`for i in 1 2 3 4 5; do printf 'remote: Counting objects: %s%% (%s/5)\r' $i $i >&2; sleep 0.3; done`;
    const end = String.raw`printf 'remote: Counting objects: 100%% (5/5), done.        \nfatal: refused\n' >&2; exit 1`;
    const args = ['-c', `alias.slow=!${report}; ${end}`, 'slow'];
    await rejects(
      runner.run({ folder, args, stallSeconds: 1 }),
      (error) => error instanceof GitError && error.status === 1 && error.stderr === 'fatal: refused\n',
    );
  });

  it('fails what is under way, and what comes later, because the service is stopping', async () => {
    const other = new GitRunner();
    const args = ['-c', 'alias.rest=!sleep 0.7', 'rest'];
    const isStopping = (error: unknown): boolean =>
      error instanceof GitError &&
      error.isStopping &&
      describeRemoteError(error) === 'the service is stopping';
    const waiting = rejects(other.run({ folder, args, background: true }), isStopping);
    other.close();
    await waiting;
    await rejects(other.run({ folder, args }), isStopping);
  });

  it('leaves nothing on the network behind when the service is gone', async () => {
    const other = new GitRunner();
    const args = ['-c', 'alias.hang=!sleep 62.5 & wait', 'hang'];
    const waiting = rejects(other.run({ folder, args, stallSeconds: 60 }), GitError);
    await eventually(() => strictEqual(running('sleep\u{0}62.5'), true));
    other.close();
    await eventually(() => strictEqual(running('sleep\u{0}62.5'), false));
    await waiting;
    await rejects(other.run({ folder, args: ['version'] }), GitError);
    strictEqual(other.pid, undefined);
  });
});

function running(command: string): boolean {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .some((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(command);
      } catch {
        return false;
      }
    });
}
