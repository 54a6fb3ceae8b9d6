import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { once } from 'node:events';
import type { Log } from '../lib/log.ts';
import { UserError, codeOf, ignoreMissing, messageOf } from '../lib/errors.ts';
import { makeFolder } from '../lib/fsync.ts';
import { type Repository, type RepositoryOpener, toUnavailableError } from './repository.ts';

/** The right to be the only service on a clone. */
export interface InstanceLock {
  release(): Promise<void>;
}

/** Another service runs on this clone. */
export class AlreadyRunningError extends UserError {
  /** @param holder the name that the other one sends, such as `process 7 on web-1` */
  constructor(folder: string, holder: string) {
    super(
      `another botshelf, ${holder}, runs on ${folder}: stop it first, or give this one a clone and BOTSHELF_VAR of its own`,
    );
    this.name = 'AlreadyRunningError';
  }
}

/**
 * Takes the lock of `folder`, creating the folder where there is none. The lock is a folder with a listening Unix
 * socket in it: the kernel knows whether a process listens, also in another container or process namespace. The name of
 * a socket is used once, so that removing a stale one never removes a live one, and the folder can be renamed to the
 * name of the lock only while that is free or empty: of several starting services one succeeds.
 * @param shown the folder to name in errors
 * @throws {AlreadyRunningError} while a running process has it
 * @throws {UserError} where the file system has no sockets
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
 * other as stale. Undefined where there is no repository, or none that this process can write to.
 * @throws {AlreadyRunningError} while a running process has it
 * @throws {UserError} where the file system has no sockets
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
      `${dirname(folder)} takes no Unix socket, which keeps a second service away (${messageOf(error)}): put it on a local disk`,
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

/** @throws {AlreadyRunningError} when a process listens on one of the sockets */
async function removeStaleSockets(lock: string, shown: string): Promise<void> {
  for (const name of (await ignoreMissing(readdir(lock))) ?? []) {
    const holder = await withAddress(lock, name, findHolder);
    if (holder !== undefined) throw new AlreadyRunningError(shown, holder);
    await rm(join(lock, name), { recursive: true, force: true });
  }
}

/** Returns who listens on a socket; undefined for nobody. A process that does not respond counts as listening. */
async function findHolder(path: string): Promise<string | undefined> {
  return await new Promise((resolve) => {
    let said = '';
    const socket = connect(path).setTimeout(answerLimit);
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

/** Milliseconds. */
const answerLimit = 1000;

/**
 * Runs `work` with a path of a socket that fits into an address: where the folder's own path is too long, it is one
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
