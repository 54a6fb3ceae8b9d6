import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { GitError } from './git-error.ts';
import { createGitEnvironment, gitSettings, networkSettings } from './settings.ts';

/** One git command, run to its end. */
export interface GitCommand {
  readonly folder: string;
  readonly args: readonly string[];
  /** Its standard input; never empty, as simple-git would leave git waiting. */
  readonly input?: string | Buffer;
  /** Another index than the work tree's own. */
  readonly indexFile?: string;
  /** An exit code other than 0 that is a success, such as 1 for "no". */
  readonly accepts?: number;
  /** Whether it runs at the lowest priority, as it may take long. */
  readonly background?: boolean;
  /**
   * Set where it connects to another machine: the seconds without any output after which it is killed, with the processes
   * that it started. A transfer reports its progress with `--progress`.
   */
  readonly stallSeconds?: number;
  /** Whether it goes on where Ctrl-C in a terminal ends this process: it is in a process group of its own. */
  readonly isDetached?: boolean;
  /** Ends it once it has printed more bytes. Its output by then, which is more, is returned. */
  readonly maxOutputBytes?: number;
  /** The file that its standard output is written to, instead of being returned. */
  readonly outputFile?: string;
}

export interface RunOptions {
  /** Kills a command with `background` or `stallSeconds`. */
  readonly signal?: AbortSignal | undefined;
  /** Receives the standard output in pieces, instead of its being returned. What it throws ends git, and is thrown. */
  readonly take?: ((piece: Buffer) => void) | undefined;
}

/** Runs git. */
export interface GitClient {
  /** Whether commands that run are children of the process `pid`. */
  isParent(pid: number): boolean;
  /** As runGit does. */
  run(command: GitCommand, signal?: AbortSignal): Promise<string>;
}

/**
 * Runs git as a child of this process. Each start copies the page tables of this process: a service of a gigabyte uses
 * git-runner.ts.
 */
export const directClient: GitClient = {
  isParent: (pid) => pid === process.pid,
  run: async (command, signal) => await runGit(command, { signal }),
};

/**
 * Runs git and returns its standard output, unless a file or `take` receives it.
 * @throws {GitError} when it fails or is killed, and what `take` throws
 */
export async function runGit(command: GitCommand, { signal, take }: RunOptions = {}): Promise<string> {
  const { args, background, stallSeconds, isDetached, outputFile, maxOutputBytes } = command;
  const isWatched = stallSeconds !== undefined || maxOutputBytes !== undefined;
  if (!background && !isWatched && !isDetached && outputFile === undefined && !take)
    return await runSimpleGit(command);
  if (signal?.aborted) throw new GitError(args, null, '');
  const pieces: Buffer[] = [];
  let bytes = 0;
  const enough = new Error('git has printed enough');
  const keep = (piece: Buffer): void => {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > (maxOutputBytes ?? Number.POSITIVE_INFINITY)) throw enough;
  };
  const file = outputFile === undefined ? undefined : openSync(outputFile, 'w');
  const write = file === undefined ? undefined : (piece: Buffer): void => writeFileSync(file, piece);
  try {
    await runToEnd(command, signal, write ?? take ?? keep);
  } catch (error) {
    if (error !== enough) throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
  return Buffer.concat(pieces).toString();
}

/**
 * Starts a git that is kept running, prints much, or must be killed together with the processes it starts. simple-git
 * runs all others to their end.
 */
export function spawnGit({
  folder,
  args,
  indexFile,
  stallSeconds,
  isDetached = false,
}: Omit<GitCommand, 'input'>): ChildProcessWithoutNullStreams {
  const onNetwork = stallSeconds !== undefined;
  const settings = [...gitSettings, ...(onNetwork ? networkSettings : [])].flatMap((each) => ['-c', each]);
  // In a process group of its own, without a terminal: helpers such as ssh are killed with it and cannot prompt.
  const env = createGitEnvironment(indexFile);
  const options = { cwd: folder, env, detached: onNetwork || isDetached };
  return spawn('git', [...settings, ...args], options);
}

async function runSimpleGit({ folder, args, input, indexFile, accepts }: GitCommand): Promise<string> {
  if (input?.length === 0) throw new RangeError('an empty input leaves git waiting for more');
  // Imported here only: git-runner.ts runs the ordinary commands of the service.
  const { simpleGit } = await import('simple-git');
  // simple-git wraps the error that this function returns, so the error itself is kept here.
  let failure: GitError | undefined;
  const git = simpleGit({
    baseDir: folder,
    config: [...gitSettings],
    unsafe: { allowUnsafeHooksPath: true, allowUnsafeFsMonitor: true },
    completion: { onClose: true, onExit: false },
    allowEnvironment: ['GIT_INDEX_FILE', 'GIT_TERMINAL_PROMPT', 'GIT_OPTIONAL_LOCKS'],
    errors: (_, { exitCode, stdErr }) => {
      if (exitCode !== 0 && exitCode !== accepts)
        failure = new GitError(args, exitCode, Buffer.concat(stdErr).toString());
      return failure;
    },
    ...(input === undefined ? {} : { input: () => input }),
  });
  // simple-git waits 50 ms for more of a command that has printed nothing: an empty piece at the end is something.
  git.outputHandler((_command, stdout) => {
    stdout.once('end', () => stdout.emit('data', Buffer.alloc(0)));
  });
  git.env(createGitEnvironment(indexFile));
  try {
    return await git.raw([...args]);
  } catch (error) {
    throw failure ?? error;
  }
}

async function runToEnd(
  command: GitCommand,
  signal: AbortSignal | undefined,
  take: (piece: Buffer) => void,
): Promise<void> {
  const { args, input, accepts = 0, background, stallSeconds } = command;
  const child = spawnGit(command);
  if (background) ifRunning(child.pid, (pid) => setPriority(pid, 19));
  let stderr = '';
  let failure: { readonly error: unknown } | undefined;
  const stop = (error: unknown): void => {
    failure ??= { error };
    if (stallSeconds === undefined) child.kill();
    else ifRunning(child.pid, (pid) => process.kill(-pid, 'SIGKILL'));
  };
  const abort = (): void => stop(new GitError(args, null, stderr));
  // Counted in steps: where this machine is too busy to run this process, git had no time either.
  let silentSteps = 0;
  const countStep = (): void => {
    if (++silentSteps >= stallSteps)
      stop(new GitError(args, null, `git made no progress for ${stallSeconds} s`));
  };
  const timer = stallSeconds && setInterval(countStep, (stallSeconds * 1000) / stallSteps);
  signal?.addEventListener('abort', abort);
  child.stderr.on('data', (piece) => {
    silentSteps = 0;
    stderr = (stderr + String(piece)).replace(progress, '').slice(-maxStderrLength);
  });
  child.stdout.on('data', (piece: Buffer) => {
    silentSteps = 0;
    if (failure !== undefined) return;
    try {
      take(piece);
    } catch (error) {
      stop(error);
    }
  });
  // A git that failed no longer reads; its exit code is reported.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  await new Promise<void>((resolve, reject) => {
    child.on('error', (error) => reject(new GitError(args, -1, error.message)));
    child.on('close', (status) => {
      if (failure !== undefined) reject(failure.error);
      else if (status === 0 || status === accepts) resolve();
      else reject(new GitError(args, status, stderr));
    });
  }).finally(() => {
    clearInterval(timer);
    signal?.removeEventListener('abort', abort);
  });
}

const maxStderrLength = 10_000;

/** Steps that `stallSeconds` are counted in. */
const stallSteps = 60;

/** A report of progress, which the next one overwrites, and the last report of each kind. */
const progress = /^.*\r(?=[^\n])|^.*, done\. *\n|^remote: Total \d.*\n/gm;

function ifRunning(pid: number | undefined, act: (pid: number) => void): void {
  if (pid === undefined) return;
  try {
    act(pid);
  } catch {
    // It has ended already.
  }
}
