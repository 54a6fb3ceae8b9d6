import { lstat, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { lockMark } from './index-lock.ts';
import { gitSettings } from './git-process.ts';
import { type GitProcess, gitProcessesIn } from './git-processes.ts';
import type { Repository } from './repository.ts';

/**
 * Clears the locks that killed git processes of ours have left on refs. Only what no git can hold that runs
 * now is cleared: a live lock is never stolen, whoever holds it. Gives how many were cleared.
 * @throws a system error
 */
export async function clearDeadLocks(
  repository: Repository,
  refs: readonly string[],
  log: Log,
): Promise<number> {
  const { gitDir, commonDir } = repository;
  const locks = [
    join(gitDir, 'HEAD.lock'),
    join(commonDir, 'packed-refs.lock'),
    join(commonDir, 'objects/info/commit-graphs/commit-graph-chain.lock'),
    ...refs.map((ref) => join(commonDir, `${ref}.lock`)),
  ];
  const first = await marksOf(locks);
  if (first.size === 0 || (await mayBeHeld(repository, first))) return 0;
  await sleep(100);
  const second = await marksOf(locks);
  if (await mayBeHeld(repository, second)) return 0;
  const dead = [...first.keys()].filter((lock) => second.get(lock)?.mark === first.get(lock)?.mark);
  for (const lock of dead) {
    await rm(lock, { force: true });
    log.warn({ lock }, 'cleared the lock of a git that was killed');
  }
  return dead.length;
}

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
  await clearOwnIndexLock(repository, log);
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

async function marksOf(locks: readonly string[]): Promise<Map<string, Lock>> {
  const marks = new Map<string, Lock>();
  for (const lock of locks) {
    const stat = await lstat(lock).catch(() => undefined);
    if (stat)
      marks.set(lock, { mark: `${stat.ino} ${stat.mtimeMs} ${stat.size}`, age: Date.now() - stat.mtimeMs });
  }
  return marks;
}

/** A lock on a ref is held for milliseconds; where no one can tell who runs, an old one is a dead one. */
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

async function clearOwnIndexLock(repository: Repository, log: Log): Promise<void> {
  const lock = join(repository.gitDir, 'index.lock');
  const text = await readFile(lock, 'latin1').catch(() => '');
  if (!text.startsWith(lockMark)) return;
  await rm(lock, { force: true });
  log.warn({ lock }, 'cleared the index lock of a service that was killed');
}

/** fast-import and fetch mark the pack they are writing with a .keep that says so. */
async function clearHalfPacks(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    if (/^tmp_(pack|idx|rev)_/.test(name)) await rm(path, { force: true });
    if (name.endsWith('.keep') && isHalfPackMark(await readFile(path, 'utf8').catch(() => ''))) {
      await rm(path, { force: true });
    }
  }
}

function isHalfPackMark(text: string): boolean {
  return text === 'fast-import' || /^fetch-pack \d+ on /.test(text);
}
