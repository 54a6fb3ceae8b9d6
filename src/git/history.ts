import type { Repository } from './repository.ts';

/** Whether the history of `tip` has `commit` in it. @throws {GitError} where either is no commit here */
export async function hasCommit(repository: Repository, tip: string, commit: string): Promise<boolean> {
  if (tip === commit) return true;
  return (await repository.run(['rev-list', '--count', '--max-count=1', commit, `^${tip}`])).trim() === '0';
}

/** How many commits the histories of `tips` have that those of `others` lack. @throws {GitError} */
export async function countCommits(
  repository: Repository,
  tips: readonly string[],
  others: readonly string[],
): Promise<number> {
  const excluded = others.map((commit) => `^${commit}`);
  return Number(await repository.run(['rev-list', '--count', ...tips, ...excluded]));
}

/** The commit where two histories parted, undefined where they have none in common. @throws {GitError} */
export async function mergeBase(repository: Repository, a: string, b: string): Promise<string | undefined> {
  const found = (await repository.run(['merge-base', a, b], { accepts: 1 })).trim();
  return found === '' ? undefined : found;
}

/** The tree of a commit. */
export async function treeOf(repository: Repository, commit: string): Promise<string | undefined> {
  return (await repository.objects.readOne(`${commit}^{tree}`))?.id;
}
