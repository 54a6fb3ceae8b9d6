import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { WritesUnavailable } from '../bot/errors.ts';
import type { Repository } from './repository.ts';

/** @throws {WritesUnavailable} while a person is in the middle of something that ends in a commit on another tip */
export function refuseWhileBusy({ gitDir }: Repository): void {
  const busy = busyMarks.find((name) => existsSync(join(gitDir, name)));
  if (busy !== undefined) {
    throw new WritesUnavailable(
      `a person's merge, rebase or the like is under way in the clone (${busy}): finish it, then what the remote has comes in`,
    );
  }
}

const busyMarks = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'rebase-merge', 'rebase-apply'];

/** The files that a merge, cherry-pick or revert under way waits for a person to decide. */
export async function pathsInConflict(repository: Repository): Promise<string[]> {
  const { gitDir } = repository;
  const underWay = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD'].some((name) =>
    existsSync(join(gitDir, name)),
  );
  if (!underWay) return [];
  const lines = await repository.run(['ls-files', '--unmerged', '-z']);
  return [...new Set(lines.split('\0').flatMap((line) => line.split('\t').slice(1)))];
}
