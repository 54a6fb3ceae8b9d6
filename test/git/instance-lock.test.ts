import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import {
  AlreadyRunningError,
  type InstanceLock,
  takeCloneLock,
  takeInstanceLock,
} from '../../src/git/instance-lock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { eventually } from '../support/eventually.ts';
import { openerOf } from '../support/opened.ts';
import { recordedLog } from '../support/recorded-log.ts';
import { testRepository } from '../support/repository.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { needs } from '../support/tools.ts';

const module = new URL('../../src/git/instance-lock.js', import.meta.url).href;

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
    ok(starter.reason instanceof AlreadyRunningError, String(starter.reason));
    return [];
  });
}

describe('the instance lock', () => {
  it('refuses a second service on the folder, naming the first one', async () => {
    const folder = join(tempFolder(), 'var');
    const lock = await takeInstanceLock(folder);
    await rejects(takeInstanceLock(folder), (error) => {
      match(
        String(error),
        new RegExp(`another botshelf, process ${process.pid} on .+, runs on ${folder}: stop it first`),
      );
      return error instanceof AlreadyRunningError && error.name === 'AlreadyRunningError';
    });
    deepStrictEqual(readdirSync(folder), ['botshelf.lock']);
    await lock.release();
    await (await takeInstanceLock(folder)).release();
    deepStrictEqual(readdirSync(folder), []);
  });

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
    await rejects(takeInstanceLock(folder), AlreadyRunningError);
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

  it('is not lost when somebody asks who has it and does not wait for the answer', async () => {
    const folder = tempFolder();
    const lock = await takeInstanceLock(folder);
    const [name = ''] = readdirSync(join(folder, 'botshelf.lock'));
    for (let n = 0; n < 20; n++) {
      const socket = connect(join(folder, 'botshelf.lock', name));
      await once(socket, 'connect');
      socket.destroy();
    }
    await rejects(takeInstanceLock(folder), AlreadyRunningError);
    await lock.release();
  });

  it('is released where its folder was removed, and leaves what another one has in it', async () => {
    const folder = tempFolder();
    const lock = await takeInstanceLock(folder);
    rmSync(join(folder, 'botshelf.lock'), { recursive: true });
    await lock.release();
    const next = await takeInstanceLock(folder);
    writeFileSync(join(folder, 'botshelf.lock/other'), '');
    await next.release();
    deepStrictEqual(readdirSync(join(folder, 'botshelf.lock')), ['other']);
  });

  needs('strace', it)('is refused on a file system without sockets, and leaves nothing there', () => {
    const folder = tempFolder();
    const refused = ['-fqq', '-o', '/dev/null', '-e', 'trace=bind', '-e', 'inject=bind:error=EPERM'];
    const args = [...refused, process.execPath, '--input-type=module', '-e', holding, folder];
    strictEqual(spawnSync('strace', args, { encoding: 'utf8' }).stdout, 'UserError\n');
    deepStrictEqual(readdirSync(folder), []);
  });

  it('is taken over when what is no socket stands where one should', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'botshelf.lock/0/1'), { recursive: true });
    writeFileSync(join(folder, 'botshelf.lock/1'), '');
    symlinkSync('missing', join(folder, 'botshelf.lock/2'));
    await (await takeInstanceLock(folder)).release();
    deepStrictEqual(readdirSync(folder), []);
  });

  it('leaves nothing where it cannot be taken', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'botshelf.lock'), '');
    await rejects(takeInstanceLock(folder), { code: 'ENOTDIR' });
    deepStrictEqual(readdirSync(folder), ['botshelf.lock']);
  });

  it('works in a folder whose path is too long for the address of a socket', async () => {
    const folder = join(tempFolder(), 'long'.repeat(40), 'path'.repeat(40));
    const first = await holder(folder);
    await rejects(takeInstanceLock(folder), /another botshelf, process \d+ on .+, runs on/);
    await kill(first);
    await (await takeInstanceLock(folder)).release();
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

describe('the lock of a clone', () => {
  it('is in its Git folder, and names the clone', async () => {
    const { folder } = testRepository();
    const lock = await takeCloneLock(openerOf(folder), silentLog);
    await rejects(takeCloneLock(openerOf(folder), silentLog), (error) => {
      match(String(error), new RegExp(`runs on ${folder}: stop it first`));
      return error instanceof AlreadyRunningError;
    });
    ok(readdirSync(join(folder, '.git')).includes('botshelf.lock'));
    await lock?.release();
  });

  it('is none where there is no clone, or one that nobody can write to', async () => {
    strictEqual(await takeCloneLock(openerOf(tempFolder()), silentLog), undefined);
    const { folder } = testRepository();
    const opener = openerOf(folder);
    const repository = await opener.open();
    opener.open = async () => await Promise.resolve({ ...repository, gitDir: '/sys' });
    const log = recordedLog();
    strictEqual(await takeCloneLock(opener, log), undefined);
    strictEqual(log.lines.length, 1);
    opener.open = async () => await Promise.resolve({ ...repository, gitDir: join(folder, '.git/HEAD/x') });
    await rejects(takeCloneLock(opener, log), { code: 'ENOTDIR' });
  });
});
