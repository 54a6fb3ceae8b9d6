import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as rest } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../test/support/loopback.ts';
import { residentOf } from '../test/support/process-cost.ts';
import { cpuOf, type LoadedServer, send } from './load.ts';
import type { Stage } from './stage.ts';

/** A server in a process of its own, on a free port of the loopback interface. Disposing of it stops it. */
export interface ServerProcess extends LoadedServer, AsyncDisposable {
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
 * @throws {Error} with the end of its standard error when it ends before that.
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
  const isReady = async (): Promise<boolean> =>
    await send(address, { method: 'GET', path: readyPath, headers: {} }).then(
      () => true,
      () => false,
    );
  while (!(await isReady())) {
    if (running.ended) throw new Error(`${script} ended before it was ready: ${running.lastWords}`);
    await rest(20);
  }
  return {
    address,
    pid: child.pid ?? 0,
    readyAfter: performance.now() - started,
    [Symbol.asyncDispose]: async () => await running.stop('SIGTERM'),
  };
}

/** The path of a compiled file, such as `src/main.js`. */
function distPath(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}

export interface RunningChild {
  readonly ended: boolean;
  /** The end of its standard error. */
  readonly lastWords: string;
  /** Ends it and waits until it has ended. */
  stop(signal: NodeJS.Signals): Promise<void>;
}

/** Keeps the standard error of a child, and kills it with `lastSignal` when this process exits. */
export function watchOver(child: ChildProcess, lastSignal: NodeJS.Signals = 'SIGKILL'): RunningChild {
  let words = '';
  child.stderr?.on('data', (chunk: Buffer) => (words = (words + chunk.toString()).slice(-2000)));
  const kill = (): boolean => child.kill(lastSignal);
  process.once('exit', kill);
  const exited = once(child, 'exit').then(() => process.off('exit', kill));
  return {
    get ended() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    get lastWords() {
      return words.trim();
    },
    stop: async (signal) => {
      child.kill(signal);
      await exited;
    },
  };
}

/** Starts the service on the stage's catalogue, as an operator would, but without limits for posts. */
export async function startService(
  stage: Stage,
  env: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  return await startServer({
    command: ['src/main.js', 'serve'],
    readyPath: '/readyz',
    env: {
      BOTSHELF_CATALOGUE: stage.catalogue,
      BOTSHELF_VAR: stage.var,
      BOTSHELF_RATE_LIMIT: '0',
      BOTSHELF_CONTENT_LIMIT: '0',
      BOTSHELF_COMMANDS_LIMIT: '0',
      BOTSHELF_BAD_TOKEN_LIMIT: '0',
      BOTSHELF_IMAGES: 'off',
      ...env,
    },
  });
}

/** Starts it and waits until its own work is over. */
export async function startWholeService(
  stage: Stage,
  env: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const service = await startService(stage, env);
  await untilIdle(service);
  return service;
}

/** Waits until the watcher is up, the search index is built and the garbage of the start is collected. */
export async function untilIdle(server: ServerProcess): Promise<void> {
  const { address } = server;
  for (let faults = 1; faults > 0; await rest(20)) {
    const { body } = await send(address, { method: 'GET', path: '/readyz', headers: {} });
    const { parts } = JSON.parse(body.toString()) as { parts: Record<string, { faults: string[] }> };
    faults = Object.values(parts).flatMap((part) => part.faults).length;
  }
  await untilQuiet(server);
}

/** Waits until a process has taken next to no CPU for three seconds. */
export async function untilQuiet({ pid }: LoadedServer): Promise<void> {
  for (let quiet = 0; quiet < 3;) {
    const before = cpuOf(pid);
    await rest(1000);
    // Rounds over all folders go on.
    quiet = cpuOf(pid) - before < 200_000 ? quiet + 1 : 0;
  }
}

/** Returns the resident memory of a process, in megabytes. */
export function residentMegabytes({ pid }: ServerProcess): number {
  return residentOf(pid) / 2 ** 20;
}

/** What a run of a program took, in seconds. */
export interface RunTime {
  readonly wall: number;
  /** Of all its processes, in user and in system mode. */
  readonly cpu: number;
}

/** Runs a compiled script to its end. @throws {Error} with its output when it fails */
export function timeScript(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RunTime {
  const cpuBefore = cpuOf(process.pid) - ownCpu();
  const started = performance.now();
  const { status, stderr, stdout } = spawnSync(process.execPath, [distPath(script), ...args], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  const wall = (performance.now() - started) / 1000;
  if (status !== 0)
    throw new Error(`${script} ended with ${status}: ${(stderr + stdout).trim().slice(0, 300)}`);
  return { wall, cpu: (cpuOf(process.pid) - ownCpu() - cpuBefore) / 1e6 };
}

function ownCpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
