import { isError } from '../lib/errors.ts';
import { compareBotIds, type BotId } from '../bot/id.ts';
import { isOfDay, mergeDays, type BotState, mergeBotStates, readShard, writeShard } from '../counts/state.ts';
import { writeCommit, type NewFile } from '../git/commit-files.ts';
import { diffTrees, mergeBase, readTreeId } from '../git/history.ts';
import { maxStallSeconds } from '../git/run-git.ts';
import { moveRefs, readRef, stateRef, type Repository, type RepositoryOpener } from '../git/repository.ts';
import { retry } from '../lib/retry.ts';
import { TimeSlice } from '../lib/time-slice.ts';
import type { RemoteState } from '../tokens/shared-tokens.ts';
import {
  pushWithRetries,
  withRemoteMessage,
  fetchRemoteState,
  pushRemote,
  type Remote,
  remoteRefs,
} from './remote.ts';

/** Merges the remote's state into ours, and returns whether ours has moved. @throws {GitError} */
export async function mergeState(repository: Repository, theirs: string): Promise<boolean> {
  const merge = async (): Promise<boolean> => {
    const ours = await readRef(repository, stateRef);
    const to = await mergeStates(repository, ours, theirs);
    if (to !== ours) await moveRefs(repository, new Map([[stateRef, { from: ours, to }]]));
    return to !== ours;
  };
  // Other processes here may move the ref too.
  return await retry(merge, {
    maxAttempts: 10,
    isRetriable: (error) => isError(error, 'ref-conflict'),
  });
}

/** Fetches the remote's state alone, merges it into ours, and returns whether ours has moved. @throws {GitError} */
export async function fetchState(repository: Repository, remote: Remote): Promise<boolean> {
  const theirs = await fetchRemoteState(repository, remote);
  return theirs !== null && (await mergeState(repository, theirs));
}

/**
 * Pushes our state alone, merged with the remote's where that has moved, and returns the pushed commit; null if this
 * clone has no state.
 * @throws {GitError}
 */
export async function pushState(repository: Repository, remote: Remote): Promise<string | null> {
  const push = async (): Promise<string | null> => {
    const commit = await readRef(repository, stateRef);
    if (commit !== null) await pushRemote(repository, [{ ref: stateRef, commit }], remote);
    return commit;
  };
  return await pushWithRetries(push, async () => await fetchState(repository, remote), remote.signal);
}

/** Returns whether the state of a remote was ever fetched into this clone. */
export async function hasFetchedState(repository: Repository): Promise<boolean> {
  const found = await Promise.all(
    [remoteRefs.state, remoteRefs.base].map(async (ref) => await readRef(repository, ref)),
  );
  return found.some((commit) => commit !== null);
}

/** Opens the state of a remote for a process that has no `Sync`; `signal` aborts what it does there. */
export async function openRemoteState(
  repositoryOpener: RepositoryOpener,
  address: string,
  signal: AbortSignal,
): Promise<RemoteState> {
  const remote: Remote = { address, stallSeconds: maxStallSeconds, signal };
  const repository = await repositoryOpener.open();
  let fetched = await hasFetchedState(repository);
  return {
    get stateFetched() {
      return fetched;
    },
    fetchState: async () => {
      await withRemoteMessage(fetchState(repository, remote));
      fetched = true;
    },
    pushState: async () => void (await withRemoteMessage(pushState(repository, remote))),
  };
}

/**
 * Merges the state of the remote into ours and returns the commit. Each bot has what `mergeBotStates` makes of both, each day
 * what `mergeDays` does. A merge commit has both as parents, or theirs alone where they share no commit: one was pruned then,
 * and ours would bring back what was.
 * @param ours null if there is no state yet
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
