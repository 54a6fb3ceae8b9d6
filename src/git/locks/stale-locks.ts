import { lstat, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../log.ts';
import { removeStaleIndexLock } from './index-lock.ts';
import { gitSettings } from '../process/settings.ts';
import { GitError } from '../process/git-error.ts';
import { type GitProcess, gitProcessesIn } from './git-processes.ts';
import type { Repository } from '../repository.ts';

/**
 * Returns whether a git command that failed can be retried: git was killed, or it met stale locks, which are removed
 * now.
 * @throws a system error
 */
export async function canRetry(repository: Repository, error: unknown, log: Log): Promise<boolean> {
  if (!(error instanceof GitError) || error.notStarted) return false;
  return (await removeStaleLocks(repository, log)) > 0 || error.status === null;
}

/**
 * Removes the locks that killed git processes left, and returns how many. A lock that a running git may hold stays,
 * also that of another program.
 * @throws a system error
 */
export async function removeStaleLocks(repository: Repository, log: Log): Promise<number> {
  for (let waited = 0; waited < patience; waited += pause) {
    const first = await locksIn(repository);
    if (first.size === 0) return 0;
    const { seen, othersHidden } = await gitProcessesIn(repository);
    await sleep(othersHidden ? hiddenPause : pause);
    if (seen.some(mayLock)) continue;
    const second = await locksIn(repository);
    if ((await gitProcessesIn(repository)).seen.some(mayLock)) continue;
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
const patience = 1000;
const pause = 100;

/**
 * Milliseconds between two checks where git processes may be hidden (another container, another user). A running git has
 * released its lock by then: it holds these locks for milliseconds, and waits for those of others for a second at most.
 */
const hiddenPause = 2000;

/**
 * Cleans up after a crash of the service: waits for the git processes that it had started, as they may still finish,
 * then removes its locks, partial packs and staged files. Call it while this service runs no other git.
 * @throws a system error
 */
export async function cleanUpAfterCrash(repository: Repository, log: Log): Promise<void> {
  for (let waited = 0; waited < 5000 && (await orphans(repository)).length > 0; waited += 20) await sleep(20);
  if (await removeStaleIndexLock(repository))
    log.warn({}, 'removed the stale index lock of a killed service');
  await removeStaleLocks(repository, log);
  await rm(repository.staging, { recursive: true, force: true });
  const { seen, othersHidden } = await gitProcessesIn(repository);
  if (seen.some((git) => commandOf(git) !== 'cat-file')) return;
  const before = othersHidden ? Date.now() - hiddenPackAge : Number.POSITIVE_INFINITY;
  await removePartialPacks(join(repository.commonDir, 'objects/pack'), before);
}

/** Milliseconds after which a partial pack is removed where a hidden git may still write it. It blocks nothing. */
const hiddenPackAge = 600_000;

/** Returns the paths of all locks that block the service or a person's fetch in the clone, held or stale. */
export async function lockFiles(repository: Repository): Promise<string[]> {
  const index = join(repository.gitDir, 'index.lock');
  const found = await lstat(index).catch(() => undefined);
  const ofRemotes = await locksBelow(join(repository.commonDir, 'refs/remotes'));
  return [...(found ? [index] : []), ...(await locksIn(repository)).keys(), ...ofRemotes];
}

/** Returns the locks that block the service: path → what distinguishes the lock from a later one at that path. */
async function locksIn(repository: Repository): Promise<Map<string, string>> {
  const { gitDir, commonDir } = repository;
  const paths = [
    join(gitDir, 'HEAD.lock'),
    join(commonDir, 'packed-refs.lock'),
    join(commonDir, 'objects/info/commit-graphs/commit-graph-chain.lock'),
    ...branchesOf(repository).map((branch) => join(commonDir, `${branch}.lock`)),
    ...(await locksBelow(join(commonDir, 'refs/botshelf'))),
    ...(await keepFilesOfPartialPacks(join(commonDir, 'objects/pack'), importMark)),
  ];
  const locks = new Map<string, string>();
  for (const path of paths) {
    const stat = await lstat(path).catch(() => undefined);
    if (stat) locks.set(path, `${stat.ino} ${stat.mtimeMs} ${stat.size}`);
  }
  return locks;
}

async function locksBelow(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  return names.filter((name) => name.endsWith('.lock')).map((name) => join(folder, name));
}

/** The branch that is checked out; none where there is none. */
function branchesOf(repository: Repository): string[] {
  try {
    return [repository.branch()];
  } catch {
    return [];
  }
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
  return !lockless.has(commandOf(process));
}

function commandOf({ args }: GitProcess): string {
  const [, own] = /(?:^|\/)git-([a-z-]+)$/.exec(args[0] ?? '') ?? [];
  if (own !== undefined) return own;
  let i = 1;
  while (args[i]?.startsWith('-')) i += args[i] === '-c' || args[i] === '-C' ? 2 : 1;
  return args[i] ?? '';
}

/** Returns the git processes that an earlier service started and that may still move a ref. */
async function orphans(repository: Repository): Promise<GitProcess[]> {
  const { seen } = await gitProcessesIn(repository);
  return seen.filter(
    (git) => !repository.isOwn(git.parent) && git.args.includes(gitSettings[0] ?? '') && mayLock(git),
  );
}

/** @param before milliseconds since the epoch: files written later stay */
async function removePartialPacks(folder: string, before: number): Promise<void> {
  const temporary = (await namesIn(folder)).filter((name) => /^tmp_(pack|idx|rev)_/.test(name));
  const marks = await keepFilesOfPartialPacks(folder, importMark, fetchMark);
  for (const path of [...temporary.map((name) => join(folder, name)), ...marks]) {
    const stat = await lstat(path).catch(() => undefined);
    if (stat && stat.mtimeMs < before) await rm(path, { force: true });
  }
}

/**
 * Returns the `.keep` files by which fast-import and fetch protect a pack that they write from a repack. fast-import
 * refuses to write a pack that has one, such as the pack that it was writing when it was killed.
 */
async function keepFilesOfPartialPacks(folder: string, ...texts: readonly RegExp[]): Promise<string[]> {
  const names = new Set(await namesIn(folder));
  const marks: string[] = [];
  for (const name of names) {
    const [, pack] = /^(.+)\.keep$/.exec(name) ?? [];
    if (pack === undefined) continue;
    const path = join(folder, name);
    const text = await readFile(path, 'utf8').catch(() => '');
    const isPartial = text === '' && !names.has(`${pack}.idx`);
    if (isPartial || texts.some((mark) => mark.test(text))) marks.push(path);
  }
  return marks;
}

const importMark = /^fast-import$/;
const fetchMark = /^fetch-pack \d+ on /;

async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => []);
}
