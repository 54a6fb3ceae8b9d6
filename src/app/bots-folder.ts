import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { botsFolder } from '../catalogue/page/layout.ts';
import { readHead } from '../git/refs.ts';
import type { RepositoryOpener } from '../git/repository.ts';
import { findTreeEntries } from '../git/tree-listing.ts';

/**
 * Makes `bots/` where the last commit has no bots, as Git keeps no empty folder; not in a repository that never had it.
 * @throws {GitError} and system errors
 */
export async function restoreBotsFolder(root: string, repositoryOpener: RepositoryOpener): Promise<void> {
  const repository = await repositoryOpener.open();
  const head = await readHead(repository);
  const path = repository.prefix + botsFolder;
  if (head === null || (await findTreeEntries(repository, head, [path])).has(path)) return;
  if ((await repository.run(['rev-list', '--max-count=1', head, '--', path])) === '') return;
  await mkdir(join(root, botsFolder), { recursive: true });
}
