import { type PageData, parsePage } from '../catalogue/page/page.ts';
import type { Repository } from '../git/repository.ts';

/**
 * Returns the front matter of the page file with this blob; undefined for no blob and for what is no page.
 * @param path of the page, which says how it is read
 * @throws {GitError}
 */
export async function readPageData(
  { objects }: Pick<Repository, 'objects'>,
  path: string,
  blob: string | undefined,
): Promise<PageData | undefined> {
  const object = blob === undefined ? undefined : await objects.readOne(blob);
  return object && parsePage(path, object.content).page?.data;
}
