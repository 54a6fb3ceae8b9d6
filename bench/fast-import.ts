import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PageText } from './generated-bots.ts';

/**
 * Makes a Git repository of `folder`, with `pages` and a `.gitignore` in its one commit on `main`, checked out.
 * The pages stream through one `git fast-import`, so their number costs no memory here.
 * @throws {Error} when git fails.
 */
export async function importPages(folder: string, pages: Iterable<PageText>, message: string): Promise<void> {
  const git = (...args: string[]): Buffer => execFileSync('git', args, { cwd: folder, stdio: [...quiet] });
  git('init', '-q', '-b', 'main');
  // What the service writes must not show up as changed; what git writes must be the bytes of the pages.
  git('config', 'core.autocrlf', 'false');

  await streamCommands(folder, ['--done', '--depth=0'], commands(pages, message));
  git('reset', '-q', '--hard');
}

/** Runs `git fast-import` on a stream of commands. @throws {Error} when git fails */
export async function streamCommands(
  folder: string,
  options: readonly string[],
  input: Iterable<Buffer | string>,
): Promise<void> {
  const child = spawn('git', ['-c', 'core.compression=1', 'fast-import', '--quiet', ...options], {
    cwd: folder,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  await pipeline(Readable.from(input), child.stdin);
  const [code, signal] = await ended;
  if (code !== 0) throw new Error(`git fast-import ended with ${signal ?? code}`);
}

const quiet = ['ignore', 'pipe', 'inherit'] as const;

/** About how many characters a chunk of commands has. */
const chunkSize = 2 ** 20;

function* commands(pages: Iterable<PageText>, message: string): Generator<Buffer> {
  const who = 'Botshelf <botshelf@example.org> 1767225600 +0000';
  let chunk = `commit refs/heads/main\nauthor ${who}\ncommitter ${who}\n${data(message)}`;
  chunk += file('.gitignore', '/var/\n');
  for (const { path, text } of pages) {
    chunk += file(path, text);
    if (chunk.length < chunkSize) continue;
    yield Buffer.from(chunk);
    chunk = '';
  }
  yield Buffer.from(`${chunk}done\n`);
}

function file(path: string, text: string): string {
  return `M 100644 inline ${path}\n${data(text)}`;
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}
