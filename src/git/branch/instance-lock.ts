import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, ignoreMissing, messageOf, UserError } from '../../lib/errors.ts';
import { makeFolder } from '../../lib/files.ts';

/** The right to be the only process that writes to a folder. */
export interface InstanceLock {
  release(): Promise<void>;
}

interface InstanceLockOptions {
  /** The folder to name in errors; the locked one by default. */
  readonly shown?: string;
  /** Returns the response to a request at the lock. It must not reject. */
  readonly respond?: Respond;
  /** Whether a command takes it, briefly: others wait until it is free. */
  readonly isBrief?: boolean;
}

/** Returns the response to a request, each of one line; undefined while a service starts or stops, and can do no request. */
export type Respond = (request: string) => Promise<string | undefined>;

/**
 * Takes the lock of `folder`, and creates the folder if needed. The lock is a folder with a listening Unix
 * socket in it: the kernel knows whether a process listens, also in another container or process namespace. Each
 * socket has a new name, so removing a stale one never removes a live one. The folder is renamed to the lock's name, which
 * works only while that is free or empty: of several starting services one succeeds.
 * @throws {BotshelfError} already-running, while a running process has it; a command only after `maxBriefMs`
 * @throws {UserError} if the file system has no sockets
 * @throws a system error
 */
export async function takeInstanceLock(
  folder: string,
  { shown = folder, respond = async () => undefined, isBrief = false }: InstanceLockOptions = {},
): Promise<InstanceLock> {
  await makeFolder(folder);
  const lock = toLockPath(folder);
  const name = `${isBrief ? briefPrefix : ''}${randomBytes(8).toString('hex')}`;
  const own = `${lock}.${name}`;
  await mkdir(own);
  const server = createServer({ allowHalfOpen: true }, (socket) => serveConnection(socket, respond)).unref();
  server.maxConnections = maxConnections;
  const deadline = performance.now() + maxBriefMs;
  try {
    await listenIn(own, name, server);
    while (!(await renameIfFree(own, lock))) await clearLock(lock, shown, performance.now() < deadline);
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

function toLockPath(folder: string): string {
  return join(folder, 'botshelf.lock');
}

/** The name of the socket of a command begins with this. */
const briefPrefix = 'command-';

/** Milliseconds to wait for commands, each of which may wait for another git. */
const maxBriefMs = 30_000;

/** The response of a service that can do no request now. */
const waitResponse = 'wait';

/**
 * Sends the name of this process immediately, without a line end, because clients of earlier versions wait for it and
 * send nothing. Then reads a request of one line, sends the line end, does the work, and sends the response. A client
 * that has received no line end knows that nothing was done.
 */
function serveConnection(socket: Socket, respond: Respond): void {
  let request = '';
  socket.unref().on('error', () => {});
  socket.setTimeout(maxRequestMs, () => socket.destroy());
  socket.write(`process ${process.pid} on ${hostname()}`);
  socket.on('end', () => {
    if (!request.endsWith('\n')) socket.end();
  });
  socket.on('data', (piece) => {
    if (request.endsWith('\n')) return;
    request += piece.toString('latin1');
    if (request.length > maxRequestBytes) socket.destroy();
    else if (request.endsWith('\n')) {
      socket.setTimeout(0);
      socket.write('\n');
      void respond(request.trimEnd()).then((response = waitResponse) =>
        socket.setTimeout(maxRequestMs).end(`${response}\n`),
      );
    }
  });
}

/** Milliseconds in which a request has to come, and its bytes. */
const maxRequestMs = 10_000;
const maxRequestBytes = 100;

/** Connections to a lock at a time. */
const maxConnections = 64;

/** Listens on a socket of this name. */
async function listenIn(folder: string, name: string, server: Server): Promise<void> {
  try {
    await withAddress(folder, name, async (path) => {
      server.listen(path);
      await once(server, 'listening');
      // A request is a right of the owner, whatever the umask.
      await chmod(path, 0o600);
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

/**
 * Removes stale sockets, and waits a moment for a command.
 * @throws {BotshelfError} already-running, when a process listens on one of the sockets, unless it is waited for
 */
async function clearLock(lock: string, shown: string, waits: boolean): Promise<void> {
  for (const name of (await ignoreMissing(readdir(lock))) ?? []) {
    const { holder } = await withAddress(lock, name, async (path) => await ask(path));
    if (holder === undefined) await rm(join(lock, name), { recursive: true, force: true });
    else if (waits && name.startsWith(briefPrefix)) await sleep(20);
    else {
      const message = `another botshelf, ${holder}, runs on ${shown}: stop it first, or give this one a clone and BOTSHELF_VAR of its own`;
      throw new UserError(message, {}, 'already-running');
    }
  }
}

/** The reply of the process that has a lock. */
export interface Reply {
  /** The name of the process; undefined if none listens. A process that does not respond counts as listening. */
  readonly holder: string | undefined;
  /** The response to the request; undefined without one, and if the process can do no request now. */
  readonly response: string | undefined;
  /** Whether the process may have done the request. */
  readonly isTaken: boolean;
}

/** Sends a request to the process that has the lock of `folder`. @throws a system error */
export async function askHolder(folder: string, request: string): Promise<Reply> {
  const lock = toLockPath(folder);
  const [name] = (await ignoreMissing(readdir(lock))) ?? [];
  const asked = name && withAddress(lock, name, async (path) => await ask(path, request));
  return (
    (asked && (await ignoreMissing(asked))) || { holder: undefined, response: undefined, isTaken: false }
  );
}

/** @param request left out to get the name only */
async function ask(path: string, request?: string): Promise<Reply> {
  return await new Promise((resolve) => {
    let said = '';
    let isLate = false;
    let failure: Error | undefined;
    const socket = connect(path).setTimeout(maxAnswerMs);
    if (request === undefined) socket.end();
    socket.on('data', (text) => {
      // Only a process that has sent its name receives the request: a stopped one would do it later.
      if (said === '' && request !== undefined) socket.setTimeout(maxResponseMs).write(`${request}\n`);
      said += String(text);
    });
    socket.on('timeout', () => {
      isLate = said !== '';
      socket.destroy();
    });
    socket.on('error', (error) => (failure = error));
    socket.on('close', () => {
      const code = codeOf(failure) ?? '';
      const [name, response, end] = said.split('\n');
      // The process ended during the connection.
      if (said === '' && code === 'ECONNRESET') return resolve(ask(path, request));
      const silent = `a process that does not respond${failure ? ` (${failure.message})` : ''}`;
      const holder = ['ECONNREFUSED', 'ENOENT'].includes(code) ? undefined : name || silent;
      if (response === waitResponse) return resolve({ holder, response: undefined, isTaken: false });
      const isTaken = isLate || response !== undefined;
      resolve({ holder, response: end === undefined ? undefined : response, isTaken });
    });
  });
}

/** Milliseconds to wait for a name, and for a response. */
const maxAnswerMs = 1000;
const maxResponseMs = 120_000;

/**
 * Runs `work` with a path of a socket that fits into an address: if the folder's own path is too long, the path goes
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
