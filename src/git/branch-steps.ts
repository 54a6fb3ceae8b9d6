import { hasCommit } from './history.ts';
import type { Repository } from './repository.ts';

/** Two states of a branch, one after the other. */
export interface BranchStep {
  readonly from: string;
  readonly to: string;
  /** When `to` was committed; milliseconds since the epoch. */
  readonly time: number;
}

/** The history of a branch does not have this commit: it was rewritten, or never had it. */
export class NotInHistoryError extends Error {
  constructor(commit: string) {
    super(`${commit} is not in the history of the branch`);
    this.name = 'NotInHistoryError';
  }
}

/**
 * Yields the steps from a commit to the tip of a branch, each from a commit to the next one along first parents. From a commit
 * beside that line, such as the tip of a machine before a merge, there is one step to the tip.
 * @param start must be the id of a commit that is here
 * @throws {NotInHistoryError}
 * @throws {GitError}
 */
export async function* listBranchSteps(
  repository: Repository,
  start: string,
  tip: string,
): AsyncGenerator<BranchStep> {
  for (let from = start; from !== tip;) {
    const range = ['--first-parent', tip, `^${from}`];
    const count = Number(await repository.run(['rev-list', '--count', ...range]));
    // The oldest ones, so that a long history is read piece by piece.
    const line = await readCommits(repository, [`--skip=${Math.max(0, count - maxRead)}`, ...range]);
    const next = line.findIndex(({ parent }) => parent === from);
    const steps = next === -1 ? [await readBranchStep(repository, from, tip)] : line.slice(next);
    for (const { to, time } of steps) {
      yield { from, to, time };
      from = to;
    }
  }
}

/** Returns the step between two commits. @throws {NotInHistoryError} where the history of `to` does not have `from` */
export async function readBranchStep(repository: Repository, from: string, to: string): Promise<BranchStep> {
  if (!(await hasCommit(repository, to, from))) throw new NotInHistoryError(from);
  const [commit] = await readCommits(repository, ['--max-count=1', to]);
  return { from, to, time: commit?.time ?? 0 };
}

/** Commits that are read at once. */
const maxRead = 1000;

/** Lists commits, oldest first, each with its first parent. */
async function readCommits(
  repository: Repository,
  args: readonly string[],
): Promise<{ to: string; time: number; parent: string | undefined }[]> {
  const output = await repository.run(['rev-list', '--reverse', '--parents', '--timestamp', ...args]);
  return output.split('\n').flatMap((text) => {
    const [seconds, to, parent] = text.split(' ');
    return to === undefined ? [] : [{ to, time: Number(seconds) * 1000, parent }];
  });
}
