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
  signal: AbortSignal,
): Promise<void> {
  const child = spawnGit(folder, args);
  lowerPriority(child.pid);
  child.stdin.end();
  child.stdout.resume();
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  const stop = (): void => void child.kill();
  signal.addEventListener('abort', stop);
  await new Promise<void>((resolve, reject) => {
    child.on('error', (error) => reject(new GitExit(args, -1, error.message)));
    child.on('close', (code) => (code === 0 ? resolve() : reject(new GitExit(args, code, stderr))));
  }).finally(() => signal.removeEventListener('abort', stop));
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
