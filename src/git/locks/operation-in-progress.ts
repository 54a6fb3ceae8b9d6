import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { WritesUnavailableError } from '../../bot/errors.ts';
import type { Repository } from '../repository.ts';

/** @throws {WritesUnavailableError} while a merge, rebase, cherry-pick or revert of a person is in progress */
export function ensureNoOperation({ gitDir }: Repository): void {
  const marker = markerFiles.find((name) => existsSync(join(gitDir, name)));
  if (marker !== undefined) {
    throw new WritesUnavailableError(
      `a merge, rebase or similar is in progress in the clone (${marker}): finish it, then the remote's commits are merged`,
    );
  }
}

const markerFiles = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'rebase-merge', 'rebase-apply'];
