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
import { HistoryReader, listMoments, secondsPerDay, secondsPerHour } from './state-history.ts';

/** The last count that was known at the end of a day, or is known now where that is not over. */
export interface CountAt {
  /** The day (UTC), since the epoch. */
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
 * Each bot's counts over time: at the end of each day. They are read from the history of the state ref, at the start and
 * after each hour, in the background; a cache spares most of that. A day that is not over, or not read yet, has the latest
 * count.
 */
export class CountHistory {
  readonly #options: CountHistoryOptions;
  readonly #now: () => number;
  #days = new CountSeries();
  /** The count of each bot on the day that growth goes by. */
  #before: ReadonlyMap<BotId, number> = new Map();
  readonly #cache: string;
  readonly #stop = new AbortController();
  #isCacheRead = false;
  /** The last day, since the epoch, of those that were read; undefined until all were. */
  #readDay: number | undefined;
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
    if (this.#readDay === undefined && this.#running)
      await Promise.race([this.#running, sleep(readTimeoutMs, undefined, { ref: false })]);
    return this.#readDay !== undefined;
  }

  /** Differs from what it was once the counts of a bot may be others. */
  stamp(id: BotId): string {
    return `${this.#version} ${this.present()} ${this.#options.latest(id)?.value}`;
  }

  /** Begins to read, and goes on after each hour until it is closed. */
  start(): void {
    this.#running = this.#round().finally(() => {
      if (this.#stop.signal.aborted) return;
      this.#timer = setTimeout(() => this.start(), this.#wait()).unref();
    });
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  /**
   * Brings the series to what the state ref's history has now.
   * @throws {GitError}
   * @throws {WritesUnavailableError} where there is no repository
   */
  async update(): Promise<void> {
    if (!this.#isCacheRead) this.#days = (await readSeries(this.#cache)) ?? this.#days;
    this.#isCacheRead = true;
    const repository = await this.#options.repositoryOpener.open();
    const now = this.#now() / 1000;
    const lastDay = Math.floor(now / secondsPerDay) - 1;
    const tip = await readRef(repository, stateRef);
    if (tip === this.#readTip && lastDay === this.#readDay) return;
    const moments = await listMoments(repository, tip, now);
    const reader = new HistoryReader(repository, this.#stop.signal);
    try {
      const isChanged = await this.#days.update(moments, reader);
      if (isChanged || lastDay !== this.#readDay) {
        this.#before = await this.#days.countsAt(lastDay + 1 - growthDays);
        this.#version++;
      }
      this.#readDay = lastDay;
      this.#readTip = tip;
      if (isChanged) await this.#save();
    } finally {
      reader.close();
    }
  }

  /** Today, which is not over. */
  present(): number {
    return Math.floor(this.#now() / 1000 / secondsPerDay);
  }

  /** The first day that a bot has a count of; undefined where it has none. */
  first(id: BotId): number | undefined {
    return this.#days.first(id)?.period ?? (this.#options.latest(id) && this.present());
  }

  /** The bot's counts from one day to another, both included; days before its first, and those to come, are left out. */
  counts(id: BotId, from: number, to: number): CountAt[] {
    const changes = this.#days.changes(id);
    const latest = this.#options.latest(id);
    const present = this.present();
    const readUntil = this.#readDay ?? -1;
    const found: CountAt[] = [];
    let next = 0;
    for (let period = from; period <= Math.min(to, present); period++) {
      while ((changes[next]?.period ?? Infinity) <= period) next++;
      const known = changes[next - 1]?.count;
      const isOver =
        period < present && latest !== undefined && latest.at >= (period + 1) * secondsPerDay * 1000;
      const count = period <= readUntil || isOver ? known : (latest?.value ?? known);
      if (count !== undefined) found.push({ period, count });
    }
    return found;
  }

  /** The growth of a bot's count, as `Counts` has it. */
  growth(id: BotId): number | undefined {
    const before = this.#before.get(id);
    const latest = this.#options.latest(id);
    if (before === undefined || latest === undefined || before === 0) return undefined;
    return latest.value / before - 1;
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
    if (this.#options.isReadOnly) return;
    try {
      await writeSeries(this.#cache, this.#days);
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

/** The days before today with whose last one growth compares. */
const growthDays = 30;
