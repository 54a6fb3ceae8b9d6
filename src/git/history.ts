import type { Repository } from './repository.ts';

/** Returns whether a text is the id of a commit that is here. @throws {GitError} */
export async function isCommit({ objects }: Repository, id: string): Promise<boolean> {
  return (await objects.readOne(`${id}^{commit}`)) !== undefined;
}

/**
 * Returns whether `commit`, a whole id, is in the history of `tip`. A range of `git rev-list` would not tell: it goes by the
 * times of commits, and has too many where the clock of a machine was behind.
 * @throws {GitError} where either is no commit here
 */
export async function hasCommit(repository: Repository, tip: string, commit: string): Promise<boolean> {
  return tip === commit || (await mergeBase(repository, commit, tip)) === commit;
}

/** Returns how many commits the histories of `tips` have that those of `others` lack. @throws {GitError} */
export async function countCommits(
  repository: Repository,
  tips: readonly string[],
  others: readonly string[],
): Promise<number> {
  const excluded = others.map((commit) => `^${commit}`);
  return Number(await repository.run(['rev-list', '--count', ...tips, ...excluded]));
}

/** Returns the last commit that two histories share; undefined where they share none. @throws {GitError} */
export async function mergeBase(repository: Repository, a: string, b: string): Promise<string | undefined> {
  const found = (await repository.run(['merge-base', a, b], { accepts: 1 })).trim();
  return found === '' ? undefined : found;
}

/** Returns the id of the tree of a commit. @throws {GitError} */
export async function readTreeId(repository: Repository, commit: string): Promise<string | undefined> {
  return (await repository.objects.readOne(`${commit}^{tree}`))?.id;
}
