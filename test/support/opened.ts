import { openRepository, type Repository, RepositoryOpener } from '../../src/git/repository.ts';

/** An opener of the repository of a folder; what it opens is closed when the tests of the file are over. */
export function openerOf(folder: string): RepositoryOpener {
  const opener = new RepositoryOpener(folder);
  closing.push(() => opener.close());
  return opener;
}

/** Opens the repository of a folder until the tests of the file are over. */
export async function openUntilEnd(folder: string): Promise<Repository> {
  const repository = await openRepository(folder);
  closing.push(() => repository.objects.close());
  return repository;
}

const closing: (() => void)[] = [];

after('close the repositories', () => {
  for (const close of closing.splice(0)) close();
});
