import { readdir, lstat, readFile, rm, readlink } from 'node:fs/promises';
import { join, basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { type Repository, findBranch } from './repository.ts';
import { GitError, gitSettings } from './run-git.ts';

/** Returns whether a command that failed may succeed when it is run again: git was killed. */
export function wasKilled(error: unknown): boolean {
  return error instanceof GitError && error.status === null;
}

/**
 * Removes stale locks and partial packs of a failed git. Returns the number of locks: each may have made another git
 * fail.
 * @throws a system error
 */
export async function removeLeftovers(repository: Repository, error: unknown, log: Log): Promise<number> {
  if (!(error instanceof GitError) || error.startFailure) return 0;
  return await removeStaleLocks(repository, log);
}

/**
 * Removes the locks that killed git processes left, and returns how many; partial packs as well. A lock that a running
 * git may hold stays, also that of another program.
 * @throws a system error
 */
export async function removeStaleLocks(repository: Repository, log: Log): Promise<number> {
  const removed = await removeLocks(repository, log);
  await removePartialPacks(repository);
  return removed;
}

async function removeLocks(repository: Repository, log: Log): Promise<number> {
  for (let waited = 0; waited < staleAfterMs; waited += checkIntervalMs) {
    const first = await findLocks(repository);
    if (first.size === 0) return 0;
    const { seen, othersHidden } = await findGitProcesses(repository);
    const isBusy = seen.some(mayLock);
    await sleep(othersHidden && !isBusy ? hiddenCheckIntervalMs : checkIntervalMs);
    if (isBusy) continue;
    const second = await findLocks(repository);
    if ((await findGitProcesses(repository)).seen.some(mayLock)) continue;
    const stale = [...first.keys()].filter((lock) => second.get(lock) === first.get(lock));
    for (const lock of stale) {
      await rm(lock, { force: true });
      log.warn({ lock }, 'removed the stale lock of a killed git process');
    }
    return stale.length;
  }
  return 0;
}

/** Milliseconds to wait for a running git that may hold a lock, and between two checks. */
const staleAfterMs = 1000;
const checkIntervalMs = 100;

/**
 * Milliseconds between two checks if git processes may be hidden (another container, another user). A running git has
 * released its lock by then: it holds these locks for milliseconds, and waits for those of others for a second at most.
 */
const hiddenCheckIntervalMs = 2000;

/**
 * Removes the leftovers of a crash of the service: locks, partial packs, staged files and crash reports of imports.
 * Call it while this service runs no other git and has the lock of the clone: even if gits may be hidden, partial packs
 * older than this process are removed.
 * @throws a system error
 */
export async function cleanUpAfterCrash(repository: Repository, log: Log): Promise<void> {
  await removeLocks(repository, log);
  await removePartialPacks(repository, performance.timeOrigin);
  await rm(repository.staging, { recursive: true, force: true });
  for (const name of await readdir(repository.gitDir))
    if (name.startsWith('fast_import_crash_')) await rm(join(repository.gitDir, name));
}

/** Waits for the git processes of a runner that has ended, because they may still move a ref; five seconds at most. */
export async function waitForOrphans(repository: Repository): Promise<void> {
  for (let waited = 0; waited < 5000 && (await findOrphans(repository)).length > 0; waited += 20)
    await sleep(20);
}

/**
 * Removes the leftovers of killed and failed gits next to packs and objects. Removes nothing while a running git may
 * write a pack; if gits may be hidden, removes only files older than `hiddenBefore`.
 * @param hiddenBefore milliseconds since the epoch
 * @throws a system error
 */
export async function removePartialPacks(
  repository: Repository,
  hiddenBefore = Date.now() - hiddenPackAgeMs,
): Promise<void> {
  // Listed before the processes are: a git that starts in between writes others.
  const files = await listPartialFiles(join(repository.commonDir, 'objects'));
  if (files.length === 0) return;
  const { seen, othersHidden } = await findGitProcesses(repository);
  if (seen.some((git) => parseCommand(git) !== 'cat-file')) return;
  const before = othersHidden ? hiddenBefore : Number.POSITIVE_INFINITY;
  for (const path of files) {
    const stat = await lstat(path).catch(() => undefined);
    if (stat && stat.mtimeMs < before) await rm(path, { recursive: true, force: true });
  }
}

/** Returns the paths of all locks that block the service or a person's fetch in the clone, held or stale. */
export async function lockFiles(repository: Repository): Promise<string[]> {
  const index = join(repository.gitDir, 'index.lock');
  const found = await lstat(index).catch(() => undefined);
  const ofRemotes = await findLocksBelow(join(repository.commonDir, 'refs/remotes'));
  return [...(found ? [index] : []), ...(await findLocks(repository)).keys(), ...ofRemotes];
}

/** Returns the locks that block the service: path → a text that differs for a later lock at that path. */
async function findLocks(repository: Repository): Promise<Map<string, string>> {
  const { gitDir, commonDir } = repository;
  const branch = findBranch(repository);
  const paths = [
    join(gitDir, 'HEAD.lock'),
    join(commonDir, 'packed-refs.lock'),
    // Written under that lock; git refuses to overwrite it.
    join(commonDir, 'packed-refs.new'),
    join(commonDir, 'objects/info/commit-graphs/commit-graph-chain.lock'),
    ...(branch === undefined ? [] : [join(commonDir, `${branch}.lock`)]),
    ...(await findLocksBelow(join(commonDir, 'refs/botshelf'))),
    ...(await listKeepFiles(join(commonDir, 'objects/pack'), importMark)),
  ];
  const locks = new Map<string, string>();
  for (const path of paths) {
    const stat = await lstat(path).catch(() => undefined);
    if (stat) locks.set(path, `${stat.ino} ${stat.mtimeMs} ${stat.size}`);
  }
  return locks;
}

async function findLocksBelow(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  return names.filter((name) => name.endsWith('.lock')).map((name) => join(folder, name));
}

/** Commands that never lock a ref: stale locks can be removed while they run. */
const lockless =
  'cat-file repack pack-objects commit-graph update-index hash-object merge-tree diff-tree rev-list ls-remote';

/** Commands that lock only refs that no commit needs; a fetch whose lock was removed is run again. */
const transfers = 'fetch push index-pack send-pack unpack-objects remote-http remote-https';

const harmless = new Set(`${lockless} ${transfers}`.split(' '));

function mayLock(process: GitProcess): boolean {
  return !harmless.has(parseCommand(process));
}

/** Returns the git processes that an earlier service started and that may still move a ref. */
async function findOrphans(repository: Repository): Promise<GitProcess[]> {
  const { seen } = await findGitProcesses(repository);
  return seen.filter(
    (git) =>
      !repository.isOwn(git.parent) &&
      // While a process becomes another program, it has no arguments for a moment.
      (git.args.length === 0 || (git.args.includes(gitSettings[0] ?? '') && mayLock(git))),
  );
}

/** Minimum age in milliseconds of a partial pack that a hidden git may be writing, to be removed. It blocks nothing. */
const hiddenPackAgeMs = 600_000;

async function listPartialFiles(objects: string): Promise<string[]> {
  const paths = await readdir(objects, { recursive: true }).catch(() => []);
  const temporary = paths.filter((path) => /^(tmp_|\.tmp-\d+-pack-)/.test(basename(path)));
  const marks = await listKeepFiles(join(objects, 'pack'), importMark, fetchMark);
  return [...temporary.map((path) => join(objects, path)), ...marks];
}

/**
 * Returns the `.keep` files with which fast-import and fetch protect a pack from a repack while they write it.
 * fast-import refuses to write a pack that has one, such as the pack that it was writing when it was killed. A power loss
 * may empty these files. An emptied one is git's if its pack has no index, or if only its owner may read it, unlike a
 * person's own.
 */
async function listKeepFiles(folder: string, ...texts: readonly RegExp[]): Promise<string[]> {
  const names = new Set(await readdir(folder).catch(() => []));
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

const importMark = /^fast-import$/;
const fetchMark = /^fetch-pack \d+ on /;

/** A git process on this machine. */
interface GitProcess {
  readonly pid: number;
  readonly parent: number;
  readonly args: readonly string[];
}

/** The git processes that run in a repository. */
interface GitProcesses {
  readonly seen: readonly GitProcess[];
  /** Whether some may be invisible: in another container, of another user, or all of them without /proc. */
  readonly othersHidden: boolean;
}

/** Returns the git processes whose working folder is in the repository, of this service or not. */
export async function findGitProcesses(
  repository: Pick<Repository, 'folder' | 'gitDir' | 'commonDir'>,
): Promise<GitProcesses> {
  const { folder, gitDir, commonDir } = repository;
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => await inspectProcess(pid, [folder, gitDir, commonDir])),
  );
  return {
    seen: found.filter((process) => typeof process === 'object'),
    othersHidden: found.includes('hidden') || !(await showsAllProcesses()),
  };
}

/** Returns the git command that a process runs, such as fetch. */
export function parseCommand({ args }: GitProcess): string {
  const [, own] = /(?:^|\/)git-([a-z-]+)$/.exec(args[0] ?? '') ?? [];
  if (own !== undefined) return own;
  let i = 1;
  while (args[i]?.startsWith('-')) i += args[i] === '-c' || args[i] === '-C' ? 2 : 1;
  return args[i] ?? '';
}

/** Returns whether /proc has the processes of every user and every container. */
async function showsAllProcesses(): Promise<boolean> {
  try {
    const namespace = await readlink('/proc/self/ns/pid');
    const mounts = await readFile('/proc/self/mounts', 'utf8');
    return namespace === firstNamespace && !/^\S+ \/proc .*\bhidepid=(?!0|off)/m.test(mounts);
  } catch {
    return false;
  }
}

/** The number of the process namespace that Linux starts with. */
const firstNamespace = 'pid:[4026531836]';

async function inspectProcess(
  pid: string,
  folders: readonly string[],
): Promise<GitProcess | 'hidden' | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const end = stat.lastIndexOf(')');
    const name = stat.slice(stat.indexOf('(') + 1, end);
    const [state, parent] = stat.slice(end + 2).split(' ');
    if (!name.startsWith('git') || state === 'Z' || state === 'X') return undefined;
    const cwd = await readlink(`/proc/${pid}/cwd`);
    if (!folders.some((folder) => cwd === folder || cwd.startsWith(`${folder}/`))) return undefined;
    const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').slice(0, -1);
    return { pid: Number(pid), parent: Number(parent), args };
  } catch (error) {
    return codeOf(error) === 'EACCES' ? 'hidden' : undefined;
  }
}
