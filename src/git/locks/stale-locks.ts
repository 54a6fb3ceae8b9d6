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
 * Whether what failed may work when it is tried again: git was killed, or something that a killed git has left stood in
 * its way and is gone now.
 * @throws a system error
 */
export async function mayWorkAgain(
  repository: Repository,
  refs: readonly string[],
  error: unknown,
  log: Log,
): Promise<boolean> {
  if (!(error instanceof GitError) || error.notStarted) return false;
  const cleared = await clearDeadLocks(repository, refs, log);
  return cleared > 0 || error.status === null;
}

/**
 * Clears what killed git processes have left and no git can hold that runs now: a live lock is never stolen, whoever
 * holds it. Gives how many were cleared.
 */
async function clearDeadLocks(repository: Repository, refs: readonly string[], log: Log): Promise<number> {
  for (let waited = 0; waited < patience; waited += pause) {
    const first = await locksIn(repository, refs);
    if (first.size === 0) return 0;
    const { seen, othersHidden } = await gitProcessesIn(repository);
    await sleep(othersHidden ? hiddenPause : pause);
    if (seen.some(mayLock)) continue;
    const second = await locksIn(repository, refs);
    if ((await gitProcessesIn(repository)).seen.some(mayLock)) continue;
    const dead = [...first.keys()].filter((lock) => second.get(lock) === first.get(lock));
    for (const lock of dead) {
      await rm(lock, { force: true });
      log.warn({ lock }, 'cleared the lock of a git that was killed');
    }
    return dead.length;
  }
  return 0;
}

/** Milliseconds that a git which runs now and may hold a lock is waited for, and between two looks. */
const patience = 1000;
const pause = 100;

/**
 * Milliseconds between two looks where a git may be hidden (another container, another user): a git that lives has
 * gone on within that time, since it holds these locks for milliseconds and lets others wait for a second at most.
 */
const hiddenPause = 2000;

/**
 * Clears what a crash of the service has left: waits for the git processes it had started, for they may still
 * finish; then its locks, half-written packs and files go. Called while nothing else of ours runs.
 * @throws a system error
 */
export async function clearAfterCrash(
  repository: Repository,
  refs: readonly string[],
  log: Log,
): Promise<void> {
  for (let waited = 0; waited < 5000 && (await orphans(repository)).length > 0; waited += 20) await sleep(20);
  if (await removeStaleIndexLock(repository))
    log.warn({}, 'cleared the index lock of a service that was killed');
  await clearDeadLocks(repository, refs, log);
  await rm(repository.staging, { recursive: true, force: true });
  const { seen, othersHidden } = await gitProcessesIn(repository);
  if (seen.some(writesPacks)) return;
  const before = othersHidden ? Date.now() - hiddenPackTime : Number.POSITIVE_INFINITY;
  await clearHalfPacks(join(repository.commonDir, 'objects/pack'), before);
}

/**
 * Milliseconds for which a half-written pack is left alone where a git may be hidden that is still writing it. Nothing
 * fails for it.
 */
const hiddenPackTime = 600_000;

/** What stands in the way of a commit to these refs, whoever holds it: by path, what tells it from a later one. */
async function locksIn(
  { gitDir, commonDir }: Repository,
  refs: readonly string[],
): Promise<Map<string, string>> {
  const paths = [
    join(gitDir, 'HEAD.lock'),
    join(commonDir, 'packed-refs.lock'),
    join(commonDir, 'objects/info/commit-graphs/commit-graph-chain.lock'),
    ...refs.map((ref) => join(commonDir, `${ref}.lock`)),
    ...(await halfPackMarks(join(commonDir, 'objects/pack'), importMark)),
  ];
  const locks = new Map<string, string>();
  for (const path of paths) {
    const stat = await lstat(path).catch(() => undefined);
    if (stat) locks.set(path, `${stat.ino} ${stat.mtimeMs} ${stat.size}`);
  }
  return locks;
}

/** Commands that never lock a ref, so that ours need not end before a dead lock goes. */
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
  // They lock refs that are ours alone, and none that a commit needs.
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

function writesPacks(process: GitProcess): boolean {
  return commandOf(process) !== 'cat-file';
}

function commandOf({ args }: GitProcess): string {
  const [, own] = /(?:^|\/)git-([a-z-]+)$/.exec(args[0] ?? '') ?? [];
  if (own !== undefined) return own;
  let i = 1;
  while (args[i]?.startsWith('-')) i += args[i] === '-c' || args[i] === '-C' ? 2 : 1;
  return args[i] ?? '';
}

/** Git processes that an earlier service has started, and that may yet move a ref. */
async function orphans(repository: Repository): Promise<GitProcess[]> {
  const { seen } = await gitProcessesIn(repository);
  return seen.filter(
    (git) => !repository.isOwn(git.parent) && git.args.includes(gitSettings[0] ?? '') && mayLock(git),
  );
}

/** @param before what was written to later, in milliseconds since the epoch, stays */
async function clearHalfPacks(folder: string, before: number): Promise<void> {
  const torn = (await namesIn(folder)).filter((name) => /^tmp_(pack|idx|rev)_/.test(name));
  const marks = await halfPackMarks(folder, importMark, fetchMark);
  for (const path of [...torn.map((name) => join(folder, name)), ...marks]) {
    const stat = await lstat(path).catch(() => undefined);
    if (stat && stat.mtimeMs < before) await rm(path, { force: true });
  }
}

/**
 * The files by which fast-import and fetch keep a pack, while they are at it, from one who repacks. fast-import refuses
 * to write a pack that is marked already, such as the very one that it was writing when it was killed.
 */
async function halfPackMarks(folder: string, ...texts: readonly RegExp[]): Promise<string[]> {
  const names = new Set(await namesIn(folder));
  const marks: string[] = [];
  for (const name of names) {
    const [, pack] = /^(.+)\.keep$/.exec(name) ?? [];
    if (pack === undefined) continue;
    const path = join(folder, name);
    const text = await readFile(path, 'utf8').catch(() => '');
    const isTorn = text === '' && !names.has(`${pack}.idx`);
    if (isTorn || texts.some((mark) => mark.test(text))) marks.push(path);
  }
  return marks;
}

const importMark = /^fast-import$/;
const fetchMark = /^fetch-pack \d+ on /;

async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => []);
}
