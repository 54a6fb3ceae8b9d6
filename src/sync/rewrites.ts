import { parseFilePath } from '../catalogue/page/layout.ts';
import { countCommits, isAncestor, mergeBase, readConfirmedTime } from '../git/history.ts';
import { diffTrees, ignoreDiffLimit } from '../git/trees.ts';
import type { Repository } from '../git/repository.ts';
import { listRefs, readRef } from '../git/refs.ts';
import { removeCredentials } from '../git/run-git.ts';
import { formatCount } from '../lib/text.ts';
import { setRefs } from './remote.ts';

/** Our branch before it moved to a rewritten remote branch. */
export interface Rewrite {
  readonly ref: string;
  readonly commit: string;
}

/** Returns the ref for a branch that moves at this time: milliseconds since the epoch. */
export function toRewriteRef(time: number): string {
  return `${prefix}${new Date(time).toISOString().replaceAll(':', '-')}`;
}

const prefix = 'refs/botshelf/remote/before-rewrite-';

/** Lists the kept branches, oldest first. @throws {GitError} */
export async function listRewrites(repository: Repository): Promise<Rewrite[]> {
  return Array.from(await listRefs(repository, [`${prefix}*`]), ([ref, commit]) => ({ ref, commit }));
}

/** Deletes those older than 30 days, and those that the branch has again, and returns the others. @throws {GitError} */
export async function pruneRewrites(repository: Repository): Promise<Rewrite[]> {
  const rewrites = await listRewrites(repository);
  if (rewrites.length === 0) return [];
  const oldest = toRewriteRef((await readConfirmedTime(repository)) - keptDays * 24 * 60 * 60 * 1000);
  const branch = await readRef(repository, repository.branch());
  const kept: Rewrite[] = [];
  for (const rewrite of rewrites) {
    const isMerged = branch !== null && (await isAncestor(repository, rewrite.commit, branch));
    if (rewrite.ref >= oldest && !isMerged) kept.push(rewrite);
  }
  const ended = rewrites.filter((rewrite) => !kept.includes(rewrite));
  await setRefs(repository, new Map(ended.map(({ ref }) => [ref, null])));
  return kept;
}

const keptDays = 30;

/**
 * Returns the commits that only a kept branch has, with the command that restores them, as part of a sentence.
 * @param branch the commit that the branch moved to, or is at
 * @param remote a remote's name or an address
 * @throws {GitError}
 */
export async function describeRewrite(
  repository: Repository,
  { ref, commit }: Rewrite,
  branch: string,
  remote: string,
): Promise<string> {
  const commits = formatCount(await countCommits(repository, [commit], [branch]), 'commit');
  const from = (await mergeBase(repository, commit, branch)) ?? branch;
  const changes = (await diffTrees(repository, from, commit).catch(ignoreDiffLimit)) ?? [];
  const bots = new Set(changes.flatMap(({ path }) => parseFilePath(path, repository.prefix)?.id ?? []));
  const push = `git push ${removeCredentials(remote)} ${ref}:${ref.replace('refs/botshelf/remote/', 'refs/heads/')}`;
  return (
    `${ref} has ${commits} and changes of ${formatCount(bots.size, 'bot')} that the branch no longer has: ` +
    `"${push}" and a merge of that branch bring them back, and docs/moderation.md has the command that deletes them`
  );
}
