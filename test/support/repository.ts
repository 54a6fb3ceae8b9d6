import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tempFolder } from './temp-folder.ts';

/** A throw-away Git repository, and a person who works in it with the real git. */
export interface TestRepository {
  readonly folder: string;
  /** Runs git as the person would and returns its output, trimmed. @throws when it fails */
  git(...args: string[]): string;
  /** The same, but returns the exit code, and does not throw. */
  tryGit(...args: string[]): number;
  read(path: string): string;
  write(path: string, text: string | Buffer): void;
  /** Writes the files and commits them as the person. Returns the commit's id. */
  commit(files: Readonly<Record<string, string | Buffer>>, message?: string): string;
  /** What `git status` shows, a line each: empty when everything is clean. */
  status(): string;
}

/** A repository on `main` that holds `files` in its first commit, in a temp folder or in `folder`. */
export function testRepository(
  files: Readonly<Record<string, string | Buffer>> = {},
  folder = tempFolder(),
): TestRepository {
  execFileSync('git', ['init', '-q', '-b', 'main', folder]);
  const repository = repositoryIn(folder);
  repository.write('.gitignore', '/var/\n');
  repository.commit(files, 'Begin');
  return repository;
}

/** The person in a repository that is there already. */
export function repositoryIn(folder: string): TestRepository {
  const settings = [
    'user.name=Ada',
    'user.email=ada@example.org',
    'commit.gpgSign=false',
    // Or each commit, merge and fetch starts a process that finds nothing to clean up.
    'maintenance.auto=false',
  ].flatMap((setting) => ['-c', setting]);
  const git = (...args: string[]): string =>
    execFileSync('git', [...settings, ...args], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 2 ** 28,
    }).trim();
  const write = (path: string, text: string | Buffer): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  return {
    folder,
    git,
    tryGit: (...args) =>
      spawnSync('git', [...settings, ...args], { cwd: folder, stdio: 'ignore' }).status ?? -1,
    read: (path) => readFileSync(join(folder, path), 'utf8'),
    write,
    commit: (files, message = 'Edit by hand') => {
      for (const [path, text] of Object.entries(files)) write(path, text);
      git('add', '-A');
      git('commit', '-q', '--allow-empty', '-m', message);
      return git('rev-parse', 'HEAD');
    },
    status: () => git('status', '--porcelain'),
  };
}
