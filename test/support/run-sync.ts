import { execFileSync, spawn } from 'node:child_process';
import { openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from './temp-folder.ts';

/*
 * Runs programs to their end from a shell. Starting a process copies the page tables of its parent: in a virtual machine
 * that takes 5 ms from a shell, 15 ms from a small node and 30 ms from a mocha, and tests start git ten thousand times.
 */
export interface SyncCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Replaces the environment, which is that of the tests when the first of them ran a program. */
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string | Buffer;
}

export interface SyncResult {
  /** The exit code; 128 and the number of the signal that ended it. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program and returns its result, whatever its exit code. */
export function runSync({ program, args, cwd, env, input }: SyncCommand): SyncResult {
  shell ??= startShell();
  const { folder, commands, statuses } = shell;
  if (input !== undefined) writeFileSync(join(folder, 'input'), input);
  const set = Object.entries(env ?? {}).map(([name, value = '']) => `${name}=${value}`);
  const words = [...(env ? ['env', '-i', ...set] : []), program, ...args].map(quote).join(' ');
  const from = input === undefined ? '/dev/null' : join(folder, 'input');
  const [out, err] = [join(folder, 'stdout'), join(folder, 'stderr')];
  const command = `(cd ${quote(cwd)} && exec ${words}) <${quote(from)} >${quote(out)} 2>${quote(err)}`;
  writeFileSync(commands, `${command}\n${printStatus}`);
  const bytes = Buffer.alloc(16);
  const length = readSync(statuses, bytes, 0, bytes.length, null);
  if (length === 0) throw new Error('the shell that runs programs for tests has ended');
  const status = Number(bytes.toString('latin1', 0, length));
  return { status, stdout: readFileSync(out, 'utf8'), stderr: readFileSync(err, 'utf8') };
}

/** Has a shell print the exit code of the command before. */
export const printStatus = 'echo $?\n';

/** Runs git and returns its output, trimmed. @throws with its standard error when it fails */
export function gitSync(command: Omit<SyncCommand, 'program'>): string {
  const { status, stdout, stderr } = runSync({ ...command, program: 'git' });
  if (status !== 0) throw new Error(`git ${command.args.join(' ')} failed (${status}): ${stderr}${stdout}`);
  return stdout.trim();
}

interface Shell {
  /** Has the input and the output of a command. */
  readonly folder: string;
  readonly commands: number;
  /** A line for each command that has ended: its exit code. */
  readonly statuses: number;
}

let shell: Shell | undefined;

/** Starts the shell. It ends with the tests, which close their end of the pipe. */
function startShell(): Shell {
  const folder = tempFolder();
  const [to, from] = [join(folder, 'commands'), join(folder, 'statuses')];
  execFileSync('mkfifo', [to, from]);
  const program = `exec sh <${quote(to)} >${quote(from)}`;
  spawn('sh', ['-c', program], { stdio: ['ignore', 'ignore', 'inherit'] }).unref();
  return { folder, commands: openSync(to, 'w'), statuses: openSync(from, 'r') };
}

/** A word of a shell's command. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
