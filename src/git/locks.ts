import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { access, link, readFile, rm, stat, mkdir, open, readdir, rename, rmdir } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BotshelfError, codeOf, ignoreMissing, messageOf, UserError } from '../lib/errors.ts';
import { failpoint } from '../lib/failpoint.ts';
import { writeAtomically, makeFolder } from '../lib/files.ts';
import type { Log } from '../lib/log.ts';
import { retry } from '../lib/retry.ts';
import { type Repository, type RepositoryOpener, toUnavailableError } from './repository.ts';

type LockFolders = Pick<Repository, 'gitDir' | 'staging'>;

/**
 * Runs `work` with Git's index.lock, which every Git command that changes index, work tree or HEAD takes. A lock of
 * another process is waited for and never removed.
 * @param maxWaitMs how long a lock of another process is waited for
 * @throws {BotshelfError} locked, when another process held it all that time; `work` was not run
 * @throws a system error
 */
export async function withIndexLock<T>(
  folders: LockFolders,
  maxWaitMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const lock = join(folders.gitDir, 'index.lock');
  const deadline = performance.now() + maxWaitMs;
  while (!(await take(lock, folders.staging))) {
    if (performance.now() >= deadline) throw new BotshelfError('locked', held);
    await sleep(5);
  }
  failpoint('index.locked');
  try {
    return await work();
  } finally {
    const release = async (): Promise<void> => await rm(lock, { force: true });
    // The next batch takes over a lock that stays.
    await retry(release, { maxAttempts: 5, delay: (attempt) => 20 * attempt }).catch(() => {});
  }
}

/** Whether a git may be writing files of the work tree now: it holds index.lock from before the first to after the last. */
export function isIndexLocked({ gitDir }: Pick<Repository, 'gitDir'>): boolean {
  return existsSync(join(gitDir, 'index.lock'));
}

/** Removes the lock of a killed service, and returns whether there was one. */
export async function removeStaleIndexLock({ gitDir, staging }: LockFolders): Promise<boolean> {
  const lock = join(gitDir, 'index.lock');
  if (!(await isOurs(lock, staging))) return false;
  await rm(lock, { force: true });
  return true;
}

/** The first bytes of our index.lock, from the moment it exists; those of git are empty or hold an index. */
const mark = 'botshelf';

const held =
  "another Git command holds index.lock in the service's clone: send the change again; if no Git command runs there, a maintainer has to remove the file";

async function take(lock: string, staging: string): Promise<boolean> {
  const marked = toMarkedFile(staging);
  for (;;) {
    try {
      await link(marked, lock);
      return true;
    } catch (error) {
      const code = codeOf(error);
      // One with our mark was left by a failed release: batches run one at a time, and one service runs on a clone.
      if (code === 'EEXIST') return await isOurs(lock, staging);
      if (code !== 'ENOENT') throw error;
    }
    // Git's folder may be gone: the write would make it again.
    await access(dirname(lock));
    // Durable before it is linked: the fsync of any other file may bring the link to the disk, and not the bytes.
    await writeAtomically(marked, `${mark} ${process.pid}\n`, { fsync: 'content' });
  }
}

function toMarkedFile(staging: string): string {
  return join(staging, 'mark');
}

/** Returns whether a lock has our mark, or is a link to our file, whose bytes a power loss may have taken. */
async function isOurs(lock: string, staging: string): Promise<boolean> {
  const text = await readFile(lock, 'latin1').catch(() => '');
  if (text.startsWith(mark)) return true;
  const [locked, marked] = await Promise.all(
    [lock, toMarkedFile(staging)].map(async (path) => await stat(path).catch(() => undefined)),
  );
  return locked !== undefined && locked.ino === marked?.ino;
}

/** The right to be the only service on a clone. */
export interface InstanceLock {
  release(): Promise<void>;
}

/**
 * Takes the lock of `folder`, and creates the folder if needed. The lock is a folder with a listening Unix
 * socket in it: the kernel knows whether a process listens, also in another container or process namespace. The name of
 * a socket is used once, so that removing a stale one never removes a live one, and the folder can be renamed to the
 * name of the lock only while that is free or empty: of several starting services one succeeds.
 * @param shown the folder to name in errors
 * @throws {BotshelfError} already-running, while a running process has it
 * @throws {UserError} if the file system has no sockets
 * @throws a system error
 */
export async function takeInstanceLock(folder: string, shown: string = folder): Promise<InstanceLock> {
  await makeFolder(folder);
  const lock = join(folder, 'botshelf.lock');
  const name = randomBytes(8).toString('hex');
  const own = `${lock}.${name}`;
  await mkdir(own);
  const server = createServer(sendName).unref();
  try {
    await listenIn(own, name, server);
    while (!(await renameIfFree(own, lock))) await removeStaleSockets(lock, shown);
  } catch (error) {
    server.close();
    await rm(own, { recursive: true });
    throw error;
  }
  return {
    release: async () => {
      server.close();
      await rm(join(lock, name), { force: true });
      await rmdir(lock).catch((error: unknown) => {
        if (!isTaken(error) && codeOf(error) !== 'ENOENT') throw error;
      });
    },
  };
}

/**
 * Takes the lock of the clone itself: of two services with different folders `var/` each would remove the locks of the
 * other as stale. Undefined if there is no repository, or none that this process can write to.
 * @throws {BotshelfError} already-running, while a running process has it
 * @throws {UserError} if the file system has no sockets
 * @throws a system error
 */
export async function takeCloneLock(
  repositoryOpener: RepositoryOpener,
  log: Log,
): Promise<InstanceLock | undefined> {
  let repository: Repository;
  try {
    repository = await repositoryOpener.open();
  } catch (error) {
    log.debug({}, `the clone has no lock: ${toUnavailableError(error).message}`);
    return undefined;
  }
  try {
    return await takeInstanceLock(repository.gitDir, repository.folder);
  } catch (error) {
    if (!['EROFS', 'EACCES', 'EPERM'].includes(codeOf(error) ?? '')) throw error;
    log.warn({}, toUnavailableError(error).message);
    return undefined;
  }
}

/** Sends the name of this process over a connection. */
function sendName(socket: Socket): void {
  socket.on('error', () => {});
  socket.end(`process ${process.pid} on ${hostname()}`);
}

/** Listens on a socket of this name. */
async function listenIn(folder: string, name: string, server: Server): Promise<void> {
  try {
    await withAddress(folder, name, async (path) => {
      server.listen(path);
      await once(server, 'listening');
    });
  } catch (error) {
    throw new UserError(
      `${dirname(folder)} does not support the Unix socket that locks it (${messageOf(error)}): put it on a local disk`,
      { cause: error },
    );
  }
}

/** Renames `from` to `to`, and returns whether that was done; false while there are files in `to`. */
async function renameIfFree(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
}

function isTaken(error: unknown): boolean {
  return codeOf(error) === 'ENOTEMPTY' || codeOf(error) === 'EEXIST';
}

/** @throws {BotshelfError} already-running, when a process listens on one of the sockets */
async function removeStaleSockets(lock: string, shown: string): Promise<void> {
  for (const name of (await ignoreMissing(readdir(lock))) ?? []) {
    const holder = await withAddress(lock, name, findHolder);
    if (holder !== undefined) {
      const message = `another botshelf, ${holder}, runs on ${shown}: stop it first, or give this one a clone and BOTSHELF_VAR of its own`;
      throw new UserError(message, {}, 'already-running');
    }
    await rm(join(lock, name), { recursive: true, force: true });
  }
}

/** Returns the listener on a socket, or undefined. A process that does not respond counts as listening. */
async function findHolder(path: string): Promise<string | undefined> {
  return await new Promise((resolve) => {
    let said = '';
    const socket = connect(path).setTimeout(maxAnswerMs);
    socket.on('data', (text) => (said += String(text)));
    socket.on('timeout', () => socket.destroy());
    socket.on('error', (error) => {
      const code = codeOf(error) ?? '';
      if (code === 'ECONNREFUSED' || code === 'ENOENT') resolve(undefined);
      // It ended during the connection.
      else if (code === 'ECONNRESET') resolve(findHolder(path));
      else resolve(`a process that does not respond (${error.message})`);
    });
    socket.on('close', () => resolve(said === '' ? 'a process that does not respond' : said));
  });
}

const maxAnswerMs = 1000;

/**
 * Runs `work` with a path of a socket that fits into an address: if the folder's own path is too long, it is one
 * through a descriptor of the folder.
 * @throws what `work` throws
 */
async function withAddress<T>(folder: string, name: string, work: (path: string) => Promise<T>): Promise<T> {
  const path = join(folder, name);
  if (Buffer.byteLength(path) <= maxAddressBytes) return await work(path);
  const handle = await open(folder);
  try {
    return await work(`/proc/self/fd/${handle.fd}/${name}`);
  } finally {
    await handle.close();
  }
}

/** Linux allows 107, macOS 103. */
const maxAddressBytes = 103;
