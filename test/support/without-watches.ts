import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A Node program that runs where inotify gives it nothing. */
export interface WatchlessProgram {
  /** How the limit was reached. */
  readonly way: string;
  /** The last line that the program printed. */
  lastLine(): string;
  stop(): void;
}

/**
 * Runs a module with `args` where the kernel gives no inotify watch: in a user namespace of its own whose limit
 * is zero or, where there are no such namespaces, after other processes have taken every inotify instance.
 */
export function runWithoutWatches(module: string, args: readonly string[]): WatchlessProgram {
  const namespaces = hasUserNamespaces();
  const takers = namespaces ? [] : takeEveryInstance();
  const command = [process.execPath, module, ...args];
  const program = namespaces
    ? spawn('unshare', ['-Ur', 'sh', '-c', `${noWatches} && exec "$0" "$@"`, ...command])
    : spawn(process.execPath, command.slice(1));
  let output = '';
  for (const stream of [program.stdout, program.stderr])
    stream.on('data', (data) => (output += String(data)));
  return {
    way: namespaces ? 'a user namespace without inotify watches' : 'every inotify instance taken',
    lastLine: () => output.trimEnd().split('\n').at(-1) ?? '',
    stop: () => {
      for (const process of [program, ...takers]) process.kill('SIGKILL');
    },
  };
}

const noWatches = 'echo 0 > /proc/sys/user/max_inotify_watches';

function hasUserNamespaces(): boolean {
  try {
    execFileSync('unshare', ['-Ur', 'sh', '-c', noWatches], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** `tail -f` holds one inotify instance for as long as it runs. */
function takeEveryInstance(): ChildProcess[] {
  const limit = Number(readFileSync('/proc/sys/fs/inotify/max_user_instances', 'utf8'));
  if (limit > 2000) throw new Error(`${limit} inotify instances cannot be taken: allow user namespaces`);
  return Array.from({ length: limit }, () => spawn('tail', ['-f', '/proc/self/status'], { stdio: 'ignore' }));
}
