import { openRepository, type Repository, RepositoryOpener } from '../../src/git/repository.ts';
import { cleanUp } from './cleanup.ts';

/** An opener of the repository of a folder; what it opens is closed when the tests of the file are over. */
export function openerOf(folder: string): RepositoryOpener {
  const opener = new RepositoryOpener(folder);
  cleanUp(() => opener.close());
  return opener;
}

/** Opens the repository of a folder until the tests of the file are over. */
export async function openUntilEnd(folder: string): Promise<Repository> {
  const repository = await openRepository(folder);
  cleanUp(() => repository.objects.close());
  return repository;
}
