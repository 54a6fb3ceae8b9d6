import type { ReadonlyCounts } from '../../src/bot/counts.ts';
import type { BotId } from '../../src/bot/id.ts';
import type { ReadonlyCountHistory } from '../../src/counts/count-history.ts';
import type { StateRef } from '../../src/counts/state-ref.ts';
import { toDay, toDayPath, toShardNumber, toShardPath } from '../../src/counts/state.ts';
import { fastImport, formatCommit } from './repository.ts';
import { gitSync } from './run-sync.ts';

/** The counts of bots that have none. */
export const noCounts: ReadonlyCounts = {
  version: 0,
  count: () => undefined,
  growth: () => undefined,
  reportedAt: () => undefined,
};

/** The counts over time of bots that have none. */
export const noCountHistory: ReadonlyCountHistory = {
  isRead: async () => true,
  present: () => 20_000,
  first: () => undefined,
  counts: () => [],
};

/** Returns the commit at the tip of a state ref, and the texts of its shards by path. */
export async function readState(
  ref: Pick<StateRef, 'read'>,
  known?: string,
): Promise<{ readonly commit: string | null; readonly files: ReadonlyMap<string, string> }> {
  const { commit, shards } = await ref.read(known);
  const files = new Map<string, string>();
  for await (const [path, content] of shards) files.set(path, content.toString());
  return { commit, files };
}

/** Counts that a service committed at some time: seconds since the epoch. */
export interface CountCommit {
  readonly time: number;
  readonly counts: Readonly<Record<string, number>>;
}

/** Adds commits to the state ref of a repository, each with the file of its day. Each bot is in a shard of its own. */
export function commitCounts(folder: string, commits: readonly CountCommit[]): void {
  const days = new Map<number, Record<string, number>>();
  const ref = gitSync({ args: ['for-each-ref', 'refs/botshelf/state'], cwd: folder });
  const parts = commits.map(({ time, counts }, i) => {
    const day = toDay(time * 1000);
    const all = { ...days.get(day), ...counts };
    days.set(day, all);
    const lines = Object.entries(all).map(([id, count]) => `${id} ${count}\n`);
    const shards = Object.entries(counts).map(([id, count]) => [
      toShardPath(toShardNumber(id as BotId)),
      `{\n"${id}":{"count":${count},"countedAt":${time * 1000 + 5}}\n}\n`,
    ]);
    const files = { ...Object.fromEntries(shards), [toDayPath(day)]: lines.join('') };
    const parent = i === 0 && ref !== '' ? 'refs/botshelf/state^0' : null;
    return formatCommit('refs/botshelf/state', { files, at: time, message: 'Count it' }, parent);
  });
  fastImport(folder, parts.join(''));
}
