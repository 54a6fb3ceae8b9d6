import { lstat, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { removeStaleIndexLock } from './commit/index-lock.ts';
import { gitSettings } from './git-process.ts';
import { GitExit } from './git-exit.ts';
import { type GitProcess, gitProcessesIn } from './git-processes.ts';
import type { Repository } from './repository.ts';

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
  if (!(error instanceof GitExit) || error.notStarted) return false;
  const cleared = await clearDeadLocks(repository, refs, log);
  return cleared > 0 || error.exitCode === null;
}

/**
 * Clears what killed git processes have left and no git can hold that runs now: a live lock is never stolen, whoever
 * holds it. Gives how many were cleared.
 */
async function clearDeadLocks(repository: Repository, refs: readonly string[], log: Log): Promise<number> {
  for (let waited = 0; waited < patience; waited += pause) {
    const first = await locksIn(repository, refs);
    if (first.size === 0) return 0;
    const held = await mayBeHeld(repository, first);
    await sleep(pause);
    if (held) continue;
    const second = await locksIn(repository, refs);
    if (await mayBeHeld(repository, second)) continue;
    const dead = [...first.keys()].filter((lock) => second.get(lock)?.mark === first.get(lock)?.mark);
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
  const running = await gitProcessesIn(repository);
  if (running === undefined || running.some(writesPacks)) return;
  await clearHalfPacks(join(repository.commonDir, 'objects/pack'));
}

interface Lock {
  readonly mark: string;
  readonly age: number;
}

/** What stands in the way of a commit to these refs, whoever holds it. */
async function locksIn(
  { gitDir, commonDir }: Repository,
  refs: readonly string[],
): Promise<Map<string, Lock>> {
  const paths = [
    join(gitDir, 'HEAD.lock'),
    join(commonDir, 'packed-refs.lock'),
    join(commonDir, 'objects/info/commit-graphs/commit-graph-chain.lock'),
    ...refs.map((ref) => join(commonDir, `${ref}.lock`)),
    ...(await halfPackMarks(join(commonDir, 'objects/pack'), importMark)),
  ];
  const locks = new Map<string, Lock>();
  for (const path of paths) {
    const stat = await lstat(path).catch(() => undefined);
    if (stat)
      locks.set(path, { mark: `${stat.ino} ${stat.mtimeMs} ${stat.size}`, age: Date.now() - stat.mtimeMs });
  }
  return locks;
}

/** A lock is held for milliseconds; where no one can tell who runs, an old one is a dead one. */
const oldAge = 60_000;

async function mayBeHeld(repository: Repository, locks: ReadonlyMap<string, Lock>): Promise<boolean> {
  const running = await gitProcessesIn(repository);
  if (running === undefined) return [...locks.values()].some(({ age }) => age < oldAge);
  return running.some((process) => !lockless.has(commandOf(process)));
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
  const running = (await gitProcessesIn(repository)) ?? [];
  return running.filter(
    (git) =>
      !repository.isOwn(git.parent) &&
      git.args.includes(gitSettings[0] ?? '') &&
      !lockless.has(commandOf(git)),
  );
}

async function clearHalfPacks(folder: string): Promise<void> {
  const torn = (await namesIn(folder)).filter((name) => /^tmp_(pack|idx|rev)_/.test(name));
  const marks = await halfPackMarks(folder, importMark, fetchMark);
  for (const path of [...torn.map((name) => join(folder, name)), ...marks]) await rm(path, { force: true });
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
