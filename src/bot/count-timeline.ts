import type { BotId } from './id.ts';

/** The length of the periods that a series is made of. */
export type CountStep = 'hour' | 'day';

/** The last count that was known at the end of a period, or is known now where that is not over. */
export interface CountAt {
  /** Hours or days (UTC) since the epoch. */
  readonly period: number;
  readonly count: number;
}

/** Each bot's counts over time, as reads need them. */
export interface CountTimeline {
  /** Whether the history is read: until then nothing else here can tell. Waits for that a moment at most. */
  isRead(): Promise<boolean>;
  /** Differs from what it was once the counts of a bot may be others. */
  stamp(id: BotId, step: CountStep): string;
  /** The last period of a step, which is not over. */
  present(step: CountStep): number;
  /** The first period that a bot has a count of; undefined where it has none. */
  first(id: BotId, step: CountStep): number | undefined;
  /** The bot's counts from one period to another, both included; periods before its first, and those to come, are left out. */
  counts(id: BotId, step: CountStep, from: number, to: number): CountAt[];
}
