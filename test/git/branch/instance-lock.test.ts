import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isError } from '../../../src/lib/errors.ts';
import { takeCloneLock } from '../../../src/git/branch/clone.ts';
import { askHolder, takeInstanceLock } from '../../../src/git/branch/instance-lock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { openerOf } from '../../support/opened.ts';
import { recordedLog } from '../../support/recorded-log.ts';
import { testRepository } from '../../support/repository.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** The path of the only socket in a lock. */
const socketIn = (folder: string): string =>
  join(folder, 'botshelf.lock', readdirSync(join(folder, 'botshelf.lock'))[0] ?? '');

const holderName = `process ${process.pid} on ${hostname()}`;

describe('the instance lock', () => {
  it('refuses a second service on the folder, naming the first one', async () => {
    const folder = join(tempFolder(), 'var');
    const lock = await takeInstanceLock(folder);
    await rejects(takeInstanceLock(folder), (error) => {
      match(
        String(error),
        new RegExp(`another botshelf, process ${process.pid} on .+, runs on ${folder}: stop it first`),
      );
      return isError(error, 'already-running');
    });
    deepStrictEqual(readdirSync(folder), ['botshelf.lock']);
    await lock.release();
    await (await takeInstanceLock(folder)).release();
    deepStrictEqual(readdirSync(folder), []);
  });

  it('is held in a folder whose path is longer than the address of a socket may be', async () => {
    const folder = join(tempFolder(), 'x'.repeat(120));
    const lock = await takeInstanceLock(folder);
    await rejects(takeInstanceLock(folder), /another botshelf, process \d+ on /);
    await lock.release();
    deepStrictEqual(readdirSync(folder), []);
  });

  it('is not lost when somebody asks who has it and does not wait for the answer', async () => {
    const folder = tempFolder();
    const lock = await takeInstanceLock(folder);
    for (let n = 0; n < 20; n++) {
      const socket = connect(socketIn(folder));
      await once(socket, 'connect');
      socket.destroy();
    }
    await rejects(takeInstanceLock(folder), { code: 'already-running' });
    await lock.release();
  });

  it('is waited for where a command has it', async () => {
    const folder = tempFolder();
    const lock = await takeInstanceLock(folder, { isBrief: true });
    const next = takeInstanceLock(folder);
    await sleep(100);
    await lock.release();
    await (await next).release();
    deepStrictEqual(readdirSync(folder), []);
  });

  it('takes one short request of its owner on a connection, and sends the response', async () => {
    const folder = tempFolder();
    const requests: string[] = [];
    const respond = async (request: string): Promise<string> => String(requests.push(request));
    const lock = await takeInstanceLock(folder, { respond });
    deepStrictEqual(await askHolder(folder, 'one'), { holder: holderName, response: '1', isTaken: true });
    const path = socketIn(folder);
    strictEqual(statSync(path).mode & 0o777, 0o600);
    for (const sent of ['x'.repeat(101), 'x'.repeat(100_000), 'cut off', '']) {
      const socket = connect(path);
      let said = '';
      socket.on('data', (text) => (said += String(text))).on('error', () => {});
      socket.end(sent);
      await new Promise((resolve) => socket.once('close', resolve));
      ok([holderName, ''].includes(said), said);
    }
    deepStrictEqual(requests, ['one']);
    await lock.release();
    strictEqual((await askHolder(folder, 'two')).holder, undefined);
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

  it('is taken over when what is no socket stands where one should, and leaves nothing where it cannot be', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'botshelf.lock/0/1'), { recursive: true });
    writeFileSync(join(folder, 'botshelf.lock/1'), '');
    symlinkSync('missing', join(folder, 'botshelf.lock/2'));
    await (await takeInstanceLock(folder)).release();
    deepStrictEqual(readdirSync(folder), []);
    writeFileSync(join(folder, 'botshelf.lock'), '');
    await rejects(takeInstanceLock(folder), { code: 'ENOTDIR' });
    deepStrictEqual(readdirSync(folder), ['botshelf.lock']);
  });
});

describe('the lock of a clone', () => {
  const respond = async (): Promise<string> => await Promise.resolve('');

  it('is in its Git folder, and names the clone', async () => {
    const { folder } = testRepository();
    const lock = await takeCloneLock(openerOf(folder), silentLog, respond);
    await rejects(takeCloneLock(openerOf(folder), silentLog, respond), (error) => {
      match(String(error), new RegExp(`runs on ${folder}: stop it first`));
      return isError(error, 'already-running');
    });
    ok(readdirSync(join(folder, '.git')).includes('botshelf.lock'));
    await lock?.release();
  });

  it('is none where there is no clone, or one that nobody can write to', async () => {
    strictEqual(await takeCloneLock(openerOf(tempFolder()), silentLog, respond), undefined);
    const { folder } = testRepository();
    const opener = openerOf(folder);
    const repository = await opener.open();
    opener.open = async () => await Promise.resolve({ ...repository, gitDir: '/sys' });
    const log = recordedLog();
    strictEqual(await takeCloneLock(opener, log, respond), undefined);
    strictEqual(log.lines.length, 1);
    opener.open = async () => await Promise.resolve({ ...repository, gitDir: join(folder, '.git/HEAD/x') });
    await rejects(takeCloneLock(opener, log, respond), { code: 'ENOTDIR' });
  });
});
