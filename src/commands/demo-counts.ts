import type { HistoryCommit } from '../git/commit/fast-import.ts';
import { toShardNumber, toShardPath, writeShard } from '../counts/shards.ts';
import { State } from '../counts/state.ts';
import { type DemoBot, toDemoId } from './demo-bots.ts';
import { formatCount } from '../lib/counted.ts';

/**
 * Yields the commits of a state with 90 days of counts, oldest first: one a day, and one every two hours in the last two
 * days. @param now milliseconds since the epoch
 */
export function* generateHistory(bots: readonly DemoBot[], now: number): Generator<HistoryCommit> {
  const state = new State();
  for (const daysAgo of commitTimes()) {
    const at = now - Math.round(daysAgo * msPerDay);
    const posted = bots
      .filter(
        (bot) =>
          isPosting(bot, daysAgo) &&
          state.merge(toDemoId(bot), { count: { value: computeCount(bot, daysAgo), at } }),
      )
      .map((bot) => toShardNumber(toDemoId(bot)));
    const files = [...new Set(posted)].map((shard): [string, string] => [
      toShardPath(shard),
      writeShard(state.botsOf(shard), (id) => state.get(id)),
    ]);
    const message = `Count ${formatCount(posted.length, 'bot')}\n`;
    if (posted.length > 0) yield { time: Math.floor(at / 1000), message, files: new Map(files) };
  }
}

const msPerDay = 86_400_000;

/** Yields when commits are made, in days before now. The last one is 20 minutes old. */
function* commitTimes(): Generator<number> {
  for (let days = 90; days > 2; days--) yield days;
  for (let hours = 48; hours > 0; hours -= 2) yield (hours - 2) / 24 + 20 / (24 * 60);
}

function isPosting({ servers, created, lastCount = 0 }: DemoBot, daysAgo: number): boolean {
  return servers !== undefined && daysAgo <= created && daysAgo >= lastCount;
}

/** Returns the count at a time: it grows or falls evenly, with small waves that end today. */
function computeCount({ servers = 0, growth = 1, author }: DemoBot, daysAgo: number): number {
  const waves = 1 + 0.004 * (Math.sin(daysAgo * 0.9 + author) - Math.sin(author));
  return Math.round(servers * growth ** (-daysAgo / 30) * waves);
}
