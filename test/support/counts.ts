import type { ReadonlyCounts } from '../../src/bot/counts.ts';

/** The counts of bots that have none. */
export const noCounts: ReadonlyCounts = {
  version: 0,
  count: () => undefined,
  growth: () => undefined,
  reportedAt: () => undefined,
};
