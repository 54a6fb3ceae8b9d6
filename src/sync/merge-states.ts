import { compareBotIds, type BotId } from '../bot/id.ts';
import { type BotState, mergeBotStates } from '../counts/bot-state.ts';
import { isOfDay, mergeDays } from '../counts/days.ts';
import { TimeSlice } from '../lib/time-slice.ts';
import { readShard, writeShard } from '../counts/shards.ts';
import { diffTrees } from '../git/diff.ts';
import { mergeBase, readTreeId } from '../git/history.ts';
import type { Repository } from '../git/repository.ts';
import { writeCommit, type NewFile } from '../git/commit/fast-import.ts';

/**
 * Merges the state of the remote into ours and returns the commit. Each bot has what `mergeBotStates` makes of both, each day
 * what `mergeDays` does. A merge commit has both as parents, or theirs alone where they share no commit: one was pruned then,
 * and ours would bring back what was.
 * @param ours null where there is no state yet
 * @throws {GitError}
 */
export async function mergeStates(
  repository: Repository,
  ours: string | null,
  theirs: string,
): Promise<string> {
  if (ours === null) return theirs;
  const base = await mergeBase(repository, ours, theirs);
  if (base === ours) return theirs;
  if (base === theirs) return ours;
  const files = await mergeFiles(repository, ours, theirs);
  const tree = await readTreeId(repository, theirs);
  if (files.size === 0 || tree === undefined) return theirs;
  const parents = base === undefined ? [theirs] : [theirs, ours];
  return await writeCommit(repository, { parents, tree, files, message: 'Merge the counts of a replica\n' });
}

/** Returns the merged files that differ from those of theirs. */
async function mergeFiles(
  repository: Repository,
  ours: string,
  theirs: string,
): Promise<Map<string, NewFile>> {
  const files = await diffTrees(repository, theirs, ours);
  const merged = new Map<string, NewFile>();
  const slice = new TimeSlice('service');
  for (const { path, before, after } of files) {
    if (after === null || !(isOfDay(path) || /^\d\d\/\d\d\.json$/.test(path))) continue;
    const ids = before === null ? [after.id] : [after.id, before.id];
    const [mine, other] = await repository.objects.read(ids);
    const [own = '', known = ''] = [mine, other].map((blob) => blob?.content.toString());
    const text = isOfDay(path) ? await mergeDays(known, own) : mergeShard(path, known, own);
    if (text !== known) merged.set(path, { mode: '100644', content: Buffer.from(text) });
    if (slice.isOver) await slice.next();
  }
  return merged;
}

/** Returns the first text, unchanged where the second adds nothing to it. */
function mergeShard(path: string, known: string, other: string): string {
  const states = new Map<BotId, BotState>();
  readShard(path, known, (id, state) => void states.set(id, state));
  let changed = false;
  readShard(path, other, (id, state) => {
    const before = states.get(id) ?? {};
    const merged = mergeBotStates(before, state);
    changed ||=
      merged.count !== before.count || merged.token !== before.token || merged.edited !== before.edited;
    states.set(id, merged);
  });
  if (!changed) return known;
  return writeShard([...states.keys()].toSorted(compareBotIds), (id) => states.get(id) ?? {});
}
