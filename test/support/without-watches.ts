import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Writable } from 'node:stream';

/** A Node program that runs without inotify watches. */
export interface WatchlessProgram {
  /** How the limit was reached. */
  readonly way: string;
  /** Lifts the limit. */
  giveWatches(): void;
  /** The last line that the program printed. */
  lastLine(): string;
  stop(): void;
}

/**
 * Runs a module with `args` where the kernel allows no inotify watch: in a user namespace of its own whose limit
 * is zero or, where there are no such namespaces, after other processes have taken every inotify instance.
 */
export function runWithoutWatches(module: string, args: readonly string[]): WatchlessProgram {
  const namespaces = hasUserNamespaces();
  const takers = namespaces ? [] : takeEveryInstance();
  const command = [process.execPath, module, ...args];
  const program = namespaces
    ? spawn(
        'unshare',
        ['-Ur', 'sh', '-c', `${noWatches} && (${watchesWhenTold}) & exec "$0" "$@"`, ...command],
        { stdio: ['pipe', 'pipe', 'pipe', 'pipe'] },
      )
    : spawn(process.execPath, command.slice(1), { stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [program.stdout, program.stderr])
    stream.on('data', (data) => (output += String(data)));
  return {
    giveWatches: () => {
      (program.stdio[3] as Writable).end('\n');
      for (const process of takers) process.kill('SIGKILL');
    },
    way: namespaces ? 'a user namespace without inotify watches' : 'every inotify instance taken',
    lastLine: () => output.trimEnd().split('\n').at(-1) ?? '',
    stop: () => {
      for (const process of [program, ...takers]) process.kill('SIGKILL');
    },
  };
}

const noWatches = 'echo 0 > /proc/sys/user/max_inotify_watches';

const watchesWhenTold = 'read -r _ <&3 && echo 1000 > /proc/sys/user/max_inotify_watches';

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
