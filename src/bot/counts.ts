import type { BotId } from './id.ts';

/** The counts of all bots: how many servers each is in. They are read from memory. */
export interface Counts {
  /** Grows with each change of a count or of its growth. */
  readonly version: number;

  /** Returns a bot's count; undefined for a bot without one. */
  count(id: BotId): number | undefined;

  /**
   * Returns the relative growth of a bot's count since the end of the day 30 days ago: 0.25 is a quarter more, -0.5
   * half of it. Undefined for a bot without a count then.
   */
  growth(id: BotId): number | undefined;

  /**
   * Returns when a bot's count was last posted, in milliseconds since the epoch; undefined for a bot without one. After
   * a restart it may be an hour early, because an unchanged count is not written each time.
   */
  reportedAt(id: BotId): number | undefined;

  /**
   * Sets a bot's count, 0 to 10,000,000,000. Resolves when it is durable.
   * @throws {BotshelfError} unavailable, when it is not saved
   */
  setCount(id: BotId, count: number): Promise<void>;
}

/** The counts for those that only read them. */
export type ReadonlyCounts = Omit<Counts, 'setCount'>;

/** Returns the growth of a bot; undefined for a bot on few servers, where a single server would be much. */
export function findRankedGrowth(counts: ReadonlyCounts, id: BotId): number | undefined {
  return (counts.count(id) ?? 0) < minRankedCount ? undefined : counts.growth(id);
}

const minRankedCount = 100;
