import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as rest } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** A server in a process of its own, on a free port of the loopback interface. Disposing of it stops it. */
export interface ServerProcess extends AsyncDisposable {
  readonly address: string;
  readonly pid: number;
  /** `pid` alone. */
  readonly pids: readonly number[];
  /** From the start of the process to its first response with status 200, in milliseconds. */
  readonly readyAfter: number;
}

export interface ServerOptions {
  /** Its command line after `node`; the first is a script below dist/. */
  readonly command: readonly [script: string, ...args: string[]];
  /** Added to the environment; PORT is set already. */
  readonly env?: Readonly<Record<string, string>>;
  /** The path that responds 200 when it is ready. */
  readonly readyPath: string;
}

/**
 * Starts a server and waits until it is ready.
 * @throws {Error} with its last words when it ends before that.
 */
export async function startServer({ command, env, readyPath }: ServerOptions): Promise<ServerProcess> {
  const [script, ...args] = command;
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const started = performance.now();
  const child = spawn(process.execPath, [distPath(script), ...args], {
    env: { ...process.env, ...env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const running = watchOver(child);
  while (!(await isReady(address + readyPath))) {
    if (running.ended) throw new Error(`${script} ended before it was ready: ${running.lastWords()}`);
    await rest(20);
  }
  return {
    address,
    pid: child.pid ?? 0,
    pids: [child.pid ?? 0],
    readyAfter: performance.now() - started,
    [Symbol.asyncDispose]: async () => await running.stop('SIGTERM'),
  };
}

/** The path of a compiled file, such as `src/main.js`. */
export function distPath(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export interface RunningChild {
  readonly ended: boolean;
  /** The end of what it said on standard error. */
  lastWords(): string;
  /** Ends it and waits until it has. */
  stop(signal: NodeJS.Signals): Promise<void>;
}

/**
 * Keeps what a child says on standard error, and sees to it that it does not outlive us: then it gets `lastSignal`.
 */
export function watchOver(child: ChildProcess, lastSignal: NodeJS.Signals = 'SIGKILL'): RunningChild {
  let words = '';
  let ended = false;
  child.stderr?.on('data', (chunk: Buffer) => (words = (words + chunk.toString()).slice(-2000)));
  const exited = new Promise<void>((resolve) => {
    const end = (): void => {
      ended = true;
      children.delete(child);
      resolve();
    };
    child.once('exit', end);
    child.once('error', (error) => {
      words += error.message;
      end();
    });
  });
  children.set(child, lastSignal);
  return {
    get ended() {
      return ended;
    },
    lastWords: () => words.trim(),
    stop: async (signal) => {
      child.kill(signal);
      await exited;
    },
  };
}

const children = new Map<ChildProcess, NodeJS.Signals>();

process.once('exit', () => {
  for (const [child, signal] of children) child.kill(signal);
});

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}
