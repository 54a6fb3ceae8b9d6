import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { CommandRequest } from './command-runner.ts';

/** The result of a run of `botshelf`. */
export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The compiled command line. */
export const mainFile = fileURLToPath(new URL('./dist/src/main.js', import.meta.resolve('#package')));

/**
 * Runs `botshelf` with the catalogue at `root`, which is also the current folder unless another is given. Runs that do
 * not overlap share a process: what is to happen when a process ends needs one of its own.
 */
export async function botshelf(
  root: string,
  args: readonly string[],
  more: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Run> {
  const { cwd = root } = more;
  const env = { PATH: process.env['PATH'] ?? '', BOTSHELF_CATALOGUE: root, ...more.env };
  const mark = randomUUID();
  const request: CommandRequest = { mark, mainFile, args, cwd, env };
  if ('__stryker__' in globalThis)
    return await (runHere = runHere.then(async () => await runInProcess(request)));
  const runner = idleRunners.pop() ?? startRunner();
  runner.child.send(request);
  const [out, err] = await Promise.all([readUntil(mark, runner, 1), readUntil(mark, runner, 2)]);
  if (runner.child.connected) idleRunners.push(runner);
  const [stdout = '', code = '-1'] = out.split(mark);
  return { code: Number(code), stdout, stderr: err.split(mark)[0] ?? '' };
}

let runHere = Promise.resolve<Run>({ code: 0, stdout: '', stderr: '' });

/** Runs it in this process, one at a time: no mutant is active in another process. */
async function runInProcess({ mark, mainFile, args, cwd, env }: CommandRequest): Promise<Run> {
  const { argv, env: ownEnv } = process;
  const ownFolder = process.cwd();
  const streams = [process.stdout, process.stderr] as const;
  const writes = streams.map((stream) => stream.write);
  const texts = ['', ''];
  for (const [i, stream] of streams.entries())
    stream.write = (piece: string | Uint8Array) => ((texts[i] += Buffer.from(piece).toString()), true);
  process.env = env;
  process.argv = [process.execPath, mainFile, ...args];
  process.exitCode = 0;
  try {
    process.chdir(cwd);
    await import(`${mainFile}?${mark}`);
    const [stdout = '', stderr = ''] = texts;
    return { code: process.exitCode, stdout, stderr };
  } finally {
    process.chdir(ownFolder);
    [process.argv, process.env, process.exitCode] = [argv, ownEnv, undefined];
    for (const [i, stream] of streams.entries()) stream.write = writes[i] as typeof stream.write;
    process.stdout.removeAllListeners('error');
  }
}

/** A process of command-runner.ts. */
interface Runner {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
}

const idleRunners: Runner[] = [];

process.once('exit', () => {
  for (const { child } of idleRunners) child.kill('SIGKILL');
});

function startRunner(): Runner {
  const file = fileURLToPath(new URL('command-runner.js', import.meta.url));
  const child = fork(file, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  // The process is kept for the next file, but does not keep mocha running.
  child.unref();
  child.channel?.unref();
  for (const stream of [child.stdout, child.stderr]) (stream as Socket | null)?.unref();
  return { child, ended: once(child, 'close') };
}

/** Returns what comes on a stream of the process until a line ends that has the mark, or the process ends. */
async function readUntil(mark: string, { child, ended }: Runner, stream: 1 | 2): Promise<string> {
  const output = child.stdio[stream] as Readable;
  let text = '';
  const found = new Promise<void>((resolve) => {
    output.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      if (text.endsWith('\n') && text.includes(mark)) resolve();
    });
  });
  await Promise.race([found, ended]);
  output.removeAllListeners('data');
  return text;
}
