import type { BotId } from '../../bot/id.ts';
import { findTreeEntries } from '../../git/diff.ts';
import { parseTree, toKind, type TreeEntry } from '../../git/objects/objects.ts';
import type { Repository } from '../../git/repository.ts';
import { splitIntoParts } from '../../lib/worker-pool.ts';
import { botsFolder, folderOf, isFolderName, parsePlace } from '../page/layout.ts';
import type { BotStore } from '../store/bot-store.ts';
import type { PageBlobs, ReadonlyChanges } from './change-index.ts';

/** A bot whose pages differ between two commits. */
export interface ChangedBot {
  readonly id: BotId;
  /** `added` where it had no page before, `removed` where it has none any more. */
  readonly what: 'added' | 'changed' | 'removed';
  readonly pages: readonly PageBlobs[];
}

/**
 * Yields the bots whose pages differ between two commits, folder by folder, in the order of their files' names. A few folders
 * are in memory at a time.
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
  const folders = listDifferent(before, now).filter(
    (folder) => isFolderName(folder) && (after === undefined || folder >= folderOf(after)),
  );
  for await (const [folder, files, newFiles] of readFolders(repository, folders, before, now)) {
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

/** Yields each folder as it was before and as it is now. */
async function* readFolders(
  repository: Repository,
  folders: readonly string[],
  before: Tree,
  now: Tree,
): AsyncGenerator<[folder: string, before: Tree, now: Tree]> {
  for (const some of splitIntoParts(folders, foldersAtATime)) {
    const trees = await readTrees(
      repository,
      some.flatMap((folder) => [before.get(folder), now.get(folder)]),
    );
    for (const [i, folder] of some.entries())
      yield [folder, trees[2 * i] ?? new Map(), trees[2 * i + 1] ?? new Map()];
  }
}

/** As many as make one read of Git worth its time. */
const foldersAtATime = 16;

async function readTop(repository: Repository, commit: string | null): Promise<Tree> {
  const path = repository.prefix + botsFolder;
  const entry = (await findTreeEntries(repository, commit, [path])).get(path);
  return (await readTrees(repository, [entry]))[0] ?? new Map();
}

/** Returns what is in each folder; nothing where it is none. Not from the cache of trees, which batches need. */
async function readTrees(
  { objects, hash }: Repository,
  entries: readonly (TreeEntry | undefined)[],
): Promise<Tree[]> {
  const ids = entries.flatMap((entry) => (entry && toKind(entry.mode) === 'folder' ? [entry.id] : []));
  const found = new Map(
    (await objects.read(ids)).flatMap((object) => (object ? [[object.id, object.content]] : [])),
  );
  return entries.map((entry) => parseTree(found.get(entry?.id ?? '') ?? Buffer.alloc(0), hash));
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

/**
 * Returns when a bot was removed, in milliseconds since the epoch: when its last file was seen to go, else the time of the
 * commit. Undefined for a bot of which that is not known, and for one that has a file: while that is faulty, it is not served.
 */
export type RemovedAt = (id: BotId) => Promise<number | undefined>;

/** Notes the bots that go from now on. Of the others the index knows; nothing without a repository, or before it is complete. */
export function followRemovedBots(store: BotStore, changes: Pick<ReadonlyChanges, 'list'>): RemovedAt {
  const seen = new Map<BotId, number>();
  store.on('change', (id) => {
    if (store.bots.get(id)) seen.delete(id);
    else if (seen.size < maxSeen) seen.set(id, Date.now());
  });
  return async (id) => {
    if (store.bots.get(id) || store.hasFaultyFile(id)) return undefined;
    const time = seen.get(id);
    if (time !== undefined) return time;
    const [last] = await changes.list(id);
    return last?.pages.every(({ after }) => after === undefined) ? last.time : undefined;
  };
}

/** About 10 MB. */
const maxSeen = 100_000;
