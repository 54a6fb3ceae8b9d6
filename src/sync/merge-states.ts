import { compareBotIds, type BotId } from '../bot/id.ts';
import { type BotState, mergeBotStates } from '../counts/bot-state.ts';
import { TimeSlice } from '../lib/time-slice.ts';
import { readShard, writeShard } from '../counts/shards.ts';
import { diffTrees } from '../git/diff.ts';
import { hasCommit, mergeBase, readTreeId } from '../git/history.ts';
import type { Repository } from '../git/repository.ts';
import { writeCommit, type NewFile } from '../git/commit/fast-import.ts';

/**
 * Merges the state of the remote into ours and returns the commit. Each bot has what `mergeBotStates` makes of both. A
 * merge commit has both as parents, or theirs alone where that is a pruned copy of our history: ours would bring back
 * what was pruned.
 * @param ours null where there is no state yet
 * @throws {GitError}
 */
export async function mergeStates(
  repository: Repository,
  ours: string | null,
  theirs: string,
): Promise<string> {
  if (ours === null || (await hasCommit(repository, theirs, ours))) return theirs;
  if (await hasCommit(repository, ours, theirs)) return ours;
  const files = await mergeShards(repository, ours, theirs);
  const tree = await readTreeId(repository, theirs);
  if (files.size === 0 || tree === undefined) return theirs;
  const parents = (await isPruned(repository, ours, theirs)) ? [theirs] : [theirs, ours];
  return await writeCommit(repository, { parents, tree, files, message: 'Merge the counts of a replica\n' });
}

/** Returns the merged files that differ from those of theirs. */
async function mergeShards(
  repository: Repository,
  ours: string,
  theirs: string,
): Promise<Map<string, NewFile>> {
  const files = await diffTrees(repository, theirs, ours);
  const merged = new Map<string, NewFile>();
  const slice = new TimeSlice('service');
  for (const { path, before, after } of files) {
    if (after === null || !/^\d\d\/\d\d\.json$/.test(path)) continue;
    const ids = before === null ? [after.id] : [after.id, before.id];
    const [mine, other] = await repository.objects.read(ids);
    const [own, known] = [mine, other].map((blob) => blob?.content.toString() ?? '{\n}\n');
    const text = mergeShard(path, known ?? '', own ?? '');
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
    changed ||= merged.count !== before.count || merged.token !== before.token;
    states.set(id, merged);
  });
  if (!changed) return known;
  return writeShard([...states.keys()].toSorted(compareBotIds), (id) => states.get(id) ?? {});
}

/**
 * Returns whether two diverged histories are one that was pruned on one side: then both have, after the point where
 * they diverged, commits of the same tree, time and subject.
 */
async function isPruned(repository: Repository, ours: string, theirs: string): Promise<boolean> {
  const base = await mergeBase(repository, ours, theirs);
  const list = async (tip: string): Promise<(readonly [content: string, id: string])[]> => {
    const range = base === undefined ? [tip] : [tip, `^${base}`];
    const lines = (await repository.run(['log', '--format=%H %T %ct %s', ...range])).split('\n').slice(0, -1);
    return lines.map((line) => [line.slice(line.indexOf(' ')), line.slice(0, line.indexOf(' '))]);
  };
  const known = new Map(await list(theirs));
  // Where a clock was behind, Git lists commits of both, too.
  return (await list(ours)).some(([content, id]) => (known.get(content) ?? id) !== id);
}
