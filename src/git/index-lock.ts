import { existsSync } from 'node:fs';
import { access, link, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WritesUnavailableError } from '../bot/errors.ts';
import { writeAtomically } from '../lib/atomic-write.ts';
import { failpoint } from '../lib/failpoint.ts';
import { codeOf } from '../lib/errors.ts';
import { retry } from '../lib/retry.ts';
import type { Repository } from './repository.ts';

type LockFolders = Pick<Repository, 'gitDir' | 'staging'>;

/**
 * Runs `work` with Git's index.lock, which every Git command that changes index, work tree or HEAD takes. A lock of
 * another process is waited for and never removed.
 * @param maxWaitMs how long a lock of another process is waited for
 * @throws {WritesUnavailableError} when another process held it all that time; `work` was not run
 * @throws a system error
 */
export async function withIndexLock<T>(
  folders: LockFolders,
  maxWaitMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const lock = join(folders.gitDir, 'index.lock');
  const deadline = performance.now() + maxWaitMs;
  while (!(await take(lock, folders.staging))) {
    if (performance.now() >= deadline) throw new WritesUnavailableError(held, 'locked');
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

/** @throws {WritesUnavailableError} while a merge, rebase, cherry-pick or revert of a person is in progress */
export function ensureNoOperation({ gitDir }: LockFolders): void {
  const marker = markerFiles.find((name) => existsSync(join(gitDir, name)));
  if (marker !== undefined) {
    throw new WritesUnavailableError(
      `a merge, rebase or similar is in progress in the clone (${marker}): finish it, then the remote's commits are merged`,
    );
  }
}

const markerFiles = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'rebase-merge', 'rebase-apply'];

/** Removes the lock of a killed service, and returns whether there was one. */
export async function removeStaleIndexLock({ gitDir, staging }: LockFolders): Promise<boolean> {
  const lock = join(gitDir, 'index.lock');
  if (!(await isOurs(lock, staging))) return false;
  await rm(lock, { force: true });
  return true;
}

/** The first bytes of our index.lock, from the moment it exists; those of git are empty or hold an index. */
const mark = 'botshelf';

const held =
  "another Git command holds index.lock in the service's clone: send the change again; if no Git command runs there, a maintainer has to remove the file";

async function take(lock: string, staging: string): Promise<boolean> {
  const marked = toMarkedFile(staging);
  for (;;) {
    try {
      await link(marked, lock);
      return true;
    } catch (error) {
      const code = codeOf(error);
      // One with our mark was left by a failed release: batches run one at a time, and one service runs on a clone.
      if (code === 'EEXIST') return await isOurs(lock, staging);
      if (code !== 'ENOENT') throw error;
    }
    // Git's folder may be gone: the write would make it again.
    await access(dirname(lock));
    // Durable before it is linked: the fsync of any other file may bring the link to the disk, and not the bytes.
    await writeAtomically(marked, `${mark} ${process.pid}\n`, { fsync: 'content' });
  }
}

function toMarkedFile(staging: string): string {
  return join(staging, 'mark');
}

/** Returns whether a lock has our mark, or is a link to our file, whose bytes a power loss may have taken. */
async function isOurs(lock: string, staging: string): Promise<boolean> {
  const text = await readFile(lock, 'latin1').catch(() => '');
  if (text.startsWith(mark)) return true;
  const [locked, marked] = await Promise.all(
    [lock, toMarkedFile(staging)].map(async (path) => await stat(path).catch(() => undefined)),
  );
  return locked !== undefined && locked.ino === marked?.ino;
}
