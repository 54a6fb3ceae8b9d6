import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { GitExit } from './git-exit.ts';

/** Settings of every git command of ours: no code of the repository's runs, and what is written is on disk. */
export const gitSettings: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.fsync=objects,derived-metadata,reference',
  'core.fsyncMethod=fsync',
  'core.filesRefLockTimeout=1000',
  'core.packedRefsTimeout=1000',
  'commit.gpgSign=false',
  'gc.auto=0',
];

/**
 * Starts a git that is talked with while it runs, or that runs for long; simple-git, which feeds standard input
 * once and waits for the end, runs all others (git-client.ts).
 */
export function spawnGit(folder: string, args: readonly string[]): ChildProcessWithoutNullStreams {
  const settings = gitSettings.flatMap((setting) => ['-c', setting]);
  return spawn('git', [...settings, ...args], { cwd: folder, env: gitEnvironment() });
}

/**
 * Runs a git that works in the background, at the lowest priority.
 * @throws {GitExit}
 */
export async function runInBackground(
  folder: string,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  if (signal?.aborted) throw new GitExit(args, null, '');
  const child = spawnGit(folder, args);
  lowerPriority(child.pid);
  child.stdin.end();
  child.stdout.resume();
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  const stop = (): void => void child.kill();
  signal?.addEventListener('abort', stop);
  await new Promise<void>((resolve, reject) => {
    child.on('error', (error) => reject(new GitExit(args, -1, error.message)));
    child.on('close', (code) => (code === 0 ? resolve() : reject(new GitExit(args, code, stderr))));
  }).finally(() => signal?.removeEventListener('abort', stop));
}

/**
 * Runs a git that talks with another machine and gives its standard output. It asks nobody for a password; one that
 * takes longer than it may, or that stands still, is killed with all that it has started.
 * @throws {GitExit} its exit code is null where it was killed
 */
export async function runOverNetwork(
  folder: string,
  args: readonly string[],
  { timeLimit, signal }: { readonly timeLimit: number; readonly signal: AbortSignal },
): Promise<string> {
  const settings = [...gitSettings, ...networkSettings].flatMap((setting) => ['-c', setting]);
  const env = { ...gitEnvironment(), GIT_TERMINAL_PROMPT: '0' };
  // In a group, and without a terminal, of its own: helpers such as ssh are killed with it and can't prompt.
  const child = spawn('git', [...settings, ...args], { cwd: folder, env, detached: true });
  child.stdin.on('error', () => undefined);
  child.stdin.end();
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (stderr = (stderr + String(chunk)).slice(-mostWords)));
  let killed = false;
  const stop = (): void => {
    killed = true;
    killGroup(child.pid);
  };
  const timer = setTimeout(stop, timeLimit * 1000);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  return await new Promise<string>((resolve, reject) => {
    child.on('error', (error) => reject(new GitExit(args, -1, error.message)));
    child.on('close', (code) => {
      if (code === 0 && !killed) resolve(stdout);
      else reject(new GitExit(args, killed ? null : code, stderr));
    });
  }).finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  });
}

/** A transfer of less than 1,000 bytes a second for 20 seconds is one that stands still. */
const networkSettings = ['http.lowSpeedLimit=1000', 'http.lowSpeedTime=20'];

const mostWords = 10_000;

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

/**
 * The environment for our git commands: this process's, handed on without what would point git at another
 * repository or run a program (a service started from a Git hook has GIT_DIR set).
 */
export function gitEnvironment(): NodeJS.ProcessEnv {
  // oxlint-disable-next-line node/no-process-env -- handed on as it is; no setting is read from it
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(GIT_|EDITOR$|VISUAL$|PAGER$|PREFIX$|SSH_ASKPASS$)/i.test(name),
  );
  return { ...Object.fromEntries(own), LC_ALL: 'C' };
}

function lowerPriority(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, 19);
  } catch {
    // It has ended already.
  }
}
