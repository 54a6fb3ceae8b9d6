import { execFileSync, spawn } from 'node:child_process';
import { openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sharedFolder } from './temp-folder.ts';

/*
 * Runs programs to their end in a small process. Starting a process copies the page tables of its parent, which takes 12 ms
 * in a mocha of 150 MB, and tests start git some ten thousand times.
 */
export interface SyncCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Replaces the environment of the tests. */
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
}

export interface SyncResult {
  /** Null if a signal ended it. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program and returns its result, whatever its exit code. */
export function runSync(command: SyncCommand): SyncResult {
  pipes ??= start();
  sendMessage(pipes.to, { ...command, env: command.env ?? process.env });
  return receiveMessage(pipes.from) as SyncResult;
}

/** Runs git and returns its output, trimmed. @throws with its standard error when it fails */
export function gitSync(command: Omit<SyncCommand, 'program'>): string {
  const { status, stdout, stderr } = runSync({ ...command, program: 'git' });
  if (status !== 0) throw new Error(`git ${command.args.join(' ')} failed (${status}): ${stderr}${stdout}`);
  return stdout.trim();
}

let pipes: { readonly to: number; readonly from: number } | undefined;

function start(): NonNullable<typeof pipes> {
  const [to, from] = ['to', 'from'].map((name) => join(sharedFolder(), name)) as [string, string];
  execFileSync('mkfifo', [to, from]);
  const runner = fileURLToPath(new URL('run-sync-process.js', import.meta.url));
  spawn(process.execPath, [runner, to, from], { stdio: ['ignore', 'inherit', 'inherit'] }).unref();
  return { to: openSync(to, 'w'), from: openSync(from, 'r') };
}

/** Writes a message: its length in bytes, four of them, and its JSON. */
export function sendMessage(pipe: number, message: unknown): void {
  const json = Buffer.from(JSON.stringify(message));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  writeAll(pipe, Buffer.concat([length, json]));
}

function writeAll(pipe: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) written += writeSync(pipe, bytes, written);
}

/** Waits for a message. @throws when the other process has ended */
export function receiveMessage(pipe: number): unknown {
  const length = readBytes(pipe, 4).readUInt32LE();
  return JSON.parse(readBytes(pipe, length).toString());
}

function readBytes(pipe: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let read = 0; read < length;) {
    const more = readSync(pipe, bytes, read, length - read, null);
    if (more === 0) throw new Error('the process that runs programs for tests has ended');
    read += more;
  }
  return bytes;
}
