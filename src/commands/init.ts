import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SettingsFile } from '../../schemas/types.ts';
import { readCommit } from '../app/version.ts';
import { validate } from '../bot/validate.ts';
import { botsFolder, gitkeep } from '../catalogue/page/layout.ts';
import { settingsName } from '../catalogue/settings/settings.ts';
import { type GitHostId, gitHosts } from '../git/hosts.ts';
import { runCommandLineGit, GitError, removeCredentials } from '../git/run-git.ts';
import { UserError, codeOf } from '../lib/errors.ts';
import { fsyncTree, makeFolder } from '../lib/files.ts';

export interface InitOptions {
  readonly samples?: boolean;
  readonly branch: string;
  readonly host: GitHostId;
  readonly checker?: string;
}

/** Creates a repository with a catalogue in it. @throws {UserError} */
export async function init(
  name: string,
  { samples = false, branch, host, checker }: InitOptions,
): Promise<void> {
  if (!isBranchName(branch))
    throw new UserError(`${JSON.stringify(branch)} is not a branch name: pass one such as main`);
  const spec = checker === undefined ? await findDefaultChecker() : toPackageSpec(checker);
  const folder = resolve(name);
  await makeRoom(folder, name);
  copyTemplate(folder, samples, host, spec);
  writeFileSync(join(folder, settingsName), formatSettings(basename(folder)));
  try {
    await commitAll(folder, branch);
    await fsyncTree(folder);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new UserError(`git could not make the repository in ${folder}: ${error.reason}`);
  }
  process.stdout.write(formatNextSteps(relative(process.cwd(), folder) || '.', folder, spec));
}

/** Returns the spec to give to npm for the address of a package file or of a Git repository. @throws {UserError} */
function toPackageSpec(spec: string): string {
  // Without git+, npm treats an address as that of a package file.
  if (/^https?:\/\/[\w.:/~-]+\.git(?:#[\w./-]+)?$/.test(spec)) return `git+${spec}`;
  if (/^(?:git\+)?(?:https?|ssh|file):\/\/[\w.:/~@-]+(?:#[\w./-]+)?$/.test(spec)) return spec;
  throw new UserError(
    `${JSON.stringify(spec)} names no checker: pass the address of a package file, or git+https://HOST/REPOSITORY.git#COMMIT`,
  );
}

/**
 * Returns the commit of this program at the address of its project, or else the address that npm installed it from, or else
 * its folder. Never a bare name, because a registry may have somebody else's package under it.
 */
async function findDefaultChecker(): Promise<string> {
  const commit = readCommit(home);
  const origin = await runCommandLineGit(home, [
    'config',
    '--file=.git/config',
    '--get',
    'remote.origin.url',
  ]).catch(() => '');
  const { host, pathname } = /^https:\/\/\S+$/.test(origin.trim()) ? new URL(origin.trim()) : {};
  if (commit !== null && host !== undefined) return toPackageSpec(`git+https://${host}${pathname}#${commit}`);
  const address = readInstalledFrom();
  return /^(?:git\+)?https:/.test(address) ? removeCredentials(address) : `file://${home}`;
}

/** Returns where npm installed this program from: an address or a path. Empty if npm did not. */
function readInstalledFrom(): string {
  try {
    const lock = JSON.parse(readFileSync(join(home, '../.package-lock.json'), 'utf8')) as {
      packages: { 'node_modules/botshelf': { resolved: string } };
    };
    return lock.packages['node_modules/botshelf'].resolved;
  } catch {
    return '';
  }
}

/** The folder of the package. */
const home = fileURLToPath(new URL('.', import.meta.resolve('#package')));

/** Stricter than Git: letters and digits, with . _ - / between them. */
function isBranchName(name: string): boolean {
  return /^[A-Za-z0-9]+(?:[._/-][A-Za-z0-9]+)*$/.test(name) && !/\.lock(?:\/|$)/.test(name);
}

/** Makes a folder, or finds it empty. @param name the folder in errors @param mode of makeFolder @throws {UserError} */
export async function makeRoom(folder: string, name: string, mode?: number): Promise<void> {
  try {
    await makeFolder(folder, mode);
    if (readdirSync(folder).length === 0) return;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' && codeOf(error) !== 'ENOTDIR') throw error;
    throw new UserError(`${JSON.stringify(name)} is not a folder: use a new or empty one`);
  }
  throw new UserError(`${JSON.stringify(name)} is not empty: use a new or empty folder`);
}

/** Fills a folder with the files of a new catalogue on a Git host, with the sample bots or without. */
export function copyTemplate(
  folder: string,
  samples: boolean,
  host: GitHostId,
  checker = `file://${home}`,
): void {
  for (const part of ['common', host])
    cpSync(join(home, 'catalogue-template', part), folder, { recursive: true });
  // Under their real names they would apply to the template, and npm leaves a .gitignore out of a package.
  for (const file of ['gitattributes', 'gitignore']) renameSync(join(folder, file), join(folder, `.${file}`));
  const pipeline = join(folder, gitHosts[host].pipeline);
  writeFileSync(
    pipeline,
    readFileSync(pipeline, 'utf8').replace('CHECKER', () => checker),
  );
  mkdirSync(join(folder, botsFolder));
  if (samples) cpSync(join(home, botsFolder), join(folder, botsFolder), { recursive: true });
  else writeFileSync(join(folder, botsFolder, gitkeep), '');
}

/** Returns the text of settings for a new catalogue: only a name, that of its folder. */
function formatSettings(folder: string): string {
  const named: SettingsFile = { name: folder };
  const settings = validate('settings', named).length === 0 ? named : { name: 'Our bots' };
  return `${JSON.stringify(settings, null, 2)}\n`;
}

/** Turns a folder into a repository with one commit. @throws {GitError} */
export async function commitAll(folder: string, branch: string): Promise<void> {
  await runCommandLineGit(folder, ['init', '--quiet', `--initial-branch=${branch}`]);
  await runCommandLineGit(folder, ['add', '--all']);
  const email = await runCommandLineGit(folder, ['config', '--default=', '--get', 'user.email']);
  const identity =
    email.trim() === '' ? ['-c', 'user.name=Botshelf', '-c', 'user.email=botshelf@localhost'] : [];
  await runCommandLineGit(folder, [...identity, 'commit', '--quiet', '--message=Begin the catalogue']);
}

function formatNextSteps(shown: string, folder: string, checker: string): string {
  const launcher = fileURLToPath(new URL('bin/botshelf.js', import.meta.resolve('#package')));
  const botshelf = `BOTSHELF_CATALOGUE=${quoteForShell(folder)} ${quoteForShell(launcher)}`;
  return `${shown} is a catalogue now.

  see it      ${botshelf} serve
  add a bot   ${botshelf} new 123456789012345678
  share it    create an empty repository on a Git host, then in ${shown}:
              git remote add origin ADDRESS && git push --set-upstream origin HEAD

Its README.md tells contributors what to do, its MAINTAINERS.md how to have pull requests checked. The check installs
${checker}; if npm cannot install that, name another in the line with BOTSHELF: (--checker).
`;
}

/** Returns a text quoted as one word of a shell command. */
export function quoteForShell(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
