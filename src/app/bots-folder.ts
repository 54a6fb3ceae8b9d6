import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { botsFolder } from '../catalogue/page/layout.ts';
import { readHead, type Repository, type RepositoryOpener } from '../git/repository.ts';
import { findTreeEntries } from '../git/diff.ts';
import { UserError } from '../lib/errors.ts';

/**
 * Makes `bots/` where the last commit has no bots, as Git keeps no empty folder; not in a repository that never had it.
 * @throws {UserError} where nothing is checked out although the remote has branches
 * @throws {GitError} and system errors
 */
export async function restoreBotsFolder(root: string, repositoryOpener: RepositoryOpener): Promise<void> {
  const repository = await repositoryOpener.open();
  const head = await readHead(repository);
  const path = repository.prefix + botsFolder;
  if (head === null) return await refuseEmptyClone(root, repository);
  if ((await findTreeEntries(repository, head, [path])).has(path)) return;
  if ((await repository.run(['rev-list', '--max-count=1', head, '--', path])) === '') return;
  await mkdir(join(root, botsFolder), { recursive: true });
}

/** A clone is empty if HEAD of its remote names a branch that is not there, as after `git init --bare` and a push of another. */
async function refuseEmptyClone(root: string, repository: Repository): Promise<void> {
  const format = '--format=%(refname:lstrip=3)';
  const branches = (await repository.run(['for-each-ref', format, 'refs/remotes/origin'])).split('\n');
  const branch = branches.find((name) => name === 'main') ?? branches[0];
  if (branch)
    throw new UserError(
      `${root} has nothing checked out, because HEAD of its remote names no branch that is there: run "git switch ${branch}" here, and "git symbolic-ref HEAD refs/heads/${branch}" on the Git server`,
    );
}
