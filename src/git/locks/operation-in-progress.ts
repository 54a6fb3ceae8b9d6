import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { WritesUnavailableError } from '../../bot/errors.ts';
import type { Repository } from '../repository.ts';

/** @throws {WritesUnavailableError} while a person is in the middle of something that ends in a commit on another tip */
export function refuseWhileBusy({ gitDir }: Repository): void {
  const busy = busyMarks.find((name) => existsSync(join(gitDir, name)));
  if (busy !== undefined) {
    throw new WritesUnavailableError(
      `a merge, rebase or the like is under way in the clone (${busy}): finish it, then the remote's commits are merged`,
    );
  }
}

const busyMarks = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'rebase-merge', 'rebase-apply'];
