import { lstat, readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../lib/log.ts';
import { removeStaleIndexLock } from './index-lock.ts';
import { gitSettings } from './process/settings.ts';
import { GitError } from './process/git-error.ts';
import { parseCommand, type GitProcess, findGitProcesses } from './git-processes.ts';
import { findBranch, type Repository } from './repository.ts';

/** Returns whether a command that failed may succeed when it is run again: git was killed. */
export function wasKilled(error: unknown): boolean {
  return error instanceof GitError && error.status === null;
}

/**
 * Removes what a failed git has left: stale locks and partial packs. Returns how many locks, each of which may be why
 * another git failed.
 * @throws a system error
 */
export async function removeLeftovers(repository: Repository, error: unknown, log: Log): Promise<number> {
  if (!(error instanceof GitError) || error.notStarted) return 0;
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
 * Milliseconds between two checks where git processes may be hidden (another container, another user). A running git has
 * released its lock by then: it holds these locks for milliseconds, and waits for those of others for a second at most.
 */
const hiddenCheckIntervalMs = 2000;

/**
 * Cleans up after a crash of the service: waits for the git processes that it had started, as they may still finish,
 * then removes its locks, partial packs, staged files and reports of what it was importing. Call it while this service runs no
 * other git and has the lock of the clone: where gits may be hidden, a partial pack that is older than this process is removed.
 * @throws a system error
 */
export async function cleanUpAfterCrash(repository: Repository, log: Log): Promise<void> {
  await waitForOrphans(repository);
  if (await removeStaleIndexLock(repository))
    log.warn({}, 'removed the stale index lock of a killed service');
  await removeLocks(repository, log);
  await removePartialPacks(repository, performance.timeOrigin);
  await rm(repository.staging, { recursive: true, force: true });
  for (const name of await readdir(repository.gitDir))
    if (name.startsWith('fast_import_crash_')) await rm(join(repository.gitDir, name));
}

/** Waits for the git processes of a runner that has ended, as they may still move a ref; five seconds at most. */
export async function waitForOrphans(repository: Repository): Promise<void> {
  for (let waited = 0; waited < 5000 && (await findOrphans(repository)).length > 0; waited += 20)
    await sleep(20);
}

/**
 * Removes what killed and failed gits have left beside packs and objects. Nothing is removed while a git runs that may write a
 * pack; where gits may be hidden, only what is old.
 * @param hiddenBefore the time before which that was written, in milliseconds since the epoch
 * @throws a system error
 */
export async function removePartialPacks(
  repository: Repository,
  hiddenBefore = Date.now() - hiddenPackAge,
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

/** Returns the locks that block the service: path → what distinguishes the lock from a later one at that path. */
async function findLocks(repository: Repository): Promise<Map<string, string>> {
  const { gitDir, commonDir } = repository;
  const branch = findBranch(repository);
  const paths = [
    join(gitDir, 'HEAD.lock'),
    join(commonDir, 'packed-refs.lock'),
    // Written under that lock; git refuses to write over it.
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
const lockless = new Set([
  'cat-file',
  'repack',
  'pack-objects',
  'commit-graph',
  'update-index',
  'hash-object',
  'merge-tree',
  'diff-tree',
  'rev-list',
  'ls-remote',
  // These lock no ref that a commit needs, and a fetch that loses its lock is repeated.
  'fetch',
  'push',
  'index-pack',
  'send-pack',
  'unpack-objects',
  'remote-http',
  'remote-https',
]);

function mayLock(process: GitProcess): boolean {
  return !lockless.has(parseCommand(process));
}

/** Returns the git processes that an earlier service started and that may still move a ref. */
async function findOrphans(repository: Repository): Promise<GitProcess[]> {
  const { seen } = await findGitProcesses(repository);
  return seen.filter(
    (git) => !repository.isOwn(git.parent) && git.args.includes(gitSettings[0] ?? '') && mayLock(git),
  );
}

/** Milliseconds after which a partial pack is removed where a hidden git may still write it. It blocks nothing. */
const hiddenPackAge = 600_000;

async function listPartialFiles(objects: string): Promise<string[]> {
  const paths = await readdir(objects, { recursive: true }).catch(() => []);
  const temporary = paths.filter((path) => /^(tmp_|\.tmp-\d+-pack-)/.test(basename(path)));
  const marks = await listKeepFiles(join(objects, 'pack'), importMark, fetchMark);
  return [...temporary.map((path) => join(objects, path)), ...marks];
}

/**
 * Returns the `.keep` files by which fast-import and fetch protect a pack that they write from a repack. fast-import
 * refuses to write a pack that has one, such as the pack that it was writing when it was killed. A power loss may take
 * their text: those of git are readable for their owner alone, unlike one that a person has made to keep a pack.
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
