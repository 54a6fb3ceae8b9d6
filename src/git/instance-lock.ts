import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { OperatorFault } from '../operator-fault.ts';
import { makeFolder } from '../state/durable-folder.ts';
import { codeOf } from '../system-error.ts';
import { type RepositoryDoor, unavailableBecause } from './repository.ts';

/** The right to be the only service on a clone. */
export interface InstanceLock {
  release(): Promise<void>;
}

/** Another service runs on this clone. */
export class AlreadyRunning extends OperatorFault {
  readonly pid: number;

  constructor(folder: string, pid: number) {
    super(
      `another botshelf, process ${pid}, runs on ${folder}: stop it first, or give this one a clone and BOTSHELF_VAR of its own`,
    );
    this.name = 'AlreadyRunning';
    this.pid = pid;
  }
}

/**
 * Takes the lock of the folder `varFolder`, creating the folder where there is none. The lock of a process that
 * is dead is taken over, whoever has its number now.
 * @param shown what it is the lock of, for people
 * @throws {AlreadyRunning} while a living process has it
 * @throws a system error
 */
export async function takeInstanceLock(varFolder: string, shown: string = varFolder): Promise<InstanceLock> {
  await makeFolder(varFolder);
  const path = join(varFolder, 'lock');
  const mine = `${path}.${process.pid}.${randomUUID()}`;
  const holder: Holder = { pid: process.pid, born: birthOf(process.pid), nonce: randomUUID() };
  await writeFile(mine, `${JSON.stringify(holder)}\n`);
  try {
    while (!(await linked(mine, path))) await clearDead(shown, path);
    // Whoever was clearing the same dead lock has ended by then, and has put back what was not dead.
    await sleep(takeoverTime);
    const now = await read(path);
    if (now?.nonce !== holder.nonce) throw new AlreadyRunning(shown, now?.pid ?? 0);
  } finally {
    await rm(mine, { force: true });
  }
  return {
    release: async () => {
      if ((await read(path))?.nonce === holder.nonce) await rm(path, { force: true });
    },
  };
}

/**
 * Takes the lock of the clone itself: two services whose folders for what is not in Git differ would each clear what
 * the other has under way. Undefined where there is no repository, or none that can be written to.
 * @throws {AlreadyRunning} while a living process has it
 */
export async function takeCloneLock(door: RepositoryDoor, log: Log): Promise<InstanceLock | undefined> {
  try {
    const { gitDir, folder } = await door.open();
    return await takeInstanceLock(join(gitDir, 'botshelf-service'), folder);
  } catch (error) {
    if (error instanceof AlreadyRunning) throw error;
    log.debug({}, `the clone has no lock: ${unavailableBecause(error).message}`);
    return undefined;
  }
}

interface Holder {
  readonly pid: number;
  /** When the process began, as the system counts; null where it does not say. Tells it from a later one of that pid. */
  readonly born: string | null;
  readonly nonce: string;
}

/** Milliseconds. */
const takeoverTime = 50;

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Moves a dead lock away. Where another starter was faster, what was moved is alive, and is put back. */
async function clearDead(shown: string, path: string): Promise<void> {
  const seen = await read(path);
  if (seen && isAlive(seen)) throw new AlreadyRunning(shown, seen.pid);
  const aside = `${path}.${process.pid}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  const moved = await read(aside);
  if (moved && isAlive(moved)) await linked(aside, path);
  await rm(aside, { force: true });
}

/** Undefined when there is none, or when it is nobody's: a torn one is. */
async function read(path: string): Promise<Holder | undefined> {
  try {
    const holder = JSON.parse(await readFile(path, 'utf8')) as Holder;
    return Number.isInteger(holder.pid) ? holder : undefined;
  } catch {
    return undefined;
  }
}

function isAlive({ pid, born }: Holder): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false;
  }
  return born === null || born === birthOf(pid);
}

/** The boot and the clock tick at which a process began; null where there is no /proc. */
function birthOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()} ${ticks}`;
  } catch {
    return null;
  }
}
