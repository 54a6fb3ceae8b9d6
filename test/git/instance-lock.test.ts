import { deepStrictEqual, match, rejects, strictEqual } from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AlreadyRunning, takeInstanceLock } from '../../src/git/instance-lock.ts';
import { tempFolder } from '../support/temp-folder.ts';

const module = new URL('../../src/git/instance-lock.js', import.meta.url).href;

/** Takes the lock, says so, and keeps it until its standard input ends. */
const holding = `
  const { takeInstanceLock } = await import(${JSON.stringify(module)});
  await takeInstanceLock(process.argv[1]).then(() => console.log('taken'), (error) => console.log(error.name));
  process.stdin.resume();
`;

describe('the instance lock', () => {
  it('refuses a second service on the folder, naming the first one', async () => {
    const folder = join(tempFolder(), 'var');
    const lock = await takeInstanceLock(folder);
    await rejects(takeInstanceLock(folder), (error) => {
      match(
        String(error),
        new RegExp(`another botshelf, process ${process.pid}, runs on ${folder}: stop it first`),
      );
      return error instanceof AlreadyRunning && error.pid === process.pid;
    });
    await lock.release();
    await (await takeInstanceLock(folder)).release();
    deepStrictEqual(readdirSync(folder), []);
  });

  it('is taken over from a process that was killed', async () => {
    const folder = tempFolder();
    const first = spawn('node', ['--input-type=module', '-e', holding, folder]);
    await once(first.stdout, 'data');
    await rejects(takeInstanceLock(folder), AlreadyRunning);
    first.kill('SIGKILL');
    await once(first, 'exit');
    await (await takeInstanceLock(folder)).release();
  });

  it('is taken over when its number is another process now', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'lock'), JSON.stringify({ pid: process.pid, born: 'long ago', nonce: '' }));
    await (await takeInstanceLock(folder)).release();
  });

  it('is taken over when a power loss has torn it', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'lock'), '');
    await (await takeInstanceLock(folder)).release();
  });

  it('goes to one of many that start at once on a dead lock', async () => {
    const folder = tempFolder();
    const dead = spawnSync('true').pid;
    writeFileSync(join(folder, 'lock'), JSON.stringify({ pid: dead, born: 'long ago', nonce: '' }));
    const starters = await Promise.allSettled(
      Array.from({ length: 12 }, async () => await takeInstanceLock(folder)),
    );
    strictEqual(starters.filter(({ status }) => status === 'fulfilled').length, 1);
    deepStrictEqual(readdirSync(folder), ['lock']);
  });
});
