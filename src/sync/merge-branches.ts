import type { BotId } from '../bot/id.ts';
import { parsePagePath } from '../catalogue/page/layout.ts';
import { isMergedByKey } from '../catalogue/page/merge-file.ts';
import { type NewFile, writeCommit } from '../git/commit/fast-import.ts';
import { diffTrees, type GitFile } from '../git/diff.ts';
import { readTreeId } from '../git/history.ts';
import type { Repository } from '../git/repository.ts';
import { type FileVersions, mergeFiles, type Sides, toCataloguePath } from './merge-files.ts';
import { formatMergeMessage, type DroppedEdit } from './dropped-edits.ts';

/** What merging two sides comes to. */
export interface BranchMerge {
  readonly commit: string;
  readonly droppedEdits: readonly DroppedEdit[];
}

/**
 * Makes a merge commit of both sides, theirs first. Files with keys that both changed are merged by meaning, whether Git
 * saw a conflict or not. Of a key of a page that both changed, what people committed wins over a post, the later of two
 * posts over the earlier, and theirs otherwise. The commit's message says what was set aside.
 * @throws {GitError}
 */
export async function mergeBranches(repository: Repository, sides: Sides): Promise<BranchMerge> {
  const { ours, theirs } = sides;
  const changes = await readChanges(repository, sides);
  const { tree, conflicts } = await mergeTrees(repository, ours, theirs);
  const both = new Map<string, FileVersions>(conflicts);
  for (const [path, versions] of changes.both)
    if (conflicts.has(path) || isMergedByKey(toCataloguePath(repository, path))) both.set(path, versions);
  const { files, droppedEdits } = await mergeFiles(repository, both, changes.theirs, sides);
  const message = formatMergeMessage('Merge the updates of', changes.bots, droppedEdits);
  const commit = await writeCommit(repository, { parents: [theirs, ours], tree, files, message });
  return { commit, droppedEdits };
}

/**
 * Replays what ours changed since `base` on top of theirs, which no longer has `base` in its history: one commit, with
 * theirs as its only parent. What both changed is decided as in a merge. Returns their tip itself where it has all of
 * our changes.
 * @throws {GitError}
 */
export async function replayOnto(repository: Repository, sides: Sides): Promise<BranchMerge> {
  const { theirs } = sides;
  const changes = await readChanges(repository, sides);
  const { files: merged, droppedEdits } = await mergeFiles(repository, changes.both, changes.theirs, sides);
  const files = new Map([...changes.ours, ...merged]);
  const tree = await readTreeId(repository, theirs);
  if (files.size === 0 || tree === undefined) return { commit: theirs, droppedEdits };
  const verb = 'Replay, on the rewritten branch, the updates of';
  const message = formatMergeMessage(verb, changes.bots, droppedEdits);
  const commit = await writeCommit(repository, { parents: [theirs], tree, files, message });
  const isSame = (await readTreeId(repository, commit)) === tree;
  return { commit: isSame ? theirs : commit, droppedEdits };
}

/** What two sides changed since their base. */
interface Changes {
  /** The files that ours alone changed. */
  readonly ours: ReadonlyMap<string, NewFile>;
  /** All files that theirs changed. */
  readonly theirs: ReadonlyMap<string, GitFile | null>;
  /** The files that both changed, each in another way. */
  readonly both: ReadonlyMap<string, FileVersions>;
  /** The bots of which ours changed a file. */
  readonly bots: readonly BotId[];
}

async function readChanges(repository: Repository, { base, ours, theirs }: Sides): Promise<Changes> {
  const ourChanges = await diffTrees(repository, base, ours);
  const theirChanges = await diffTrees(repository, base, theirs);
  const theirFiles = new Map(theirChanges.map(({ path, after }) => [path, after]));
  const alone = new Map<string, NewFile>();
  const both = new Map<string, FileVersions>();
  const bots = new Set<BotId>();
  for (const { path, before, after } of ourChanges) {
    const other = theirFiles.get(path);
    if (other === undefined) alone.set(path, after);
    else if (other?.id !== after?.id || other?.mode !== after?.mode)
      both.set(path, { base: before, ours: after, theirs: other });
    const bot = parsePagePath(path, repository.prefix)?.id;
    if (bot !== undefined) bots.add(bot);
  }
  return { ours: alone, theirs: theirFiles, both, bots: [...bots] };
}

/**
 * Merges without a checkout. Returns the merged tree, with conflict markers in it, and the versions of each conflict.
 */
async function mergeTrees(
  repository: Repository,
  ours: string,
  theirs: string,
): Promise<{ tree: string; conflicts: Map<string, FileVersions> }> {
  const [tree = '', ...entries] = (await repository.run([...mergeTree, ours, theirs], { accepts: 1 })).split(
    '\0',
  );
  const conflicts = new Map<string, FileVersions>();
  for (const entry of entries) {
    const [, mode, id, stage, path] = /^(\d+) ([0-9a-f]+) ([123])\t(.+)$/s.exec(entry) ?? [];
    if (mode === undefined || id === undefined || stage === undefined || path === undefined) continue;
    const side = ({ 1: 'base', 2: 'ours', 3: 'theirs' } as const)[stage as '1' | '2' | '3'];
    const known = conflicts.get(path) ?? { base: null, ours: null, theirs: null };
    conflicts.set(path, { ...known, [side]: { mode, id } });
  }
  return { tree, conflicts };
}

const mergeTree = [
  '-c',
  'merge.directoryRenames=false',
  '-c',
  'merge.renameLimit=1000',
  'merge-tree',
  '--write-tree',
  '-z',
  '--no-messages',
];
