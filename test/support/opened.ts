import type { GitClient } from '../../src/git/process/run-git.ts';
import { openRepository, type Repository, RepositoryOpener } from '../../src/git/repository.ts';
import { cleanUp } from './cleanup.ts';
import { ShellGit } from './shell-git.ts';

/** What runs the git of all services and repositories of a mocha. */
export function testGit(): GitClient {
  return (shells ??= new ShellGit());
}

let shells: ShellGit | undefined;

/** An opener of the repository of a folder; what it opens is closed when the test is over. */
export function openerOf(folder: string): RepositoryOpener {
  const opener = new RepositoryOpener(folder, testGit());
  cleanUp(() => opener.close());
  return opener;
}

/** Opens the repository of a folder until the test is over. */
export async function openUntilEnd(folder: string): Promise<Repository> {
  const repository = await openRepository(folder, testGit());
  cleanUp(() => repository.objects.close());
  return repository;
}
