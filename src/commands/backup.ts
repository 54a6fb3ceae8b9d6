import { existsSync, readdirSync, rmSync } from 'node:fs';
import { chmod, readdir, readFile, rename, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type CommandConfig, readCommandConfig } from '../app/config.ts';
import { isGitFailure } from '../git/run-git.ts';
import { writeAtomically, fsyncFolder, fsyncTree, makeFolder } from '../lib/files.ts';
import { ignoreMissing, UserError } from '../lib/errors.ts';
import { makeRoom, quoteForShell } from './init.ts';
import { showGit } from './output.ts';

/*
 * A backup is a folder with `catalogue.git`, a bare repository with all refs, and `private-<time>`, the files outside
 * Git. The latter is complete once it has that name.
 */

/**
 * Makes a backup, or updates an earlier one. Safe while a service runs: the backup has every write that was answered
 * before it began. An earlier backup stays valid until this one is complete.
 * @throws {UserError} for a folder with something else
 * @throws {GitError}
 */
export async function backup(name: string): Promise<void> {
  const config = readCommandConfig();
  const folder = resolve(name);
  const mirror = join(folder, 'catalogue.git');
  const query = ['--show-toplevel', '--show-object-format', '--is-shallow-repository', '--show-prefix'];
  const found = await showGit(config.catalogue, ['rev-parse', ...query]);
  const [top = '', format = '', isShallow, prefix = ''] = found.split('\n');
  const branch = (await showGit(config.catalogue, ['symbolic-ref', 'HEAD'])).trim();
  if (!existsSync(mirror)) await makeRoom(folder, name, 0o700);
  await showGit(folder, ['init', '--quiet', '--bare', `--object-format=${format}`, mirror]);
  // The journal comes first: a count that has left it is in the state ref, which is fetched next.
  const unfinished = join(folder, `unfinished-${process.pid}`);
  rmSync(unfinished, { recursive: true, force: true });
  await makeFolder(unfinished);
  for (const [part, path] of listPrivate(config)) await copyDurably(path, join(unfinished, part));
  const parts = ['catalogue.git', ...readdirSync(unfinished)].join(', ');

  const missing = isShallow === 'false' && existsSync(join(mirror, 'shallow')) ? ['--unshallow'] : [];
  const fetch = [...fetchAll, ...missing, '--prune', top, '+refs/*:refs/*'];
  await showGit(mirror, ['fetch', '--atomic', ...fetch]).catch(async (error: unknown) => {
    if (!isGitFailure(error, 'ref-locked')) throw error;
    // No transaction replaces a branch `a` by `a/b`.
    await showGit(mirror, ['fetch', ...fetch]);
  });
  await showGit(mirror, ['symbolic-ref', 'HEAD', branch]);
  await showGit(mirror, ['config', 'botshelf.prefix', prefix]);
  await showGit(mirror, ['-c', 'gc.auto=6700', '-c', 'gc.autoDetach=false', 'gc', '--auto', '--quiet']);
  await showGit(mirror, ['fsck', '--no-dangling', '--progress'], {
    explain: () => `git fsck finds ${mirror} damaged: move ${folder} away, and make a new backup`,
  });

  await fsyncTree(mirror);
  const finished = `private-${new Date().toISOString().replaceAll(/[-:.]/g, '')}`;
  await rename(unfinished, join(folder, finished));
  await fsyncFolder(folder);
  for (const other of readdirSync(folder))
    if (/^(?:private|unfinished)-/.test(other) && other !== finished)
      rmSync(join(folder, other), { recursive: true });
  process.stdout.write(`${folder} has a backup, in which git fsck finds no fault: ${parts}\n`);
}

/**
 * Restores the catalogue and the var folder of the settings from a backup.
 * @throws {UserError} if there is no backup, or a target exists already
 * @throws {GitError}
 */
export async function restore(name: string): Promise<void> {
  const config = readCommandConfig();
  const { catalogue, blocked, remote } = config;
  const folder = resolve(name);
  const mirror = join(folder, 'catalogue.git');
  const names = existsSync(folder) ? readdirSync(folder).toSorted() : [];
  const finished = names.findLast((each) => each.startsWith('private-'));
  if (finished === undefined)
    throw new UserError(`${JSON.stringify(name)} has no backup: pass the folder of one that was completed`);
  const prefix = (await showGit(mirror, ['config', '--get', 'botshelf.prefix'])).trim();
  const top = resolve(catalogue, prefix.replaceAll(/[^/]+/g, '..'));
  if (join(top, prefix, '/') !== join(catalogue, '/'))
    throw new UserError(
      `the catalogue is in ${prefix} of this repository: let BOTSHELF_CATALOGUE end in /${prefix.slice(0, -1)}`,
    );
  for (const place of [top, catalogue, config.var]) await makeRoom(place, place);
  if (blocked !== null && existsSync(blocked)) throw new UserError(`${blocked} is there: move it away`);

  const format = (await showGit(mirror, ['rev-parse', '--show-object-format'])).trim();
  await showGit(top, ['init', '--quiet', `--object-format=${format}`]);
  const branch = (await showGit(mirror, ['symbolic-ref', 'HEAD'])).trim();
  await showGit(top, ['symbolic-ref', 'HEAD', branch]);
  await showGit(top, ['fetch', '--atomic', ...fetchAll, '--update-head-ok', mirror, '+refs/*:refs/*']);
  for (const [part, path] of listPrivate(config)) await copyDurably(join(folder, finished, part), path);
  // The files come last: without them the service does not start on a half restored catalogue.
  await showGit(top, ['reset', '--hard']);
  await fsyncTree(top);
  const isNamed = remote !== null && /^[\w.-]+$/.test(remote);
  const shown = quoteForShell(top);
  const steps = isNamed ? `git -C ${shown} remote add ${remote} ADDRESS, ` : '';
  process.stdout.write(`${catalogue} is restored. Next: ${steps}botshelf doctor, botshelf serve\n`);
}

/** Without `--update-shallow` the fetch from a shallow repository succeeds and leaves its branches out. */
const fetchAll = [
  '--quiet',
  '--progress',
  '--update-shallow',
  '--no-write-fetch-head',
  '--no-auto-maintenance',
];

/** Returns the files that no ref has and no start can rebuild: their names in a backup, and their paths here. */
function listPrivate({ var: folder, blocked }: CommandConfig): [string, string][] {
  const parts = ['journal', 'reports', 'cookie-secret', 'log-outs.json'];
  const inVar = parts.map((part): [string, string] => [part, join(folder, part)]);
  return blocked === null ? inVar : [...inVar, ['blocked.json', blocked]];
}

/**
 * Copies a file or a folder, for this user alone to read. Missing files, and those that disappear meanwhile, are
 * skipped.
 */
async function copyDurably(from: string, to: string): Promise<void> {
  const stats = await ignoreMissing(stat(from));
  if (stats?.isDirectory()) {
    await makeFolder(to);
    await chmod(to, 0o700);
    for (const name of await readdir(from)) await copyDurably(join(from, name), join(to, name));
    return;
  }
  const bytes = stats && (await ignoreMissing(readFile(from)));
  if (!bytes) return;
  await makeFolder(dirname(to));
  await writeAtomically(to, bytes, { fsync: 'content and name', mode: 0o600 });
}
