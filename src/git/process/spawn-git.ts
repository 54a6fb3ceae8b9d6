import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { GitError } from './git-error.ts';
import type { GitCommand, RunOptions } from './run-git.ts';
import { createGitEnvironment, gitSettings, networkSettings } from './settings.ts';

/**
 * Starts a git that is kept running, prints much, or must be killed together with the processes it starts. simple-git
 * runs all others to their end (run-git.ts).
 */
export function spawnGit({
  folder,
  args,
  indexFile,
  timeLimit,
}: Omit<GitCommand, 'input'>): ChildProcessWithoutNullStreams {
  const onNetwork = timeLimit !== undefined;
  const settings = [...gitSettings, ...(onNetwork ? networkSettings : [])].flatMap((each) => ['-c', each]);
  // In a process group of its own, without a terminal: helpers such as ssh are killed with it and cannot prompt.
  const options = { cwd: folder, env: createGitEnvironment(indexFile), detached: onNetwork };
  return spawn('git', [...settings, ...args], options);
}

/**
 * Runs git and returns its output, unless a file or `take` receives it.
 * @throws {GitError} when it fails or is killed, and what `take` throws
 */
export async function streamGit(command: GitCommand, { signal, take }: RunOptions): Promise<string> {
  const { args, outputFile } = command;
  if (signal?.aborted) throw new GitError(args, null, '');
  if (outputFile === undefined) {
    const pieces: Buffer[] = [];
    await runToEnd(command, signal, take ?? ((piece) => void pieces.push(piece)));
    return Buffer.concat(pieces).toString();
  }
  const file = openSync(outputFile, 'w');
  try {
    await runToEnd(command, signal, (piece) => writeFileSync(file, piece));
    return '';
  } finally {
    closeSync(file);
  }
}

async function runToEnd(
  command: GitCommand,
  signal: AbortSignal | undefined,
  take: (piece: Buffer) => void,
): Promise<void> {
  const { args, input, accepts = 0, background, timeLimit } = command;
  const child = spawnGit(command);
  if (background) ifRunning(child.pid, (pid) => setPriority(pid, 19));
  let stderr = '';
  let failure: { readonly error: unknown } | undefined;
  const stop = (error: unknown): void => {
    failure ??= { error };
    if (timeLimit === undefined) child.kill();
    else ifRunning(child.pid, (pid) => process.kill(-pid, 'SIGKILL'));
  };
  const abort = (): void => stop(new GitError(args, null, stderr));
  const timer = timeLimit === undefined ? undefined : setTimeout(abort, timeLimit * 1000);
  signal?.addEventListener('abort', abort);
  child.stderr.on('data', (piece) => (stderr = (stderr + String(piece)).slice(-maxStderrLength)));
  child.stdout.on('data', (piece: Buffer) => {
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
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  });
}

const maxStderrLength = 10_000;

function ifRunning(pid: number | undefined, act: (pid: number) => void): void {
  if (pid === undefined) return;
  try {
    act(pid);
  } catch {
    // It has ended already.
  }
}
