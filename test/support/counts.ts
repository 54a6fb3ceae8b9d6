import type { ReadonlyCountHistory } from '../../src/counts/count-history.ts';
import type { ReadonlyCounts } from '../../src/bot/counts.ts';

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
  stamp: () => '',
  present: () => 20_000,
  first: () => undefined,
  counts: () => [],
};
