import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import {
  GitError,
  type GitClient,
  type GitCommand,
  createGitEnvironment,
  gitSettings,
} from '../../src/git/run-git.ts';
import { GitRunner } from '../../src/git/git-runner.ts';
import { printStatus, quote } from './run-sync.ts';
import { tempFolder } from './temp-folder.ts';
import { openRepository, type Repository, RepositoryOpener } from '../../src/git/repository.ts';
import { cleanUp } from './cleanup.ts';

/** The runner for the git of all services and repositories of a mocha. */
export function testGit(): GitClient {
  return (shells ??= new ShellGit());
}

let shells: ShellGit | undefined;

/** An opener of the repository of a folder; what it opens is closed when the test is over. */
export function openerOf(folder: string): RepositoryOpener {
  const opener = new RepositoryOpener(folder, testGit());
  cleanUp(() => opener.close());
  return opener;
}

/** Opens the repository of a folder until the test is over. */
export async function openUntilEnd(folder: string): Promise<Repository> {
  const repository = await openRepository(folder, testGit());
  cleanUp(() => repository.objects.close());
  return repository;
}

/**
 * Runs git from shells, one for each command that runs at the same time: in a third of the CPU time of the service's
 * `GitRunner`, which runs those that connect to another machine.
 */
class ShellGit implements GitClient {
  readonly #shells: Shell[] = [];
  readonly #idle: Shell[] = [];
  #runner: GitRunner | undefined;

  isParent(pid: number): boolean {
    return this.#shells.some((shell) => shell.process.pid === pid) || this.#runner?.isParent(pid) === true;
  }

  async run(command: GitCommand, signal?: AbortSignal): Promise<string> {
    if (command.stallSeconds !== undefined)
      return await (this.#runner ??= new GitRunner()).run(command, signal);
    const shell = this.#idle.pop() ?? this.#start();
    try {
      const output = await runIn(shell, command);
      if (signal?.aborted) throw new GitError(command.args, null, '');
      return output;
    } finally {
      this.#idle.push(shell);
    }
  }

  #start(): Shell {
    const child = spawn('sh', { stdio: ['pipe', 'pipe', 'inherit'], env: createGitEnvironment() });
    child.unref();
    for (const stream of [child.stdin, child.stdout]) if (stream instanceof Socket) stream.unref();
    const shell = { folder: tempFolder(), process: child };
    this.#shells.push(shell);
    return shell;
  }
}

/** A shell that reads commands. */
interface Shell {
  /** Has the input and the output of a command. */
  readonly folder: string;
  readonly process: ChildProcessByStdio<Writable, Readable, null>;
}

async function runIn(shell: Shell, command: GitCommand): Promise<string> {
  const { folder, args, input, indexFile, accepts = 0, outputFile } = command;
  if (input?.length === 0) throw new RangeError('the service gives git no empty input');
  const path = (name: string): string => join(shell.folder, name);
  if (input !== undefined) writeFileSync(path('input'), input);
  const index = indexFile === undefined ? '' : `GIT_INDEX_FILE=${quote(indexFile)} `;
  const words = ['git', ...gitSettings.flatMap((each) => ['-c', each]), '-C', folder, ...args];
  const from = input === undefined ? '/dev/null' : path('input');
  const [out, err] = [outputFile ?? path('stdout'), path('stderr')];
  shell.process.stdin.write(
    `${index}${words.map(quote).join(' ')} <${quote(from)} >${quote(out)} 2>${quote(err)}\n${printStatus}`,
  );
  const [printed] = (await once(shell.process.stdout, 'data')) as [Buffer];
  const status = Number(printed.toString());
  if (status !== 0 && status !== accepts) throw new GitError(args, status, readFileSync(err, 'utf8'));
  return outputFile === undefined ? readFileSync(out, 'utf8') : '';
}
