import { type ChildProcess, fork } from 'node:child_process';
import { Socket } from 'node:net';
import { GitError, type GitClient, type GitCommand } from './run-git.ts';

/** A command sent to the runner. */
export interface RunnerRequest {
  readonly id: number;
  readonly command: Omit<GitCommand, 'input'>;
  /** Bytes of its input, which follows the input of the previous request in `inputPipe`; undefined without input. */
  readonly inputBytes: number | undefined;
}

/** Kills a command that runs in the background, or on the network. */
export interface RunnerStop {
  readonly id: number;
  readonly stop: true;
}

/** The file descriptor that the runner reads inputs from, because a message would copy megabytes several times. */
export const inputPipe = 4;

/** The output of a command, or its failure. */
export type RunnerResponse =
  | { readonly id: number; readonly output: string }
  | { readonly id: number; readonly status: number | null; readonly stderr: string };

/** Under `node --watch` every forked process reports the modules that it loads over the same channel. */
type NodeMessage = Readonly<Record<`watch:${string}`, unknown>>;

/**
 * Runs git commands in a small process of its own. Starting a process copies the page tables of its parent and blocks
 * the parent's event loop: 20 ms and more in a service of a gigabyte, 2 ms in the small process.
 */
export class GitRunner implements GitClient {
  /** Id → called with the response. */
  readonly #pending = new Map<number, (response: RunnerResponse) => void>();
  #process: ChildProcess | undefined;
  #isClosed = false;
  #lastId = 0;

  /** Starts the process, best while this one is small. The next command restarts it if it has ended. */
  constructor() {
    this.#process = this.#start();
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  isParent(pid: number): boolean {
    return pid === this.pid;
  }

  async run(command: GitCommand, signal?: AbortSignal): Promise<string> {
    if (this.#isClosed) throw new GitError(command.args, null, isStopping, true);
    const runner = (this.#process ??= this.#start());
    const id = ++this.#lastId;
    const stop = (): void => void runner.send({ id, stop: true } satisfies RunnerStop, () => undefined);
    signal?.addEventListener('abort', stop);
    const response = await new Promise<RunnerResponse>((resolve) => {
      this.#pending.set(id, resolve);
      runner.channel?.ref();
      const { input, ...rest } = command;
      const bytes = typeof input === 'string' ? Buffer.from(input) : input;
      const request: RunnerRequest = { id, command: rest, inputBytes: bytes?.length };
      runner.send(request, (error) => {
        if (error) this.#settle({ id, status: -1, stderr: error.message });
      });
      if (bytes) findInputPipe(runner)?.write(bytes);
      if (signal?.aborted) stop();
    });
    signal?.removeEventListener('abort', stop);
    if ('output' in response) return response.output;
    throw new GitError(command.args, response.status, response.stderr, this.#isClosed);
  }

  /** Ends the process; its commands fail, and later ones. */
  close(): void {
    this.#isClosed = true;
    if (this.#process === undefined) return;
    this.#process.disconnect();
    this.#failAll(this.#process);
  }

  #start(): ChildProcess {
    const child = fork(new URL('runner-process.js', import.meta.url), {
      serialization: 'advanced',
      // A terminal's Ctrl-C must reach the service alone, which has commits to finish.
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc', 'pipe'],
      execArgv: [],
    });
    child.on('message', (message: RunnerResponse | NodeMessage) => {
      if ('id' in message) this.#settle(message);
    });
    child.on('error', () => this.#failAll(child));
    child.on('exit', () => this.#failAll(child));
    // The runner keeps this process alive only while a command is pending.
    child.unref();
    child.channel?.unref();
    const pipe = findInputPipe(child);
    pipe?.unref();
    // The commands of a runner that has ended fail by themselves.
    pipe?.on('error', () => undefined);
    return child;
  }

  #failAll(child: ChildProcess): void {
    if (this.#process !== child) return;
    this.#process = undefined;
    for (const id of this.#pending.keys())
      this.#settle({ id, status: null, stderr: this.#isClosed ? isStopping : hasEnded });
  }

  #settle(response: RunnerResponse): void {
    const resolve = this.#pending.get(response.id);
    this.#pending.delete(response.id);
    if (this.#pending.size === 0) this.#process?.channel?.unref();
    resolve?.(response);
  }
}

const hasEnded = 'the process that runs git has ended';
const isStopping = 'the service is stopping';

function findInputPipe(runner: ChildProcess): Socket | undefined {
  const pipe = runner.stdio[inputPipe];
  return pipe instanceof Socket ? pipe : undefined;
}
