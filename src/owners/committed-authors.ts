import type { BotId } from '../bot/id.ts';
import { readBot } from '../catalogue/index/bot-reader.ts';
import { botsFolder, folderOf, type PagePlace, placeAt } from '../catalogue/page/layout.ts';
import { pageFileOf } from '../catalogue/page/page-file.ts';
import { readCommittedFiles } from '../git/inspect/last-commit.ts';
import { type RepositoryOpener, unavailableBecause } from '../git/repository.ts';

/**
 * Reads the authors of a bot from its record in the last commit. Uncommitted edits and the index are ignored. Empty when
 * the commit has no valid bot of this id.
 * @throws {WritesUnavailableError} when there is no repository, or it cannot be read
 */
export async function committedAuthors(
  repositoryOpener: RepositoryOpener,
  id: BotId,
): Promise<readonly string[]> {
  const folder = `${botsFolder}/${folderOf(id)}`;
  const place = (name: string): PagePlace | undefined => {
    const found = placeAt(`${folder}/${name}`);
    return found?.id === id ? found : undefined;
  };
  const files = await committedFiles(repositoryOpener, folder, (name) => place(name) !== undefined);
  const pages = [...files].flatMap(([name, bytes]) => {
    const found = place(name);
    return found ? [pageFileOf(found, bytes)] : [];
  });
  return readBot(id, pages, undefined).bot?.facts.authors ?? [];
}

async function committedFiles(
  repositoryOpener: RepositoryOpener,
  folder: string,
  wanted: (name: string) => boolean,
): Promise<Map<string, Buffer>> {
  const repository = await repositoryOpener.open();
  try {
    return await readCommittedFiles(repository, folder, wanted);
  } catch (error) {
    throw unavailableBecause(error);
  }
}
