import { link, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WritesUnavailableError } from '../../bot/errors.ts';
import { writeAtomically } from '../../disk/atomic-write.ts';
import { failpoint } from '../../failpoint.ts';
import { codeOf } from '../../system-error.ts';
import type { Repository } from '../repository.ts';

type Place = Pick<Repository, 'gitDir' | 'staging'>;

/**
 * Does `work` while no other git can change index, work tree or HEAD, as every Git command that does holds the same
 * lock. Waits for whoever holds it; a lock of another is never removed.
 * @param patience milliseconds to wait
 * @throws {WritesUnavailableError} when it was held for all that time; nothing was done
 * @throws a system error
 */
export async function withIndexLock<T>(place: Place, patience: number, work: () => Promise<T>): Promise<T> {
  const lock = join(place.gitDir, 'index.lock');
  const deadline = performance.now() + patience;
  while (!(await take(lock, place.staging))) {
    if (performance.now() >= deadline) throw new WritesUnavailableError(held, { retryAfter: 5 });
    await sleep(5);
  }
  failpoint('index.locked');
  try {
    return await work();
  } finally {
    await release(lock);
  }
}

/** Removes the lock of a service that was killed, which its content tells from a person's. True when there was one. */
export async function removeStaleIndexLock({ gitDir }: Place): Promise<boolean> {
  const lock = join(gitDir, 'index.lock');
  if (!(await isOurs(lock))) return false;
  await rm(lock, { force: true });
  return true;
}

/** Begins our index.lock from the instant it exists; those of git are empty or hold an index. */
const mark = 'botshelf';

const held =
  "another Git command holds index.lock in the service's clone: send the change again; if no Git command runs there, a maintainer has to remove the file";

async function take(lock: string, staging: string): Promise<boolean> {
  const marked = join(staging, 'mark');
  for (;;) {
    try {
      await link(marked, lock);
      return true;
    } catch (error) {
      const code = codeOf(error);
      // One with our mark is left of a release that failed: batches run one at a time, and one service a clone.
      if (code === 'EEXIST') return await isOurs(lock);
      if (code !== 'ENOENT') throw error;
    }
    await writeAtomically(marked, `${mark} ${process.pid}\n`, { fsync: 'none' });
  }
}

async function isOurs(lock: string): Promise<boolean> {
  const text = await readFile(lock, 'latin1').catch(() => '');
  return text.startsWith(mark);
}

async function release(lock: string): Promise<void> {
  for (let attempt = 1; attempt <= 5; attempt++) {
    try {
      await rm(lock, { force: true });
      return;
    } catch {
      await sleep(20 * attempt);
    }
  }
}
