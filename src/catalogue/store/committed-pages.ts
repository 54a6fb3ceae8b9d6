import type { BotId } from '../../bot/id.ts';
import { parseTree } from '../../git/objects/tree.ts';
import type { Repository } from '../../git/repository.ts';
import { botsFolder, folderOf, type PagePlace, parsePagePath } from '../page/layout.ts';

/** Returns the places of a bot's page files in a commit, each with its blob. @throws {GitError} */
export async function readCommittedPages(
  { objects, hash, prefix }: Pick<Repository, 'objects' | 'hash' | 'prefix'>,
  commit: string,
  id: BotId,
): Promise<{ readonly place: PagePlace; readonly blob: string }[]> {
  const folder = `${botsFolder}/${folderOf(id)}`;
  const tree = await objects.readOne(`${commit}:${prefix}${folder}`);
  const entries = tree?.type === 'tree' ? [...parseTree(tree.content, hash)] : [];
  return entries.flatMap(([name, { mode, id: blob }]) => {
    const place = name.startsWith(`${id}.`) ? parsePagePath(`${folder}/${name}`) : undefined;
    return place && mode.startsWith('100') ? [{ place, blob }] : [];
  });
}
