import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitSync, runSync } from './run-sync.ts';
import { tempFolder, writeFiles } from './temp-folder.ts';

/** A throw-away Git repository, and a person who works in it with the real git. */
export interface TestRepository {
  readonly folder: string;
  /** Runs git as the person would and returns its output, trimmed. @throws when it fails */
  git(...args: string[]): string;
  /** Like `git`, but returns the exit code, and does not throw. */
  tryGit(...args: string[]): number;
  read(path: string): string;
  write(path: string, text: string | Buffer): void;
  /** Writes the files and commits them as the person. Returns the commit's id. */
  commit(files: Readonly<Record<string, string | Buffer>>, message?: string): string;
  /** Makes a commit on another one, or on none, without checking it out. Returns its id. */
  commitOn(parent: string | null, commit: QuickCommit): string;
  /** Makes many commits on the branch in little time, and checks the last one out. Returns their ids. */
  commitAll(commits: readonly QuickCommit[]): string[];
  /** The output of `git status`, a line each: empty if everything is clean. */
  status(): string;
}

/** Files by path: a text, a link, a submodule or an existing blob is put there; null removes one. */
export type Changes = Readonly<
  Record<
    string,
    string | { readonly link: string } | { readonly module: string } | { readonly blob: string } | null
  >
>;

/** A commit that git fast-import makes. */
export interface QuickCommit {
  readonly files: Changes;
  /** Seconds since the epoch: now where it is left out. */
  readonly at?: number;
  readonly message?: string | undefined;
  readonly committer?: string;
  /** A second parent, of which nothing is taken but what `files` has. */
  readonly merged?: string | undefined;
}

/** A repository on `main` that holds `files` in its first commit, in a temp folder or in `folder`. */
export function testRepository(
  files: Readonly<Record<string, string | Buffer>> = {},
  folder = tempFolder(),
): TestRepository {
  cpSync(templateOf(files), folder, { recursive: true, preserveTimestamps: true });
  const repository = repositoryIn(folder);
  repository.git('update-index', '-q', '--refresh');
  return repository;
}

/** Content → a repository that holds it, to be copied. */
const templates = new Map<string, string>();

function templateOf(files: Readonly<Record<string, string | Buffer>>): string {
  const key = createHash('sha256').update(JSON.stringify(files)).digest('hex');
  const known = templates.get(key);
  if (known !== undefined) return known;
  const folder = tempFolder();
  cpSync(emptyRepository(), folder, { recursive: true });
  const repository = repositoryIn(folder);
  writeFiles(folder, files);
  repository.git('add', '-A');
  repository.git('commit', '-q', '-m', 'Begin');
  templates.set(key, folder);
  return folder;
}

let empty: string | undefined;

/** A folder in which git has made a repository, to be copied. */
function emptyRepository(): string {
  if (empty === undefined) {
    empty = tempFolder();
    gitSync({ args: ['init', '-q', '-b', 'main'], cwd: empty });
    const hooks = join(empty, '.git/hooks');
    for (const sample of readdirSync(hooks)) rmSync(join(hooks, sample));
    writeFileSync(join(empty, '.gitignore'), '/var/\n');
  }
  return empty;
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
  const git = (...args: string[]): string => gitSync({ args: [...settings, ...args], cwd: folder });
  return {
    folder,
    git,
    tryGit: (...args) => runSync({ program: 'git', args: [...settings, ...args], cwd: folder }).status ?? -1,
    read: (path) => readFileSync(join(folder, path), 'utf8'),
    write: (path, text) => writeFiles(folder, { [path]: text }),
    commit: (files, message = 'Edit by hand') => {
      writeFiles(folder, files);
      git('add', '-A');
      git('commit', '-q', '--allow-empty', '-m', message);
      return readHead(folder) ?? git('rev-parse', 'HEAD');
    },
    commitOn: (parent, commit) =>
      fastImport(
        folder,
        `${formatCommit(scratchRef, commit, parent)}get-mark :1\nreset ${scratchRef}\nfrom ${'0'.repeat(40)}\n\n`,
      ),
    commitAll: (commits) => {
      const branch = git('symbolic-ref', 'HEAD');
      const parents = [`${branch}^0`];
      fastImport(folder, commits.map((commit) => formatCommit(branch, commit, parents.pop())).join(''));
      git('reset', '-q', '--hard');
      return git('rev-list', '--reverse', `--max-count=${commits.length}`, 'HEAD').split('\n');
    },
    status: () => git('status', '--porcelain'),
  };
}

/** Names a commit while git makes it. */
const scratchRef = 'refs/scratch';

/** Runs git fast-import on its commands, of which each pack is kept; returns what it prints. */
export function fastImport(folder: string, input: string): string {
  const args = ['-c', 'fastimport.unpackLimit=1', 'fast-import', '--quiet', '--done', '--force'];
  return gitSync({ args, cwd: folder, input: `${input}done\n` });
}

/** A commit for git fast-import, as the mark 1. Without a parent it is on the last one that was imported to the ref. */
export function formatCommit(
  ref: string,
  { files, at, message, committer, merged }: QuickCommit,
  parent: string | null = null,
): string {
  const who = `${committer ?? 'Ada'} <ada@example.org> ${at ?? Math.floor(Date.now() / 1000)} +0000`;
  return [
    `commit ${ref}\nmark :1\nauthor ${who}\ncommitter ${who}\n${asData(message ?? 'Edit by hand')}`,
    ...(parent === null ? [] : [`from ${parent}`]),
    ...(merged === undefined ? [] : [`merge ${merged}`]),
    ...Object.entries(files).map(asChange),
    '\n',
  ].join('\n');
}

function asChange([path, entry]: [string, Changes[string]]): string {
  const name = `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
  if (entry === null || entry === undefined) return `D ${name}`;
  if (typeof entry === 'string') return `M 100644 inline ${name}\n${asData(entry)}`;
  if ('link' in entry) return `M 120000 inline ${name}\n${asData(entry.link)}`;
  return 'module' in entry ? `M 160000 ${entry.module} ${name}` : `M 100644 ${entry.blob} ${name}`;
}

function asData(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}`;
}

/** Returns the commit that is checked out, without starting git; undefined if its files do not name it directly. */
function readHead(folder: string): string | undefined {
  try {
    const head = readFileSync(join(folder, '.git/HEAD'), 'utf8').trim();
    return head.startsWith('ref: ') ? readFileSync(join(folder, '.git', head.slice(5)), 'utf8').trim() : head;
  } catch {
    return undefined;
  }
}
