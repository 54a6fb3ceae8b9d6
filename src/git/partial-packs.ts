import { lstat, readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { GitError } from './process/git-error.ts';
import type { Repository } from './repository.ts';
import { parseCommand, findGitProcesses } from './git-processes.ts';

/**
 * Removes what killed and failed gits have left beside packs and objects. Nothing is removed while a git runs that may write a
 * pack; where gits may be hidden, only what is old.
 * @throws a system error
 */
export async function removePartialPacks(repository: Repository): Promise<void> {
  // Listed before the processes are: a git that starts in between writes others.
  const files = await listPartialFiles(join(repository.commonDir, 'objects'));
  if (files.length === 0) return;
  const { seen, othersHidden } = await findGitProcesses(repository);
  if (seen.some((git) => parseCommand(git) !== 'cat-file')) return;
  const before = othersHidden ? Date.now() - hiddenPackAge : Number.POSITIVE_INFINITY;
  for (const path of files) {
    const stat = await lstat(path).catch(() => undefined);
    if (stat && stat.mtimeMs < before) await rm(path, { recursive: true, force: true });
  }
}

/** Milliseconds after which a partial pack is removed where a hidden git may still write it. It blocks nothing. */
const hiddenPackAge = 600_000;

/** Removes the files that a failed git has left and names: its pack, as the disk is full, and its report. */
export async function removeNamedFiles(
  { gitDir, commonDir }: Repository,
  { stderr }: GitError,
): Promise<void> {
  const packs = stderr.match(/(?<=objects\/pack\/)tmp_\w+/g) ?? [];
  const reports = stderr.match(/\bfast_import_crash_\d+/g) ?? [];
  const paths = [
    ...packs.map((name) => join(commonDir, 'objects/pack', name)),
    ...reports.map((name) => join(gitDir, name)),
  ];
  for (const path of paths) await rm(path, { force: true });
}

async function listPartialFiles(objects: string): Promise<string[]> {
  const paths = await readdir(objects, { recursive: true }).catch(() => []);
  const temporary = paths.filter((path) => /^(tmp_|\.tmp-\d+-pack-)/.test(basename(path)));
  const marks = await keepFilesOfPartialPacks(join(objects, 'pack'), importMark, fetchMark);
  return [...temporary.map((path) => join(objects, path)), ...marks];
}

/**
 * Returns the `.keep` files by which fast-import and fetch protect a pack that they write from a repack. fast-import
 * refuses to write a pack that has one, such as the pack that it was writing when it was killed. A power loss may take
 * their text: those of git are readable for their owner alone, unlike one that a person has made to keep a pack.
 */
export async function keepFilesOfPartialPacks(
  folder: string,
  ...texts: readonly RegExp[]
): Promise<string[]> {
  const names = new Set(await readNamesIn(folder));
  const marks: string[] = [];
  for (const name of names) {
    const [, pack] = /^(.+)\.keep$/.exec(name) ?? [];
    if (pack === undefined) continue;
    const path = join(folder, name);
    const text = await readFile(path, 'utf8').catch(() => '');
    const mode = (await lstat(path).catch(() => undefined))?.mode ?? 0;
    const isPartial = /^\0*$/.test(text) && (!names.has(`${pack}.idx`) || (mode & 0o777) === 0o600);
    if (isPartial || texts.some((mark) => mark.test(text))) marks.push(path);
  }
  return marks;
}

export const importMark = /^fast-import$/;
const fetchMark = /^fetch-pack \d+ on /;

async function readNamesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => []);
}
