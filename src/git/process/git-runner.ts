import { type ChildProcess, fork } from 'node:child_process';
import { Socket } from 'node:net';
import { GitError } from './git-error.ts';
import type { GitClient, GitCommand } from './run-git.ts';

/** A command on its way to the runner, and what comes back. */
export interface RunnerRequest {
  readonly id: number;
  readonly command: Omit<GitCommand, 'input'>;
  /** How many bytes of `inputPipe` are its input, those behind the input of the request before; undefined for none. */
  readonly inputBytes: number | undefined;
}

/** Kills a command that runs in the background, or on the network. */
export interface RunnerStop {
  readonly id: number;
  readonly stop: true;
}

/**
 * The file descriptor that the runner reads inputs from. As a part of its message, one of megabytes would be copied
 * several times before anybody else had a turn.
 */
export const inputPipe = 4;

export type RunnerAnswer =
  | { readonly id: number; readonly output: string }
  | { readonly id: number; readonly status: number | null; readonly stderr: string };

/** Under `node --watch` every forked process reports the modules that it loads over the same channel. */
type NodeMessage = Readonly<Record<`watch:${string}`, unknown>>;

interface Waiting {
  readonly command: GitCommand;
  readonly resolve: (output: string) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Runs git commands in a small process of its own. Starting a process copies the page tables of the one that
 * starts it and holds up its event loop meanwhile: 20 ms and more for a service of a gigabyte, 2 ms from here.
 */
export class GitRunner implements GitClient {
  readonly #waiting = new Map<number, Waiting>();
  #process: ChildProcess | undefined;
  #lastId = 0;

  /** Starts the process, best while this one is small; another is started when it is needed and gone. */
  constructor() {
    this.#process = this.#start();
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  async run(command: GitCommand, signal?: AbortSignal): Promise<string> {
    const runner = (this.#process ??= this.#start());
    const id = ++this.#lastId;
    const stop = (): void => void runner.send({ id, stop: true } satisfies RunnerStop, () => undefined);
    signal?.addEventListener('abort', stop);
    return await new Promise<string>((resolve, reject) => {
      this.#waiting.set(id, { command, resolve, reject });
      runner.channel?.ref();
      const { input, ...rest } = command;
      const bytes = typeof input === 'string' ? Buffer.from(input) : input;
      const request: RunnerRequest = { id, command: rest, inputBytes: bytes?.length };
      runner.send(request, (error) => {
        if (error) this.#fail(id, -1, error.message);
      });
      if (bytes) pipeOf(runner)?.write(bytes);
      if (signal?.aborted) stop();
    }).finally(() => signal?.removeEventListener('abort', stop));
  }

  /** Ends the process, and fails what is waited for. */
  close(): void {
    if (this.#process === undefined) return;
    this.#process.disconnect();
    this.#gone(this.#process);
  }

  #start(): ChildProcess {
    const child = fork(new URL('runner-process.js', import.meta.url), {
      serialization: 'advanced',
      // A terminal's Ctrl-C is for the service, which has commits to finish.
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc', 'pipe'],
      execArgv: [],
    });
    child.on('message', (message: RunnerAnswer | NodeMessage) => {
      if ('id' in message) this.#take(message);
    });
    child.on('error', () => this.#gone(child));
    child.on('exit', () => this.#gone(child));
    // It keeps this process running only while a command is waited for.
    child.unref();
    child.channel?.unref();
    const pipe = pipeOf(child);
    pipe?.unref();
    // A runner that is gone fails its commands by itself.
    pipe?.on('error', () => undefined);
    return child;
  }

  #take(answer: RunnerAnswer): void {
    if ('status' in answer) this.#fail(answer.id, answer.status, answer.stderr);
    else this.#settled(answer.id)?.resolve(answer.output);
  }

  #gone(child: ChildProcess): void {
    if (this.#process !== child) return;
    this.#process = undefined;
    for (const id of this.#waiting.keys()) this.#fail(id, null, 'the process that runs git has ended');
  }

  #fail(id: number, status: number | null, stderr: string): void {
    const waiting = this.#settled(id);
    waiting?.reject(new GitError(waiting.command.args, status, stderr));
  }

  #settled(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#process?.channel?.unref();
    return waiting;
  }
}

function pipeOf(runner: ChildProcess): Socket | undefined {
  const pipe = runner.stdio[inputPipe];
  return pipe instanceof Socket ? pipe : undefined;
}
