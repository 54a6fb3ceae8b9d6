import { setTimeout as sleep } from 'node:timers/promises';
import { WritesUnavailableError } from '../bot/errors.ts';
import type { BotId } from '../bot/id.ts';
import type { Log } from '../lib/log.ts';
import { ObjectReader } from '../git/objects/object-reader.ts';
import { readRef, stateRef } from '../git/refs.ts';
import type { Repository, RepositoryOpener } from '../git/repository.ts';
import { findTreeEntries, listFiles } from '../git/tree-listing.ts';
import { messageOf } from '../lib/errors.ts';
import type { Count } from './bot-state.ts';
import { CountSeries, type DayFile } from './count-series.ts';
import { daysFolder, parseDayPath, toDay } from './days.ts';

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
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/**
 * Each bot's counts over time: at the end of each day. They are read from the files of days at the tip of the state ref, in
 * the background, and again each minute where that has other files. From the day of its latest count on, a bot has that.
 */
export class CountHistory {
  readonly #options: CountHistoryOptions;
  readonly #now: () => number;
  #days = new CountSeries();
  /** The count of each bot on the day that growth goes by. */
  #before: ReadonlyMap<BotId, number> = new Map();
  readonly #stop = new AbortController();
  #isRecentRead = false;
  #isComplete = false;
  /** The folder of days that was read last, and the day on which that was. */
  #read: string | undefined;
  #version = 0;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  /** How often it has failed in a row. */
  #failures = 0;

  constructor(options: CountHistoryOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Grows when more of the counts over time was read. */
  get version(): number {
    return this.#version;
  }

  /** Whether the counts are read: those of all days, or of the last 90. Waits for that a moment at most. */
  async isRead(days: 'all' | 'recent'): Promise<boolean> {
    const isRead = (): boolean => (days === 'all' ? this.#isComplete : this.#isRecentRead);
    if (!isRead() && this.#running)
      await Promise.race([this.#running, sleep(readTimeoutMs, undefined, { ref: false })]);
    return isRead();
  }

  /** Begins to read, and looks again each minute until it is closed. */
  start(): void {
    this.#running = this.#round().finally(() => {
      if (!this.#stop.signal.aborted) this.#timer = setTimeout(() => this.start(), lookAgainMs).unref();
    });
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  /**
   * Reads the files that the tip of the state ref has now: at first those of the last 90 days, then all.
   * @param recentOnly whether that is all that is wanted
   * @throws {GitError}
   * @throws {WritesUnavailableError} where there is no repository
   */
  async update({ recentOnly = false } = {}): Promise<void> {
    const repository = await this.#options.repositoryOpener.open();
    const tip = await readRef(repository, stateRef);
    const folder = (await findTreeEntries(repository, tip, [daysFolder])).get(daysFolder)?.id;
    const read = `${folder} ${this.present()}`;
    if (read === this.#read) return;
    const files = folder === undefined ? [] : await listDays(repository, folder);
    const objects = new ObjectReader(repository.folder);
    const readFile = async (id: string): Promise<string> => {
      this.#stop.signal.throwIfAborted();
      return (await objects.readOne(id))?.content.toString() ?? '';
    };
    const readInto = async (days: CountSeries, wanted: readonly DayFile[]): Promise<void> => {
      await days.update(wanted, readFile);
      this.#before = await days.countsAt(this.present() - growthDays);
      this.#days = days;
      this.#version++;
    };
    try {
      if (!this.#isComplete) await readInto(new CountSeries(), files.slice(-recentDays));
      this.#isRecentRead = true;
      if (recentOnly) return;
      await readInto(this.#isComplete ? this.#days : new CountSeries(), files);
      this.#isComplete = true;
      this.#read = read;
    } finally {
      objects.close();
    }
  }

  /** Today, which is not over. */
  present(): number {
    return toDay(this.#now());
  }

  /** The first day that a bot has a count of; undefined where it has none. */
  first(id: BotId): number | undefined {
    return this.#days.changes(id)[0]?.period ?? this.#latestDay(id);
  }

  /** The bot's counts from one day to another, both included; days before its first, and those to come, are left out. */
  counts(id: BotId, from: number, to: number): CountAt[] {
    const changes = this.#days.changes(id);
    const latest = this.#options.latest(id);
    const latestDay = this.#latestDay(id) ?? Infinity;
    const found: CountAt[] = [];
    let next = 0;
    for (let period = from; period <= Math.min(to, this.present()); period++) {
      while ((changes[next]?.period ?? Infinity) <= period) next++;
      const count = period >= latestDay ? latest?.value : changes[next - 1]?.count;
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

  /** The day of the bot's latest count; today where its time is still to come. */
  #latestDay(id: BotId): number | undefined {
    const latest = this.#options.latest(id);
    return latest && Math.min(toDay(latest.at), this.present());
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
}

/** The counts over time, as pages and routes need them. */
export type ReadonlyCountHistory = Pick<CountHistory, 'isRead' | 'present' | 'first' | 'counts'>;

/** Lists the files of days, ascending. @param folder the id of their tree @throws {GitError} */
async function listDays(repository: Repository, folder: string): Promise<DayFile[]> {
  return (await listFiles(repository, folder)).flatMap(({ path, id }) => {
    const period = parseDayPath(path);
    return period === undefined ? [] : [{ period, id }];
  });
}

/** Milliseconds that a read waits for the history at the start. */
const readTimeoutMs = 2000;

/** Milliseconds between two looks at the tip; an attempt that failed is made again then. */
const lookAgainMs = 60_000;

/** The files that are read first: lists and pages go no further back. */
const recentDays = 90;

/** The days before today with whose last one growth compares. */
const growthDays = 30;
