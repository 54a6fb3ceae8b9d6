import { compareBotIds, type BotId } from '../bot/id.ts';
import type { BotState } from '../state/bot-state/bot-state.ts';
import { mergeBotStates } from '../state/bot-state/merge.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import { readShard, writeShard } from '../state/ref/shards.ts';
import { diffTrees } from '../git/file-change.ts';
import { hasCommit, mergeBase, treeOf } from '../git/history.ts';
import type { Repository } from '../git/repository.ts';
import { writeCommit, type NewFile } from '../git/commit/fast-import.ts';

/**
 * The commit that the state ref goes to when it is at `ours` (null: nowhere) and the remote's at `theirs`: of each
 * bot it has what `mergeBotStates` makes of both. Ours goes into its history with a commit of two parents, or with
 * none of its own where theirs is the same history thinned: then what was thinned away would come back with it.
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
  const tree = await treeOf(repository, theirs);
  if (files.size === 0 || tree === undefined) return theirs;
  const parents = (await isThinned(repository, ours, theirs)) ? [theirs] : [theirs, ours];
  return await writeCommit(repository, { parents, tree, files, message: 'Merge the counts of a replica\n' });
}

/** The files that a merge changes on the side of theirs, merged. */
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

/** The first text itself where the second changes nothing in it. */
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
 * Whether two histories that have parted are one that was thinned on one side: then commits of both, after the
 * point where they parted, are twins, of the same tree, time and words.
 */
async function isThinned(repository: Repository, ours: string, theirs: string): Promise<boolean> {
  const base = await mergeBase(repository, ours, theirs);
  const list = async (tip: string): Promise<string[]> => {
    const range = base === undefined ? [tip] : [tip, `^${base}`];
    return (await repository.run(['log', '--format=%T %ct %s', ...range])).split('\n').slice(0, -1);
  };
  const known = new Set(await list(theirs));
  return (await list(ours)).some((commit) => known.has(commit));
}
