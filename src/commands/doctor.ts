import { existsSync, lstatSync, readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { lstat, readdir, statfs } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { examineConfig, type Config } from '../app/config.ts';
import { findPageConversion, findUncommittedPages } from '../app/uncommitted-pages.ts';
import { readVersion } from '../app/version.ts';
import { botsFolder, listTop } from '../catalogue/page/layout.ts';
import { checkInThreads } from '../check/check.ts';
import { examineJournal } from '../counts/counts.ts';
import { createStateRef } from '../counts/state-ref.ts';
import { readShard, SkippedLines } from '../counts/state.ts';
import { findGitProcesses, lockFiles } from '../git/leftovers.ts';
import { ensureNoOperation, RepositoryOpener, type Repository } from '../git/repository.ts';
import { directClient } from '../git/run-git.ts';
import { computeMaxConnections } from '../http/server.ts';
import { ImageIndex } from '../images/store.ts';
import { ignoreMissing, messageOf } from '../lib/errors.ts';
import { fsyncFolder } from '../lib/files.ts';
import { silentLog } from '../lib/log.ts';
import { formatCount } from '../lib/text.ts';
import { TimeSlice } from '../lib/time-slice.ts';
import * as network from './doctor-network.ts';
import {
  type DoctorCheck,
  printResults,
  runChecks,
  toExitCode,
  failure,
  fine,
  inClone,
  type Outcome,
  toOutcome,
  warning,
} from './doctor-results.ts';
import { formatJson } from './output.ts';

/**
 * Checks everything that a service with these settings depends on, and prints problems with their fixes. Changes
 * nothing, and is safe while the service runs.
 */
export async function doctor({ json = false }: { readonly json?: boolean }): Promise<void> {
  const started = performance.now();
  const examined = examineConfig();
  const repositoryOpener = new RepositoryOpener(examined.config.catalogue);
  const end = new AbortController();
  const context = { ...examined, repositoryOpener, signal: end.signal };
  const results = await runChecks(checks, context, secondsPerCheck);
  end.abort();
  repositoryOpener.close();
  process.stdout.write(
    json ? `${formatJson({ ...readVersion(), checks: results })}\n` : printResults(results, process.stdout),
  );
  process.exitCode = Math.max(...results.map(toExitCode));
  // A check that timed out may keep the process alive, such as one that reads from a disk that hangs.
  if (performance.now() - started > secondsPerCheck * 1000) setTimeout(() => process.exit(), 1000).unref();
}

/** A minute is enough for the pages of 100,000 bots. */
const secondsPerCheck = 60;

/** Every setting can be used, and every BOTSHELF_ variable is one. A service that runs has the secrets that it needs. */
export const checkSettings: DoctorCheck = async (context) => {
  const { config, faults, missing } = context;
  if (faults.length > 0) return toOutcome('error', faults.join('; '));
  const needed = Object.keys(await network.readParts(context)).length === 0 ? missing : [];
  const found = [...needed, ...config.unknown];
  return found.length === 0
    ? fine('every setting can be used, and every BOTSHELF_ variable is one')
    : toOutcome('warning', found.join('; '));
};

/**
 * Git is there, and has the commands that the service uses. It runs in the root folder: the current one may be that of
 * another user, who has called sudo there.
 */
export const checkGit: DoctorCheck = async () =>
  assessGitVersion(await directClient.run({ folder: '/', args: ['--version'] }).catch(() => ''));

/** @param text what `git --version` prints; empty if there is no git */
export function assessGitVersion(text: string): Outcome {
  const [version, major, minor] = /(?<!\d)(\d+)\.(\d+)[\w.]*/.exec(text) ?? [];
  if (version === undefined) return failure('git cannot be run', 'apt-get install git');
  return Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 38)
    ? fine(`Git ${version}`)
    : failure(`Git ${version} is too old to merge without a checkout`, 'install Git 2.38 or later');
}

/**
 * The catalogue is in a clone on a branch, without an operation in progress, converted pages or edited ones, and this
 * user owns the clone and can write to it.
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
  const conversion = await findPageConversion(repository);
  if (conversion !== null) return toOutcome('warning', conversion);
  const pages = config.dev ? [] : await findUncommittedPages(repository, signal);
  if (pages[0]) return toOutcome('warning', `${formatCount(pages.length, 'page')}: ${pages[0].message}`);
  const branch = repository.branch().replace('refs/heads/', '');
  return (
    (await checkOwner(repository, config, lstatSync(repository.gitDir))) ??
    fine(`${repository.folder} is on ${branch}, and this user can write to it`)
  );
};

/**
 * Returns a warning if another user than the owner of the clone owns a file that commits write, or anything in `var/`;
 * null otherwise.
 */
export async function checkOwner(
  { folder, commonDir }: Pick<Repository, 'folder' | 'commonDir'>,
  { catalogue, var: varFolder }: Pick<Config, 'catalogue' | 'var'>,
  { uid, gid }: Pick<Stats, 'uid' | 'gid'>,
): Promise<Outcome | null> {
  const folders = [commonDir, `${commonDir}/objects`, `${commonDir}/refs/heads`, join(catalogue, botsFolder)];
  const paths = folders
    .filter((path) => existsSync(`${path}/.`))
    .flatMap((path) => [path, ...readdirSync(path).map((name) => join(path, name))]);
  const kept = (await ignoreMissing(readdir(varFolder, { recursive: true }))) ?? [];
  const strangers: string[] = [];
  for (const path of [...paths, varFolder, ...kept.map((name) => join(varFolder, name))]) {
    // A running service removes files meanwhile.
    if (((await ignoreMissing(lstat(path)))?.uid ?? uid) !== uid) strangers.push(path);
  }
  if (strangers.length === 0) return null;
  const named = strangers
    .slice(0, 3)
    .map((path) => (path.startsWith(folder) ? relative(folder, path) || '.' : path));
  const chowned = [folder, ...(varFolder.startsWith(`${folder}/`) ? [] : [varFolder])].join(' ');
  return warning(
    `another user than that of the clone owns ${formatCount(strangers.length, 'path')}, such as ${named.join(', ')}`,
    uid === 0
      ? `stop the service, and give all of it to the user that runs it: chown -R USER ${chowned}`
      : `chown -R ${uid}:${gid} ${chowned}`,
  );
}

/** No lock of a killed process stops commits, fetches or pushes, of the service or of a person. */
export const checkLocks = inClone(async (repository) => {
  const old = (await lockFiles(repository)).filter((path) => {
    const writtenAt = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
    return Date.now() - writtenAt > staleAfterMs;
  });
  if (old.length === 0) return fine('none');
  const other = (await findGitProcesses(repository)).seen.find(({ parent }) => parent !== process.pid);
  const running = other === undefined ? '' : `, while git runs there (process ${other.pid})`;
  return warning(
    `${old.join(', ')} ${old.length === 1 ? 'is' : 'are'} older than a minute${running}`,
    `end the git that holds it; where none runs: rm ${old.join(' ')}`,
  );
});

/** Git holds its locks for a moment only. */
const staleAfterMs = 60_000;

/** Writes are durable: the disks of the clone and of `var/` sync, and their names are case-sensitive. */
const checkFileSystem: DoctorCheck = async ({ config, repositoryOpener }) => {
  const repository = await repositoryOpener.open().catch(() => undefined);
  const found: string[] = [];
  for (const path of [repository?.gitDir ?? config.catalogue, findExistingFolder(config.var)]) {
    const outcome = assessFileSystem(path, (await statfs(path)).type);
    if (outcome.state !== 'ok') return outcome;
    const started = performance.now();
    try {
      await fsyncFolder(path);
    } catch (error) {
      return failure(`${path} cannot be synced (${messageOf(error)})`, 'put it on a local disk');
    }
    found.push(`${outcome.reason}, synced in ${(performance.now() - started).toFixed(1)} ms`);
  }
  if (repository && ignoresCase(repository.gitDir))
    return warning(
      `${repository.folder} is on a file system that does not tell capitals from small letters`,
      'put the clone on one that does (ext4, xfs, btrfs), or two pages may become one file',
    );
  return fine(found.join('; '));
};

/** @param type the kind of the file system, as statfs has it */
export function assessFileSystem(path: string, type: number): Outcome {
  const kind = fileSystems.get(type);
  if (kind === undefined) return fine(path);
  if (kind === 'memory')
    return warning(
      `${path} is kept in memory only, and lost at a restart of the machine`,
      'put it on a disk',
    );
  return warning(
    `${path} is on a network or shared file system (${kind}), which may lose what was synced and has no locks between machines`,
    'put it on a local disk (ext4, xfs, btrfs)',
  );
}

/** Numbers of Linux, from statfs(2). */
const fileSystems: ReadonlyMap<number, string> = new Map([
  [0x01_02_19_94, 'memory'],
  [0x85_84_58_f6, 'memory'],
  [0x69_69, 'NFS'],
  [0xff_53_4d_42, 'CIFS'],
  [0xfe_53_4d_42, 'SMB'],
  [0x65_73_55_46, 'FUSE'],
  [0x01_02_19_97, '9P'],
]);

/** Whether `HEAD` is found by another name. */
function ignoresCase(gitDir: string): boolean {
  const other = statSync(join(gitDir, 'hEaD'), { throwIfNoEntry: false });
  return other !== undefined && other.ino === statSync(join(gitDir, 'HEAD')).ino;
}

/** Returns the folder, or the nearest one above it that exists. */
function findExistingFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : findExistingFolder(dirname(folder));
}

/** There is room for commits, the journal and images. */
const checkSpace: DoctorCheck = async ({ config }) => {
  const folder = findExistingFolder(config.var);
  const clone = assessSpace(config.catalogue, await statfs(config.catalogue));
  const others = assessSpace(folder, await statfs(folder));
  return toExitCode(others) > toExitCode(clone) ? others : clone;
};

/** @param disk as statfs returns it */
export function assessSpace(
  path: string,
  disk: Readonly<Record<'bavail' | 'bsize' | 'files' | 'ffree', number>>,
): Outcome {
  const free = disk.bavail * disk.bsize;
  const room = `${path} has ${(free / 2 ** 30).toFixed(1)} GiB free`;
  const fix = 'make room, or move the clone or BOTSHELF_VAR to a larger disk';
  if (free < minFreeBytes) return failure(room, fix);
  if (disk.files > 0 && disk.ffree < minFreeFiles)
    return failure(`${path} has room for ${disk.ffree} more files only`, fix);
  return free < 10 * minFreeBytes ? warning(room, fix) : fine(room);
}

const minFreeBytes = 100 * 2 ** 20;
const minFreeFiles = 10_000;

/** The kernel lets the service watch every folder of the catalogue. */
const checkWatches: DoctorCheck = ({ config }) => {
  const folders = listTop(config.catalogue).length;
  try {
    return assessWatches(folders, readLimit('max_user_watches'), readLimit('max_user_instances'));
  } catch {
    return fine(
      `not checked: this machine has no limits of inotify; the catalogue has ${formatCount(folders, 'folder')}`,
    );
  }
};

function readLimit(name: string): number {
  return Number(readFileSync(`/proc/sys/fs/inotify/${name}`, 'utf8'));
}

/** @param watches how many folders one user may watch @param instances how many watchers one user may have */
export function assessWatches(folders: number, watches: number, instances: number): Outcome {
  const limits = `${formatCount(folders, 'folder')} to watch, and this user may watch ${watches} with ${formatCount(instances, 'watcher')}`;
  const fix = `sysctl -w fs.inotify.max_user_watches=${Math.max(524_288, folders * 4)} fs.inotify.max_user_instances=${Math.max(128, instances)}`;
  if (watches < folders + 1 || instances < 1) return failure(limits, fix);
  // Other programs of the user watch too.
  return watches < folders * 2 + 100 || instances < 16 ? warning(limits, fix) : fine(limits);
}

/** There are enough file descriptors for many connections. */
const checkOpenFiles: DoctorCheck = () => assessOpenFiles(computeMaxConnections());

/** @param connections how many the limit on open files leaves room for */
export function assessOpenFiles(connections: number): Outcome {
  const reason = `the limit on open files leaves room for ${formatCount(connections, 'connection')}`;
  return connections < minConnections
    ? warning(reason, 'LimitNOFILE=65536 in the unit, or ulimit -n 65536')
    : fine(reason);
}

const minConnections = 700;

/** The counts in `var/journal` are whole, and do not wait there for long. */
export const checkJournal: DoctorCheck = async ({ config }) => {
  const folder = join(config.var, 'journal');
  const names = (await ignoreMissing(readdir(folder))) ?? [];
  const damaged = names.filter((name) => name.endsWith('.damaged'));
  if (damaged.length > 0)
    return warning(
      `the journal has ${formatCount(damaged.length, 'damaged part')} set aside, such as ${damaged[0]}; the next posts of those bots replace what is lost`,
      `look at the disk, then rm ${join(folder, '*.damaged')}`,
    );
  const { entries, oldest, damage } = await examineJournal(folder);
  if (damage)
    return failure(
      `${damage.path}:${damage.lines[0]}: ${formatCount(damage.lines.length, 'damaged line')}`,
      'look at the disk; the service skips them, and the next posts of those bots replace what is lost',
    );
  if (entries === 0) return fine('all counts are committed');
  const minutes = Math.round((Date.now() - oldest) / 60_000);
  const waiting = `${formatCount(entries, 'count')} not committed yet`;
  return minutes > 10 + config.stateSeconds / 60
    ? warning(
        `${waiting}, the oldest for ${formatCount(minutes, 'minute')}`,
        'start the service, or see in its log why it cannot commit',
      )
    : fine(waiting);
};

/** The counts and tokens in Git can be read. */
export const checkState = inClone(async (_repository, { repositoryOpener }) => {
  const { commit, shards } = await createStateRef(repositoryOpener, silentLog).read();
  if (commit === null) return fine('there are no counts and tokens yet');
  let bots = 0;
  const skipped = new SkippedLines();
  const slice = new TimeSlice('service');
  for await (const [path, content] of shards)
    await readShard(
      path,
      content,
      slice,
      () => bots++,
      (fault) => skipped.add(fault),
    );
  const [first] = skipped.first;
  return first === undefined
    ? fine(`refs/botshelf/state has ${formatCount(bots, 'bot')}`)
    : failure(
        `refs/botshelf/state has ${formatCount(skipped.first.length + skipped.more, 'faulty line')}, the first is ${first.path}:${first.line} (${first.message})`,
        'git log -p refs/botshelf/state has the lines before; the next posts of those bots replace counts, an author of each issues a new token on its token page',
      );
});

/** Every file of the catalogue is valid. */
export const checkFiles: DoctorCheck = async ({ config }) => {
  const { files, findings } = await checkInThreads(config.catalogue, 'everything');
  const errors = findings.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first === undefined) return fine(formatCount(files, 'valid file'));
  const faulty = new Set(errors.map(({ path }) => path)).size;
  return warning(
    `${formatCount(files, 'file')}, ${faulty} of them faulty, the first is ${first.path}:${first.line}:${first.column} ${first.message}`,
    'botshelf check',
  );
};

/** The images of the bots could be fetched. */
export const checkImages: DoctorCheck = async ({ config }) => {
  if (!config.images) return fine('not checked: BOTSHELF_IMAGES is off');
  const images = await ImageIndex.open(join(config.var, 'appdata/index'));
  const failing = Array.from(images.failures(), ([url, { message }]) => `${url} ${message}`);
  const all = formatCount(images.size, 'image');
  if (failing.length === 0) return fine(`${all} in the cache`);
  const more = failing.length > maxNamedImages ? `; and ${failing.length - maxNamedImages} more` : '';
  return warning(
    `${all}, ${failing.length} of which cannot be fetched: ${failing.slice(0, maxNamedImages).join('; ')}${more}`,
    'correct their addresses by pull request; the service tries again, less and less often',
  );
};

/** Images that are named; the rest are counted. */
const maxNamedImages = 5;

/** Every check, in the order in which they are printed. */
const checks: Readonly<Record<string, DoctorCheck>> = {
  settings: checkSettings,
  git: checkGit,
  clone: checkClone,
  'stale locks': checkLocks,
  'file system': checkFileSystem,
  'disk space': checkSpace,
  inotify: checkWatches,
  'open files': checkOpenFiles,
  remote: network.checkRemote,
  push: network.checkPush,
  clock: network.checkClock,
  service: network.checkService,
  proxy: network.checkProxy,
  'base address': network.checkBaseAddress,
  journal: checkJournal,
  state: checkState,
  files: checkFiles,
  images: checkImages,
  login: network.checkLogin,
};
