import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, link, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BotshelfError, codeOf, ignoreMissing } from '../../lib/errors.ts';
import { failpoint } from '../../lib/failpoint.ts';
import { copyWithTime, writeAtomically } from '../../lib/files.ts';
import { retry } from '../../lib/retry.ts';
import type { Repository } from '../repository.ts';
import { readHead } from '../refs.ts';
import { isGitFailure } from '../run-git.ts';
import type { FileChange } from '../trees.ts';

/** Path → its blob in the index; null if the index does not have the path. */
export type IndexEntries = ReadonlyMap<string, string | null | typeof unmerged>;

/** The entry of a path in conflict, of which the index has several versions. */
export const unmerged = Symbol('unmerged');

/** Returns what the index has at these paths. A thousand take as long as one. @throws {GitError} */
export async function readIndex(repository: Repository, paths: readonly string[]): Promise<IndexEntries> {
  if (paths.length === 0) return new Map();
  const input = paths.map((path) => `:0:${path}\0`).join('');
  const output = await repository.run(['cat-file', '-z', '--batch-check=%(objectname)'], { input });
  const lines = output.split('\n');
  // Git repeats a name with a newline, which breaks the lines: then each path is read alone.
  if (lines.length !== paths.length + 1 && paths.length > 1) {
    const entries = new Map<string, string | null | typeof unmerged>();
    for (const path of paths)
      for (const [key, entry] of await readIndex(repository, [path])) entries.set(key, entry);
    return entries;
  }
  const isWhole = paths.every((_, i) => isId(lines[i]));
  const inConflict = new Set(isWhole ? [] : await listUnmerged(repository));
  return new Map(
    paths.map((path, i) => {
      const line = lines[i];
      return [path, isId(line) ? line : inConflict.has(path) ? unmerged : null];
    }),
  );
}

function isId(line: string | undefined): line is string {
  return /^[0-9a-f]{40,64}$/.test(line ?? '');
}

async function listUnmerged(repository: Repository): Promise<string[]> {
  const entries = (await repository.run(['ls-files', '--unmerged', '-z'])).split('\0');
  return entries.map((entry) => entry.slice(entry.indexOf('\t') + 1));
}

/**
 * Makes a copy of the index that has these changes; `swapIndex` puts it in the place of the index. The index must be
 * locked. Entries do not have the times of their files, so that git compares contents.
 * @throws {GitError} and system errors
 */
export async function copyIndex(
  repository: Repository,
  changes: readonly Pick<FileChange, 'path' | 'after'>[],
): Promise<void> {
  const index = join(repository.gitDir, 'index');
  const copy = await removeCopy(repository);
  const size = await copyWithTime(index, copy);
  // Git rewrites a large index as a whole for every change, unless it is split into a large part and a small one.
  const split = size > maxWholeIndexBytes ? ['--split-index'] : [];
  const none = { mode: '0', id: '0'.repeat(repository.hash === 'sha1' ? 40 : 64) };
  // Removals come first: a file may become a folder.
  const inOrder = changes.toSorted((a, b) => Number(b.after === null) - Number(a.after === null));
  const input = inOrder.map(({ path, after }) => {
    const { mode, id } = after ?? none;
    return `${mode} ${id}\t${path}\0`;
  });
  await repository.run(['update-index', ...split, '-z', '--index-info'], {
    input: input.join(''),
    indexFile: copy,
  });
}

/** Bytes above which an index is made a split one. libgit2 cannot read a split index, so small ones stay whole. */
const maxWholeIndexBytes = 4_000_000;

/** Puts the copy in the place of the index. @throws a system error */
export async function swapIndex(repository: Repository): Promise<void> {
  await rename(toIndexCopyPath(repository), join(repository.gitDir, 'index'));
}

/** Returns whether the index is missing, so that git takes all files for removed; false before the first commit. */
export async function isIndexMissing(repository: Repository): Promise<boolean> {
  return !existsSync(join(repository.gitDir, 'index')) && (await readHead(repository)) !== null;
}

/**
 * Returns whether a crash has damaged the index: it is missing, git cannot read it, or its checksum differs, which git
 * itself looks at in `git fsck` only. @throws {GitError} and system errors
 */
export async function isIndexDamaged(repository: Repository): Promise<boolean> {
  if (await isIndexMissing(repository)) return true;
  try {
    await readIndex(repository, ['any']);
    return await hasWrongChecksum(repository);
  } catch (error) {
    if (isGitFailure(error, 'index-damaged')) return true;
    throw error;
  }
}

/** Returns whether the bytes of the index differ from its checksum; zeros stand for no checksum (`index.skipHash`). */
async function hasWrongChecksum({ gitDir, hash }: Repository): Promise<boolean> {
  const bytes = await ignoreMissing(readFile(join(gitDir, 'index')));
  if (bytes === undefined) return false;
  const end = bytes.length - (hash === 'sha1' ? 20 : 32);
  const checksum = bytes.subarray(end);
  const isGiven = checksum.some((byte) => byte !== 0);
  return isGiven && !createHash(hash).update(bytes.subarray(0, end)).digest().equals(checksum);
}

/** Replaces the index by that of HEAD. The index must be locked. @throws {GitError} and system errors */
export async function rebuildIndex(repository: Repository): Promise<void> {
  await repository.run(['read-tree', 'HEAD'], { indexFile: await removeCopy(repository) });
  await swapIndex(repository);
}

/** Removes a copy that a killed git of this service has left, and returns the path of the next one. */
async function removeCopy(repository: Repository): Promise<string> {
  const copy = toIndexCopyPath(repository);
  await Promise.all([copy, `${copy}.lock`].map(async (path) => await rm(path, { force: true })));
  return copy;
}

function toIndexCopyPath({ staging }: Repository): string {
  return join(staging, 'index');
}

type LockFolders = Pick<Repository, 'gitDir' | 'staging'>;

/**
 * Runs `work` with Git's index.lock, which every Git command that changes index, work tree or HEAD takes. A lock of
 * another process is waited for and never removed.
 * @param maxWaitMs how long a lock of another process is waited for
 * @throws {BotshelfError} locked, when another process held it all that time; `work` was not run
 * @throws a system error
 */
export async function withIndexLock<T>(
  folders: LockFolders,
  maxWaitMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const lock = join(folders.gitDir, 'index.lock');
  const deadline = performance.now() + maxWaitMs;
  while (!(await takeIndexLock(lock, folders.staging))) {
    if (performance.now() >= deadline) throw new BotshelfError('locked', held);
    await sleep(5);
  }
  failpoint('index.locked');
  try {
    return await work();
  } finally {
    const release = async (): Promise<void> => await rm(lock, { force: true });
    // The next batch takes over a lock that stays.
    await retry(release, { maxAttempts: 5, delay: (attempt) => 20 * attempt }).catch(() => {});
  }
}

/** Whether a git may be writing files of the work tree now: it holds index.lock from before the first to after the last. */
export function isIndexLocked({ gitDir }: Pick<Repository, 'gitDir'>): boolean {
  return existsSync(join(gitDir, 'index.lock'));
}

/** Removes the lock of a killed service, and returns whether there was one. */
export async function removeStaleIndexLock({ gitDir, staging }: LockFolders): Promise<boolean> {
  const lock = join(gitDir, 'index.lock');
  if (!(await isOwnIndexLock(lock, staging))) return false;
  await rm(lock, { force: true });
  return true;
}

/** The first bytes of our index.lock, from the moment it exists; those of git are empty or hold an index. */
const mark = 'botshelf';

const held =
  "another Git command holds index.lock in the service's clone: send the change again; if no Git command runs there, a maintainer has to remove the file";

async function takeIndexLock(lock: string, staging: string): Promise<boolean> {
  const marked = toMarkedFile(staging);
  for (;;) {
    try {
      await link(marked, lock);
      return true;
    } catch (error) {
      const code = codeOf(error);
      // A lock with our mark is from a failed release: batches run one at a time, and one service runs on a clone.
      if (code === 'EEXIST') return await isOwnIndexLock(lock, staging);
      if (code !== 'ENOENT') throw error;
    }
    // Git's folder may be gone: the write would create it again.
    await access(dirname(lock));
    // Durable before it is linked: the fsync of any other file may bring the link to the disk, and not the bytes.
    await writeAtomically(marked, `${mark} ${process.pid}\n`, { fsync: 'content' });
  }
}

function toMarkedFile(staging: string): string {
  return join(staging, 'mark');
}

/** Returns whether a lock has our mark, or is a link to our file, whose bytes a power loss may have taken. */
async function isOwnIndexLock(lock: string, staging: string): Promise<boolean> {
  const text = await readFile(lock, 'latin1').catch(() => '');
  if (text.startsWith(mark)) return true;
  const [locked, marked] = await Promise.all(
    [lock, toMarkedFile(staging)].map(async (path) => await stat(path).catch(() => undefined)),
  );
  return locked !== undefined && locked.ino === marked?.ino;
}
