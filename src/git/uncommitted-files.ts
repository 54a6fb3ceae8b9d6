import type { Repository } from './repository.ts';

/**
 * Returns the files of a folder that differ from HEAD in the index or the work tree, new files too. Takes a second for
 * 150,000 files, at the lowest priority.
 * @param folder relative to the top of the repository
 * @param signal ends it
 * @throws {GitError}
 */
export async function listUncommittedFiles(
  repository: Repository,
  folder: string,
  signal: AbortSignal,
): Promise<string[]> {
  const output = await repository.run([...status, '--', folder], { background: true, signal });
  return output
    .split('\0')
    .slice(0, -1)
    .map((entry) => entry.slice('XY '.length));
}

const status = '--literal-pathspecs status --porcelain -z --untracked-files=all --no-renames'.split(' ');
