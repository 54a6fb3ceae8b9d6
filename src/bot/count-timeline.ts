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
  /** Whether the history was read: until then there is nothing to tell. */
  readonly ready: boolean;
  /** Differs from what it was once the counts of a bot may be others. */
  stamp(id: BotId, step: CountStep): string;
  /** The last period of a step, which is not over. */
  present(step: CountStep): number;
  /** The first period that a bot has a count of; undefined where it has none. */
  first(id: BotId, step: CountStep): number | undefined;
  /** The bot's counts from one period to another, both included; periods before its first, and those to come, are left out. */
  counts(id: BotId, step: CountStep, from: number, to: number): CountAt[];
  /**
   * By how much of itself a bot's count has grown since the day 30 days ago began: 0.25 is a quarter more, -0.5 half
   * of it. Undefined where it had none then.
   */
  growth(id: BotId): number | undefined;
}
