import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { isError } from '../../../../src/lib/errors.ts';
import { type InstanceLock, takeInstanceLock } from '../../../../src/git/branch/instance-lock.ts';
import { eventually } from '../../../support/eventually.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { needs } from '../../../support/tools.ts';

const module = new URL('../../../../src/git/branch/instance-lock.js', import.meta.url).href;

/** Takes the lock, says so, and keeps it until its standard input ends. */
const holding = `
  const { takeInstanceLock } = await import(${JSON.stringify(module)});
  await takeInstanceLock(process.argv[1]).then(() => console.log('taken'), (error) => console.log(error.name));
  process.stdin.resume();
`;

/** A process that has taken the lock of `folder`. */
async function holder(folder: string, ...within: string[]): Promise<ChildProcess> {
  const [program, ...args] = [...within, process.execPath, '--input-type=module', '-e', holding, folder];
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  strictEqual(String(said), 'taken\n');
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function takeAtOnce(folder: string, many: number): Promise<InstanceLock[]> {
  const starters = await Promise.allSettled(
    Array.from({ length: many }, async () => await takeInstanceLock(folder)),
  );
  return starters.flatMap((starter) => {
    if (starter.status === 'fulfilled') return [starter.value];
    ok(isError(starter.reason, 'already-running'), String(starter.reason));
    return [];
  });
}

describe('the instance lock of processes', () => {
  needs('unshare', it)(
    'refuses a service in another process namespace, which does not see the process of the first one',
    async () => {
      const folder = tempFolder();
      const first = await holder(folder, 'unshare', '-Urpf', '--mount-proc', '--kill-child');
      await rejects(takeInstanceLock(folder), /another botshelf, process \d+ on .+, runs on/);
      await kill(first);
      await eventually(async () => await (await takeInstanceLock(folder)).release());
    },
  );

  it('is taken over from a process that was killed', async () => {
    const folder = tempFolder();
    const first = await holder(folder);
    await rejects(takeInstanceLock(folder), { code: 'already-running' });
    await kill(first);
    await (await takeInstanceLock(folder)).release();
    deepStrictEqual(readdirSync(folder), []);
  });

  it('is not taken over from a process that is stopped and does not respond', async () => {
    const folder = tempFolder();
    const first = await holder(folder);
    first.kill('SIGSTOP');
    await rejects(takeInstanceLock(folder), /another botshelf, a process that does not respond, runs on/);
    const [name = ''] = readdirSync(join(folder, 'botshelf.lock'));
    const others = Array.from({ length: 600 }, () =>
      connect(join(folder, 'botshelf.lock', name)).on('error', () => {}),
    );
    await rejects(takeInstanceLock(folder), /a process that does not respond \(connect EAGAIN .+\), runs on/);
    for (const socket of others) socket.destroy();
    await kill(first);
  });

  needs('strace', it)('is refused on a file system without sockets, and leaves nothing there', () => {
    const folder = tempFolder();
    const refused = ['-fqq', '-o', '/dev/null', '-e', 'trace=bind', '-e', 'inject=bind:error=EPERM'];
    const args = [...refused, process.execPath, '--input-type=module', '-e', holding, folder];
    strictEqual(spawnSync('strace', args, { encoding: 'utf8' }).stdout, 'UserError\n');
    deepStrictEqual(readdirSync(folder), []);
  });

  it('goes to one of many that start at once on a dead lock', async () => {
    const folder = tempFolder();
    await kill(await holder(folder));
    const [lock, ...others] = await takeAtOnce(folder, 12);
    deepStrictEqual(others, []);
    deepStrictEqual(readdirSync(folder), ['botshelf.lock']);
    strictEqual(readdirSync(join(folder, 'botshelf.lock')).length, 1);
    deepStrictEqual(await takeAtOnce(folder, 3), []);
    await lock?.release();
  });
});
