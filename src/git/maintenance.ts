import { statSync } from 'node:fs';
import { readdir, lstat, readFile, rm, readlink } from 'node:fs/promises';
import { join, basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, codeOf } from '../lib/errors.ts';
import { fsyncFolders } from '../lib/files.ts';
import type { Log } from '../lib/log.ts';
import { formatCount } from '../lib/text.ts';
import { removeStaleIndexLock } from './locks.ts';
import { GitError, gitSettings } from './run-git.ts';
import { type Repository, type RepositoryOpener, findBranch } from './repository.ts';

export interface MaintenanceOptions {
  readonly repositoryOpener: RepositoryOpener;
  readonly log: Log;
  /** Removes commits that are no longer needed, once a day. Returns how many; undefined if that cannot be done now. */
  readonly prune: (repository: Repository) => Promise<number | undefined>;
}

/**
 * Keeps Git fast while the service commits and fetches. Each commit and each fetch adds a pack, so packs are
 * consolidated, refs packed and the commit-graph written every few commits, at the lowest priority, one step at a time.
 * Objects that no ref and no reflog reaches are kept for a day, because a person may still want them.
 */
export class Maintenance {
  readonly #options: MaintenanceOptions;
  readonly #stop = new AbortController();
  #packs = 0;
  #prunedOn = '';
  #running: Promise<void> | undefined;

  constructor(options: MaintenanceOptions) {
    this.#options = options;
  }

  /** Counts a commit or a fetch, and runs in the background after every 32. */
  packAdded(): void {
    this.#packs++;
    if (this.#packs >= packsBetween && !this.#stop.signal.aborted) void this.run();
  }

  /** Runs now, or waits for the run under way. A failure is logged; the next run retries. */
  async run(): Promise<void> {
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    await this.#running;
  }

  /** Stops the run under way. Git leaves the repository intact. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { repositoryOpener, log, prune } = this.#options;
    this.#packs = 0;
    try {
      const repository = await repositoryOpener.open();
      await this.#consolidate(repository);
      const today = new Date().toISOString().slice(0, 10);
      if (this.#prunedOn === today || this.#stop.signal.aborted) return;
      const pruned = await prune(repository);
      if (pruned === undefined) return;
      this.#prunedOn = today;
      if (pruned > 0)
        log.info({ commits: pruned }, `pruned ${formatCount(pruned, 'old commit')} of the state`);
      // Also what another machine has pruned.
      await this.#writeGraph(repository, '--split=replace');
      await this.#repack(repository, keepUnreachable);
    } catch (error) {
      if (!this.#stop.signal.aborted)
        log.warn({ err: error }, `Git maintenance failed: ${messageOf(error)}; the next run retries`);
    }
  }

  async #consolidate(repository: Repository): Promise<void> {
    const { gitDir, commonDir } = repository;
    // A person's gc does the same work, and more.
    if (isGcRunning(commonDir) || isGcRunning(gitDir)) return;
    await removePartialPacks(repository);
    const packs = (await readdir(join(commonDir, 'objects/pack'))).filter((name) => name.endsWith('.pack'));
    if (packs.length >= packsAllowed) await this.#repack(repository, mergeSmallPacks);
    await this.#runGit(repository, ['pack-refs', '--all', '--prune']);
    await this.#writeGraph(repository, '--split');
  }

  /**
   * Writes the commit-graph. `--split=replace` drops pruned commits from it: git reports one it cannot find as damage.
   */
  async #writeGraph(repository: Repository, split: '--split' | '--split=replace'): Promise<void> {
    await this.#runGit(repository, ['commit-graph', 'write', '--reachable', split, '--no-progress']);
  }

  async #repack(repository: Repository, how: readonly string[]): Promise<void> {
    const few = ['-c', 'pack.threads=1', '-c', 'pack.windowMemory=64m'];
    await this.#runGit(repository, [...few, 'repack', '-q', ...how]);
    repository.objects.renew();
    await fsyncFolders([join(repository.commonDir, 'objects/pack')]);
  }

  async #runGit(repository: Repository, args: readonly string[]): Promise<void> {
    await repository.run(args, { background: true, signal: this.#stop.signal });
  }
}

/** New packs between two runs. */
const packsBetween = 32;

/** As many packs do not slow Git down. */
const packsAllowed = 16;

/** Merges small packs so that each is at least twice as large as the next. Large packs stay. */
const mergeSmallPacks = ['--geometric=2', '-d', '-l'];

/** Puts reachable objects into one pack, and keeps the others in a second one for a day. */
const keepUnreachable = ['--cruft', '--cruft-expiration=1.day.ago', '-d', '-l'];

/** Returns whether a `git gc` runs in a folder. As in Git, a gc.pid older than twelve hours is left by a killed gc. */
function isGcRunning(folder: string): boolean {
  const stat = statSync(join(folder, 'gc.pid'), { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs < 12 * 60 * 60 * 1000;
}

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
 * Cleans up after a crash of the service: waits for the git processes that it had started, because they may still finish,
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

/** Waits for the git processes of a runner that has ended, because they may still move a ref; five seconds at most. */
export async function waitForOrphans(repository: Repository): Promise<void> {
  for (let waited = 0; waited < 5000 && (await findOrphans(repository)).length > 0; waited += 20)
    await sleep(20);
}

/**
 * Removes what killed and failed gits have left next to packs and objects. Nothing is removed while a git runs that may write a
 * pack; if gits may be hidden, only old files.
 * @param hiddenBefore the time before which that was written, in milliseconds since the epoch
 * @throws a system error
 */
async function removePartialPacks(
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
    (git) =>
      !repository.isOwn(git.parent) &&
      // While a process becomes another program, it has no arguments for a moment.
      (git.args.length === 0 || (git.args.includes(gitSettings[0] ?? '') && mayLock(git))),
  );
}

/** Milliseconds after which a partial pack is removed that a hidden git may still write. It blocks nothing. */
const hiddenPackAgeMs = 600_000;

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

/** A git process on this machine. */
interface GitProcess {
  readonly pid: number;
  readonly parent: number;
  readonly args: readonly string[];
}

/** The git processes that run in a repository. */
interface GitProcesses {
  readonly seen: readonly GitProcess[];
  /**
   * Whether there may be others that cannot be seen: in another container, of another user, or all of them where there
   * is no /proc.
   */
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
