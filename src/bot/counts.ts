import type { BotId } from './id.ts';

/** The counts of all bots: how many servers each is in. They are read from memory. */
export interface Counts {
  /** Grows with each change of a count. */
  readonly version: number;

  /** Returns a bot's count; undefined for a bot without one. */
  count(id: BotId): number | undefined;

  /**
   * Sets a bot's count, 0 to 10,000,000,000. Resolves when it is durable.
   * @throws {WritesUnavailableError} when it is not saved
   */
  setCount(id: BotId, count: number): Promise<void>;
}

/** The counts for those that only read them. */
export type ReadonlyCounts = Omit<Counts, 'setCount'>;
