import type { Repository } from './repository.ts';

/** Two states of a branch, one after the other. */
export interface BranchStep {
  readonly from: string;
  readonly to: string;
  /** When `to` was committed; milliseconds since the epoch. */
  readonly time: number;
}

/**
 * Yields the steps from a commit to the tip of a branch, each from a commit to the next one along first parents. From a commit
 * beside that line, such as the tip of a machine before a merge, there is one step to the tip. For the same two commits they
 * are always the same.
 * @param start must be a commit in the history of the tip
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
    const commits = next === -1 ? await readCommits(repository, ['--max-count=1', tip]) : line.slice(next);
    for (const { id, time } of commits) {
      yield { from, to: id, time };
      from = id;
    }
  }
}

/** Commits that are read at once. */
const maxRead = 1000;

/** Lists commits, oldest first, each with its first parent. */
async function readCommits(
  repository: Repository,
  args: readonly string[],
): Promise<{ id: string; time: number; parent: string | undefined }[]> {
  const output = await repository.run(['rev-list', '--reverse', '--parents', '--timestamp', ...args]);
  return output.split('\n').flatMap((text) => {
    const [seconds, id, parent] = text.split(' ');
    return id === undefined ? [] : [{ id, time: Number(seconds) * 1000, parent }];
  });
}
