import type { BotId } from '../bot/id.ts';
import { readBot } from '../catalogue/store/bot-reader.ts';
import { noLimits } from '../catalogue/page/rules.ts';
import { readCommittedPages } from '../catalogue/store/committed-pages.ts';
import { parsePageFile } from '../catalogue/page/page-file.ts';
import { type RepositoryOpener, toUnavailableError } from '../git/repository.ts';

/**
 * Reads the authors of a bot from its record in the last commit. Uncommitted edits and the index are ignored. Empty when
 * the commit has no valid bot of this id.
 * @throws {WritesUnavailableError} when there is no repository, or it cannot be read
 */
export async function readCommittedAuthors(
  repositoryOpener: RepositoryOpener,
  id: BotId,
): Promise<readonly string[]> {
  const repository = await repositoryOpener.open();
  try {
    const files = await readCommittedPages(repository, 'HEAD', id);
    const blobs = await repository.objects.read(files.map(({ blob }) => blob));
    const pages = files.map(({ place }, i) => parsePageFile(place, blobs[i]?.content ?? Buffer.alloc(0)));
    return readBot(id, pages, undefined, noLimits).bot?.facts.authors ?? [];
  } catch (error) {
    throw toUnavailableError(error);
  }
}
