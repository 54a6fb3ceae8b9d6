import { link, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { failpoint } from '../failpoint.ts';
import { codeOf } from '../system-error.ts';
import type { Repository } from './repository.ts';

/**
 * Does `work` while no other git can change index and work tree, for a few milliseconds at most. False, with
 * nothing done, when somebody holds the lock: a lock is never stolen.
 * @throws a system error
 */
export async function withIndexLock(
  repository: Pick<Repository, 'gitDir' | 'staging'>,
  work: () => Promise<boolean>,
): Promise<boolean> {
  const lock = join(repository.gitDir, 'index.lock');
  if (!(await take(lock, repository.staging))) return false;
  failpoint('index.locked');
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

/** Begins the text of an index.lock of ours, from the instant it exists; git's own hold an index. */
export const lockMark = 'botshelf';

async function take(lock: string, staging: string): Promise<boolean> {
  const marked = join(staging, 'mark');
  for (;;) {
    try {
      await link(marked, lock);
      return true;
    } catch (error) {
      const code = codeOf(error);
      if (code === 'EEXIST') return false;
      if (code !== 'ENOENT') throw error;
    }
    await mkdir(staging, { recursive: true });
    await writeFile(marked, `${lockMark} ${process.pid}\n`);
  }
}
