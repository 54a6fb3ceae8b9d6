import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WritesUnavailableError } from '../bot/errors.ts';
import type { BotId } from '../bot/id.ts';
import type { Log } from '../lib/log.ts';
import { readRef, stateRef } from '../git/refs.ts';
import type { RepositoryOpener } from '../git/repository.ts';
import { messageOf } from '../lib/errors.ts';
import type { Count } from './bot-state.ts';
import { CountSeries, readSeries, writeSeries } from './count-series.ts';
import {
  computeFirstHour,
  HistoryReader,
  planReading,
  secondsPerDay,
  secondsPerHour,
} from './state-history.ts';

/** The length of the periods that counts are read by. */
export type CountStep = 'hour' | 'day';

/** The last count that was known at the end of a period, or is known now where that is not over. */
export interface CountAt {
  /** Hours or days (UTC) since the epoch. */
  readonly period: number;
  readonly count: number;
}

export interface CountHistoryOptions {
  readonly repositoryOpener: RepositoryOpener;
  /** The latest count of a bot. */
  readonly latest: (id: BotId) => Count | undefined;
  /** The folder for the cache: `<var>`. */
  readonly folder: string;
  /** Where another machine may commit to the state: the seconds between two looks for its commits. */
  readonly syncSeconds?: number | undefined;
  /** Whether the cache is read only, as that of another process. */
  readonly isReadOnly?: boolean;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/**
 * Each bot's counts over time: at the end of each day for ever, at the end of each hour for 30 days and today. They are read
 * from the history of the state ref, at the start and after each hour, in the background; a cache spares most of that.
 * A period that is not over, or not read yet, has the latest count.
 */
export class CountHistory {
  readonly #options: CountHistoryOptions;
  readonly #now: () => number;
  #days = new CountSeries();
  #hours = new CountSeries();
  readonly #cache: string;
  readonly #stop = new AbortController();
  #isCacheRead = false;
  #isSaved = true;
  /** The hour since the epoch that was read last; undefined until all were. */
  #readHour: number | undefined;
  #readTip: string | null | undefined;
  #version = 0;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  /** How often it has failed in a row. */
  #failures = 0;

  constructor(options: CountHistoryOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#cache = join(options.folder, 'count-history');
  }

  /** Grows when more of the counts over time was read. */
  get version(): number {
    return this.#version;
  }

  /** Whether the history is read: until then nothing else here can tell. Waits for that a moment at most. */
  async isRead(): Promise<boolean> {
    if (this.#readHour === undefined && this.#running)
      await Promise.race([this.#running, sleep(readTimeoutMs, undefined, { ref: false })]);
    return this.#readHour !== undefined;
  }

  /** Differs from what it was once the counts of a bot may be others. */
  stamp(id: BotId, step: CountStep): string {
    return `${this.#version} ${this.present(step)} ${this.#options.latest(id)?.value}`;
  }

  /** Begins to read, and goes on after each hour until it is closed. */
  start(): void {
    this.#running = this.#round().finally(() => {
      if (this.#stop.signal.aborted) return;
      this.#timer = setTimeout(() => this.start(), this.#wait()).unref();
    });
  }

  /** Ends what is under way, and saves what the cache does not have yet. */
  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    await this.#running;
    await this.#save();
  }

  /**
   * Brings the series to what the state ref's history has now.
   * @throws {GitError}
   * @throws {WritesUnavailableError} where there is no repository
   */
  async update(): Promise<void> {
    const isFirst = this.#readHour === undefined;
    if (!this.#isCacheRead)
      [this.#days, this.#hours] = (await readSeries(this.#cache)) ?? [this.#days, this.#hours];
    this.#isCacheRead = true;
    const repository = await this.#options.repositoryOpener.open();
    const now = this.#now() / 1000;
    const lastHour = Math.floor(now / secondsPerHour) - 1;
    const tip = await readRef(repository, stateRef);
    if (tip === this.#readTip && lastHour === this.#readHour) return;
    const reader = new HistoryReader(repository, this.#stop.signal);
    try {
      const { days, hours } = await planReading(repository, reader, tip, now);
      const isNewDay = await this.#days.update(days, reader);
      const isNewHour = await this.#hours.update(hours, reader);
      this.#readHour = lastHour;
      this.#readTip = tip;
      if (isFirst || isNewDay || isNewHour) this.#version++;
      this.#isSaved &&= !isNewDay && !isNewHour;
      if (isNewDay) await this.#save();
    } finally {
      reader.close();
    }
  }

  /** The last period of a step, which is not over. */
  present(step: CountStep): number {
    return Math.floor(this.#now() / 1000 / secondsOf[step]);
  }

  /** The first period that a bot has a count of; undefined where it has none. */
  first(id: BotId, step: CountStep): number | undefined {
    return this.#series(step).first(id)?.period ?? (this.#options.latest(id) && this.present(step));
  }

  /** The bot's counts from one period to another, both included; periods before its first, and those to come, are left out. */
  counts(id: BotId, step: CountStep, from: number, to: number): CountAt[] {
    const changes = this.#series(step).changes(id);
    const latest = this.#options.latest(id);
    const present = this.present(step);
    const readUntil = Math.floor((((this.#readHour ?? -1) + 1) * secondsPerHour) / secondsOf[step]) - 1;
    const found: CountAt[] = [];
    let next = 0;
    for (let period = from; period <= Math.min(to, present); period++) {
      while ((changes[next]?.period ?? Infinity) <= period) next++;
      const known = changes[next - 1]?.count;
      const isOver =
        period < present && latest !== undefined && latest.at >= (period + 1) * secondsOf[step] * 1000;
      const count = period <= readUntil || isOver ? known : (latest?.value ?? known);
      if (count !== undefined) found.push({ period, count });
    }
    return found;
  }

  /** The growth of a bot's count, as `Counts` has it. */
  growth(id: BotId): number | undefined {
    const before = this.#hours.first(id);
    const latest = this.#options.latest(id);
    if (before === undefined || latest === undefined || before.count === 0) return undefined;
    return before.period < computeFirstHour(this.#now() / 1000) ? latest.value / before.count - 1 : undefined;
  }

  #series(step: CountStep): CountSeries {
    return step === 'day' ? this.#days : this.#hours;
  }

  async #round(): Promise<void> {
    try {
      await this.update();
      this.#failures = 0;
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      this.#failures++;
      // Warns once, when it fails again; a repository that is missing is reported by every write.
      const level = this.#failures === 2 && !(error instanceof WritesUnavailableError) ? 'warn' : 'debug';
      this.#options.log[level](
        { err: error },
        `could not read counts over time from the state ref: ${messageOf(error)}; retrying in a minute`,
      );
    }
  }

  /** Milliseconds until the next round: until the hour is over, or something may have failed or come before. */
  #wait(): number {
    const hour = secondsPerHour * 1000;
    const untilHour = hour - (this.#now() % hour) + afterHour;
    if (this.#failures > 0) return retryAfter;
    return Math.min(untilHour, Math.max(retryAfter, (this.#options.syncSeconds ?? Infinity) * 1000));
  }

  async #save(): Promise<void> {
    if (this.#isSaved || this.#options.isReadOnly) return;
    try {
      await writeSeries(this.#cache, [this.#days, this.#hours]);
      this.#isSaved = true;
    } catch (error) {
      this.#options.log.warn(
        { err: error },
        `could not write the cache of counts over time: ${messageOf(error)}; the next start reads them from Git`,
      );
    }
  }
}

/** The counts over time, as pages and routes need them. */
export type ReadonlyCountHistory = Pick<CountHistory, 'isRead' | 'stamp' | 'present' | 'first' | 'counts'>;

/** Milliseconds that a read waits for the history at the start. */
const readTimeoutMs = 2000;

/** Milliseconds after an hour by which the last commit of it was made. */
const afterHour = 10_000;

/** Milliseconds after which a history that could not be read is tried again. */
const retryAfter = 60_000;

const secondsOf: Readonly<Record<CountStep, number>> = { hour: secondsPerHour, day: secondsPerDay };
