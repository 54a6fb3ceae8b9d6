import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { join, relative } from 'node:path';
import { ensureNoOperation } from '../../git/locks/index-lock.ts';
import { findGitProcesses } from '../../git/locks/git-processes.ts';
import { lockFiles } from '../../git/locks/stale-locks.ts';
import { directClient } from '../../git/process/run-git.ts';
import type { Repository } from '../../git/repository.ts';
import { botsFolder } from '../../catalogue/page/layout.ts';
import { findUncommittedPages } from '../../app/uncommitted-pages.ts';
import { type DoctorCheck, failure, fine, inClone, type Outcome, toOutcome, warning } from './results.ts';
import { messageOf } from '../../lib/errors.ts';
import { formatCount } from '../../lib/counted.ts';

/**
 * Git is there, and has the commands that the service uses. It runs in the root folder: the current one may be that of
 * another user, who has called sudo there.
 */
export const checkGit: DoctorCheck = async () => {
  const version = await directClient.run({ folder: '/', args: ['--version'] }).catch(() => '');
  return assessGitVersion(version);
};

/** @param text what `git --version` prints; empty where there is no git */
export function assessGitVersion(text: string): Outcome {
  const [, version, major, minor] = /(?<version>(\d+)\.(\d+)[\w.]*)/.exec(text) ?? [];
  if (version === undefined) return failure('git cannot be run', 'apt-get install git');
  const isNew = Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 38);
  return isNew
    ? fine(`Git ${version}`)
    : failure(`Git ${version} is too old to merge without a checkout`, 'install Git 2.38 or later');
}

/**
 * The catalogue is in a clone on a branch, with nothing in progress and no page edited, that this user can write to and
 * owns.
 */
export const checkClone: DoctorCheck = async ({ config, repositoryOpener, signal }) => {
  const repository = await repositoryOpener.open();
  const reason = repositoryOpener.unavailableReason();
  if (reason !== undefined) return toOutcome('error', reason);
  try {
    ensureNoOperation(repository);
  } catch (error) {
    return toOutcome('warning', messageOf(error));
  }
  const pages = config.dev ? [] : await findUncommittedPages(repository, signal);
  if (pages[0]) return toOutcome('warning', `${formatCount(pages.length, 'page')}: ${pages[0].message}`);
  const branch = repository.branch().replace('refs/heads/', '');
  return (
    checkOwner(repository, config.catalogue, lstatSync(repository.gitDir)) ??
    fine(`${repository.folder} is on ${branch}, and this user can write to it`)
  );
};

/** Returns a warning where files of the clone belong to another user than its owner; null where none do. */
export function checkOwner(
  repository: Pick<Repository, 'folder' | 'commonDir'>,
  catalogue: string,
  { uid, gid }: Pick<Stats, 'uid' | 'gid'>,
): Outcome | null {
  const strangers = listForeignPaths(repository, catalogue, uid);
  if (strangers.length === 0) return null;
  const named = strangers.slice(0, 3).join(', ');
  return warning(
    `another user than that of the clone owns ${formatCount(strangers.length, 'path')}, such as ${named}`,
    `chown -R ${uid}:${gid} ${repository.folder}`,
  );
}

/** Returns the files and folders that are written for a commit and belong to another user, relative to the clone. */
function listForeignPaths(
  { folder, commonDir }: Pick<Repository, 'folder' | 'commonDir'>,
  catalogue: string,
  uid: number,
): string[] {
  const bots = join(catalogue, botsFolder);
  const folders = [commonDir, join(commonDir, 'objects'), join(commonDir, 'refs/heads'), bots];
  const paths = folders.flatMap((path) => [path, ...listNamesIn(path).map((name) => join(path, name))]);
  return paths
    .filter((path) => {
      const stat = lstatSync(path, { throwIfNoEntry: false });
      return stat !== undefined && stat.uid !== uid;
    })
    .map((path) => relative(folder, path) || '.');
}

function listNamesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** No lock of a killed process stops commits, fetches or pushes, of the service or of a person. */
export const checkLocks = inClone(async (repository) => {
  const locks = await lockFiles(repository);
  const old = locks.filter((path) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat !== undefined && Date.now() - stat.mtimeMs > staleAfter;
  });
  if (old.length === 0) return fine('none');
  const { seen } = await findGitProcesses(repository);
  const others = seen.filter(({ parent }) => parent !== process.pid);
  const running = others.length === 0 ? '' : `, while git runs there (process ${others[0]?.pid})`;
  return warning(
    `${old.join(', ')} ${old.length === 1 ? 'is' : 'are'} older than a minute${running}`,
    `end the git that holds it; where none runs: rm ${old.join(' ')}`,
  );
});

/** Milliseconds. Git holds its locks for a moment only. */
const staleAfter = 60_000;
