import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../lib/errors.ts';
import { readHead } from '../refs.ts';
import type { Repository } from '../repository.ts';
import { type NewCommit, writeCommit } from './fast-import.ts';

/** The files of a commit by path from the top of the repository, and its message. */
export type FilesCommit = Pick<NewCommit, 'files' | 'message'>;

/**
 * Commits files to the checked-out branch as a person does, with `git merge --ff-only`: index and work tree follow, other
 * edits stay, and a service that runs on the clone sees it as it sees a pull. Returns the commit; null where there was
 * nothing to commit.
 * @param plan returns what to commit onto a tip, which is null before the first commit; undefined is nothing. It is called
 * again when the branch has moved.
 * @throws {GitError} where a file of the plan has uncommitted edits, and for other failures of Git: nothing was committed
 */
export async function commitFiles(
  repository: Repository,
  plan: (tip: string | null) => Promise<FilesCommit | undefined>,
): Promise<string | null> {
  const deadline = performance.now() + maxWaitMs;
  for (;;) {
    const tip = await readHead(repository);
    const planned = await plan(tip);
    if (planned === undefined || planned.files.size === 0) return null;
    const commit = await writeCommit(repository, { parents: tip === null ? [] : [tip], ...planned });
    try {
      await repository.run([...merge, commit], { isDetached: true });
      return commit;
    } catch (error) {
      // The lock may be gone by now.
      const isLocked = messageOf(error).includes('index.lock');
      const hasMoved = (await readHead(repository)) !== tip;
      if (!(isLocked || hasMoved) || performance.now() > deadline) throw error;
      await sleep(50);
    }
  }
}

/** A merge that is stopped would leave files without their commit, and one with a stash lay edits over those of the plan. */
const merge = ['merge', '--quiet', '--ff-only', '--no-overwrite-ignore', '--no-autostash'];

/** Milliseconds in which the lock of another git, and a branch that moves, are waited for. */
const maxWaitMs = 20_000;
