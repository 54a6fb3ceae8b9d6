import type { BotId } from '../bot/id.ts';
import { type NewFile, type PastCommit, writeHistory } from '../git/commit/fast-import.ts';
import { readRef, RefConflictError, stateRef, updateRefs } from '../git/refs.ts';
import type { Repository } from '../git/repository.ts';
import { hoursFolder, writeHours } from './hour-files.ts';
import {
  findLastOfPeriods,
  findOwnTree,
  HistoryReader,
  hourlyDays,
  listHours,
  type PastState,
  readHistory,
  secondsPerDay,
  secondsPerHour,
} from './state-history.ts';

/**
 * Returns the commits of a history, newest first, that pruning keeps: all since `since`, in seconds since the epoch, and
 * the last one of each day (UTC) before that. Of the tip's day it keeps the last one of each hour, unless that day is
 * before `firstDay` (since the epoch): the tip's tree is the state, which has no room for the hours of its day.
 */
export function selectCommits<T extends { readonly time: number }>(
  history: readonly T[],
  since: number,
  firstDay = Number.POSITIVE_INFINITY,
): T[] {
  const old = history.filter(({ time }) => time < since);
  const tipDay = dayOf(history[0]);
  const last = new Set([
    ...findLastOfPeriods(old, secondsPerDay).values(),
    ...findLastOfPeriods(
      old.filter((commit) => tipDay >= firstDay && dayOf(commit) === tipDay),
      secondsPerHour,
    ).values(),
  ]);
  return history.filter((commit, i) => i === 0 || commit.time >= since || last.has(commit));
}

/**
 * Prunes the history of the state ref: replaces it with a line of the kept commits, with their trees. The commit of a day
 * of the last month gets files with the counts at the end of its hours. Returns the number of removed commits; undefined,
 * without a change, where the ref moves at the same time. Content history is never pruned.
 * @param since in seconds since the epoch, as is `now`
 * @throws {GitError}
 */
export async function pruneHistory(
  repository: Repository,
  since: number,
  now = Date.now() / 1000,
): Promise<number | undefined> {
  const tip = await readRef(repository, stateRef);
  if (tip === null) return 0;
  const pruned = await writePrunedHistory(repository, tip, since, now);
  if (pruned === undefined) return 0;
  try {
    await updateRefs(repository, new Map([[stateRef, { from: tip, to: pruned.commit }]]));
  } catch (error) {
    if (error instanceof RefConflictError) return undefined;
    throw error;
  }
  return pruned.removed;
}

/**
 * Writes the pruned history of a state, on no ref. Returns its last commit and the number of removed commits; undefined
 * where pruning removes none.
 * @throws {GitError}
 */
export async function writePrunedHistory(
  repository: Repository,
  tip: string,
  since: number,
  now = Date.now() / 1000,
): Promise<{ readonly commit: string; readonly removed: number } | undefined> {
  const history = await readHistory(repository, tip);
  const firstDay = Math.floor(now / secondsPerDay) - hourlyDays;
  const keep = selectCommits(history, since, firstDay);
  if (keep.length === history.length) return undefined;
  const tipDay = dayOf(history[0]);
  const reader = new HistoryReader(repository);
  const prune = async (commit: PastState): Promise<KeptCommit> => {
    const day = dayOf(commit);
    if (commit.time >= since) return commit;
    if (day < firstDay) return { ...commit, hours: noFiles };
    if (day === tipDay) return commit;
    const ofDay = history.filter((other) => other.time < since && dayOf(other) === day);
    return ofDay.length === 1 ? commit : { ...commit, hours: await collectHours(reader, commit, ofDay) };
  };
  const kept: KeptCommit[] = [];
  try {
    for (const commit of keep) kept.push(await prune(commit));
  } finally {
    reader.close();
  }
  const commit = await writeHistory(repository, kept.toReversed().map(toPastCommit));
  return { commit, removed: history.length - keep.length };
}

/** A commit that is kept, and the files of hours that it gets: undefined where it keeps those it has. */
interface KeptCommit extends PastState {
  readonly hours?: ReadonlyMap<string, string>;
}

const noFiles: ReadonlyMap<string, string> = new Map();

/** The files for the hours of a day before that of its last commit, and for that hour its tree alone. */
async function collectHours(
  reader: HistoryReader,
  last: PastState,
  ofDay: readonly PastState[],
): Promise<ReadonlyMap<string, string>> {
  const indexes = await reader.readHourIndexes(ofDay);
  const lastHour = Math.floor(last.time / secondsPerHour);
  const moments = listHours(ofDay, indexes).filter(({ period }) => period < lastHour);
  const hours = moments.map(({ period, tree }) => ({ hour: period, tree }));
  const places = new Map(hours.map(({ hour }, place) => [hour, place]));
  const counts = new Map<BotId, (number | undefined)[]>();
  for (let next = 0; next < moments.length;) {
    next += await reader.read(moments, next, (period, id, count) => {
      const ofBot = counts.get(id) ?? Array<number | undefined>(hours.length).fill(undefined);
      counts.set(id, ofBot);
      ofBot[places.get(period) ?? 0] = count;
    });
  }
  if (counts.size === 0) return noFiles;
  return writeHours([...hours, { hour: lastHour, tree: findOwnTree(last.tree, indexes) }], counts);
}

function toPastCommit({ tree, time, identity, subject, hours }: KeptCommit): PastCommit {
  const texts = [...(hours ?? [])].map(([path, text]): [string, NewFile] => [
    path,
    { mode: '100644', content: Buffer.from(text) },
  ]);
  const files = new Map<string, NewFile>(hours === undefined ? [] : [[hoursFolder, null], ...texts]);
  return { committer: `${identity} ${time} +0000`, message: `${subject}\n`, tree, files };
}

function dayOf(commit: { readonly time: number } | undefined): number {
  return Math.floor((commit?.time ?? 0) / secondsPerDay);
}
