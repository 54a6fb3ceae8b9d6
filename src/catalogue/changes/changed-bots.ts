import type { BotId } from '../../bot/id.ts';
import { parseTree, toKind, type TreeEntry } from '../../git/objects/tree.ts';
import type { Repository } from '../../git/repository.ts';
import { findTreeEntries } from '../../git/tree-listing.ts';
import { botsFolder, folderOf, isFolderName, parsePlace } from '../page/layout.ts';
import type { PageBlobs } from './change-index.ts';

/** A bot whose pages differ between two commits. */
export interface ChangedBot {
  readonly id: BotId;
  /** `added` where it had no page before, `removed` where it has none any more. */
  readonly what: 'added' | 'changed' | 'removed';
  readonly pages: readonly PageBlobs[];
}

/**
 * Yields the bots whose pages differ between two commits, folder by folder, in the order of their files' names. One folder at
 * a time is in memory.
 * @param from null for the empty history
 * @param after the bot that they begin after; the first one where left out
 * @throws {GitError}
 */
export async function* listChangedBots(
  repository: Repository,
  from: string | null,
  to: string,
  after?: BotId,
): AsyncGenerator<ChangedBot> {
  const [before, now] = [await readTop(repository, from), await readTop(repository, to)];
  for (const folder of listDifferent(before, now)) {
    if (!isFolderName(folder) || (after !== undefined && folder < folderOf(after))) continue;
    const files = await readTree(repository, before.get(folder));
    const newFiles = await readTree(repository, now.get(folder));
    const bots = new Map<BotId, PageBlobs[]>();
    for (const name of listDifferent(files, newFiles)) {
      const place = parsePlace(folder, name);
      const page = { before: toBlob(files.get(name)), after: toBlob(newFiles.get(name)) };
      if (!('id' in place) || page.before === page.after) continue;
      const { id, locale } = place;
      const isGiven = after !== undefined && folder === folderOf(after) && `${id}.` <= `${after}.`;
      if (!isGiven) bots.set(id, [...(bots.get(id) ?? []), { locale, ...page }]);
    }
    for (const [id, pages] of bots) {
      const isNew = pages.every((page) => page.before === undefined) && !hasPage(files, folder, id);
      const isGone = pages.every((page) => page.after === undefined) && !hasPage(newFiles, folder, id);
      yield { id, what: isNew ? 'added' : isGone ? 'removed' : 'changed', pages };
    }
  }
}

type Tree = ReadonlyMap<string, TreeEntry>;

async function readTop(repository: Repository, commit: string | null): Promise<Tree> {
  const path = repository.prefix + botsFolder;
  return await readTree(repository, (await findTreeEntries(repository, commit, [path])).get(path));
}

/** Returns what is in a folder; nothing where it is none. Not from the cache of trees, which batches need. */
async function readTree({ objects, hash }: Repository, entry: TreeEntry | undefined): Promise<Tree> {
  if (entry === undefined || toKind(entry.mode) !== 'folder') return new Map();
  return parseTree((await objects.readOne(entry.id))?.content ?? Buffer.alloc(0), hash);
}

/** Returns the names whose entries are not the same, in order. */
function listDifferent(a: Tree, b: Tree): string[] {
  const names = [...new Set([...a.keys(), ...b.keys()])];
  return names
    .filter((name) => a.get(name)?.id !== b.get(name)?.id || a.get(name)?.mode !== b.get(name)?.mode)
    .toSorted();
}

/** Returns the blob of a regular file. */
function toBlob(entry: TreeEntry | undefined): string | undefined {
  return entry?.mode.startsWith('100') ? entry.id : undefined;
}

function hasPage(tree: Tree, folder: string, id: BotId): boolean {
  return [...tree].some(
    ([name, entry]) => name.startsWith(`${id}.`) && toBlob(entry) && 'id' in parsePlace(folder, name),
  );
}
