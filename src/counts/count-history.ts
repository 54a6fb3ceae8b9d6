import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { isUnavailable } from '../bot/errors.ts';
import type { BotId } from '../bot/id.ts';
import { ObjectReader } from '../git/objects.ts';
import type { RepositoryOpener } from '../git/repository.ts';
import { readRef, stateRef } from '../git/refs.ts';
import { isError, messageOf } from '../lib/errors.ts';
import { listFaults } from '../lib/health.ts';
import type { Log } from '../lib/log.ts';
import { forEachInSlices } from '../lib/time-slice.ts';
import { type DayFile, findDaysFolder, listDays, readStateFiles } from './state-files.ts';
import { copyText, parseDay, toDay, type Count, type CountOfDay } from './state.ts';

/** The last count at the end of a day, or now if the day is not over. */
export interface CountAt {
  /** The day (UTC), since the epoch. */
  readonly period: number;
  readonly count: number;
}

/**
 * The counts of all bots at the end of each day, in memory, and the files that they were read from. Only changes are
 * stored, usually in one to three bytes each.
 */
export class CountSeries {
  readonly #bots = new Map<BotId, BotSeries>();
  /**
   * The series of the last added count. Files list the bots in one order, so the next series is usually found without
   * the map.
   */
  #last: BotSeries | undefined;
  /** The files that were read, ascending. */
  files: readonly DayFile[] = [];
  readonly #maxBytes: number;
  #bytes = 0;
  /** Whether changes were left out because the memory limit was reached. */
  isFull = false;

  constructor(maxBytes: number = maxSeriesBytes) {
    this.#maxBytes = maxBytes;
  }

  /** Adds the count of a day; a day that is not after the bot's last one is ignored. */
  add(id: BotId, period: number, count: number): void {
    if (this.#bytes > this.#maxBytes) {
      this.isFull = true;
      return;
    }
    let series = this.#last?.next;
    if (series?.id !== id) series = this.#bots.get(id) ?? this.#addBot(id);
    if (this.#last) this.#last.next = series;
    this.#last = series;
    if (series.period >= period || (series.length > 0 && series.count === count)) return;
    this.#bytes += appendChange(series, { period, count });
  }

  /** The counts of a bot that differ from the one before, ascending. */
  changes(id: BotId): CountAt[] {
    const series = this.#bots.get(id);
    return series === undefined ? [] : listChanges(series);
  }

  /**
   * Updates the counts to those of these files, from the first file that differs from the last read.
   * @param files ascending
   * @throws errors of `read`, and that of the signal; the next call continues with the file that was not read
   */
  async update(
    files: readonly DayFile[],
    read: (id: string) => Promise<Buffer>,
    signal?: AbortSignal,
  ): Promise<void> {
    const known = this.files;
    const other = known.findIndex(({ period, id }, i) => period !== files[i]?.period || id !== files[i].id);
    const same = other === -1 ? known.length : other;
    this.files = known.slice(0, same);
    // Also removes the counts that a failed update has read from a part of a file.
    await this.#cut(known[same - 1]?.period ?? -1);
    const readAt = async (i: number): Promise<Buffer> =>
      files[i] ? await read(files[i].id) : Buffer.alloc(0);
    let next = readAt(same);
    for (const [i, { period }] of files.entries()) {
      if (i < same) continue;
      const content = await next;
      // Git reads the next file while one is parsed.
      next = readAt(i + 1);
      next.catch(() => {});
      const add = (counts: readonly CountOfDay[]): void => {
        for (const [bot, count] of counts) this.add(bot, period, count);
      };
      await forEachInSlices(parseDay(content), add, 'client', signal);
      signal?.throwIfAborted();
      this.files = files.slice(0, i + 1);
    }
  }

  /** Returns the count of each bot at the end of a day; bots without one are left out. */
  async countsAt(last: number): Promise<Map<BotId, number>> {
    const counts = new Map<BotId, number>();
    await forEachInSlices(this.#bots, ([id, series]) => {
      const change =
        series.period <= last ? series : listChanges(series).findLast(({ period }) => period <= last);
      if (change !== undefined) counts.set(id, change.count);
    });
    return counts;
  }

  #addBot(id: BotId): BotSeries {
    const series = createBotSeries(copyText(id) as BotId);
    this.#bots.set(series.id, series);
    this.#bytes += bytesPerBot;
    return series;
  }

  /** Forgets the counts after a day. */
  async #cut(last: number): Promise<void> {
    this.#last = undefined;
    this.#bytes = 0;
    this.isFull = false;
    await forEachInSlices(this.#bots, ([id, series]) => {
      let kept = series;
      kept.next = undefined;
      if (series.period > last) {
        kept = createBotSeries(id);
        for (const change of listChanges(series)) if (change.period <= last) appendChange(kept, change);
        if (kept.length === 0) this.#bots.delete(id);
        else this.#bots.set(id, kept);
      }
      if (kept.length > 0) this.#bytes += bytesPerBot + kept.bytes.length;
    });
  }
}

/** The changes of a bot's count as bytes, and the last change. */
interface BotSeries {
  readonly id: BotId;
  /** May be longer than `length`, to leave room for more changes. */
  bytes: Uint8Array;
  length: number;
  period: number;
  count: number;
  /** The series of the bot that followed last time. */
  next: BotSeries | undefined;
}

/** The value before a bot's first change. */
const beforeAll: CountAt = { period: -1, count: 0 };

function createBotSeries(id: BotId): BotSeries {
  return { id, bytes: new Uint8Array(0), length: 0, ...beforeAll, next: undefined };
}

/**
 * Appends the difference to the count before, with its sign in the second-lowest bit. If the lowest bit is set, days
 * were left out and their number follows. Returns the number of bytes that the series grew by in memory.
 */
function appendChange(series: BotSeries, { period, count }: CountAt): number {
  const { bytes } = series;
  const difference = count - series.count;
  const gap = period - series.period - 1;
  const code = Math.abs(difference) * 4 + (difference < 0 ? 2 : 0) + (gap > 0 ? 1 : 0);
  if (series.length + maxChangeBytes > series.bytes.length) {
    // Many small steps would take a quarter of the time of a first read.
    const larger = new Uint8Array(Math.ceil(series.length * 1.2) + 100);
    larger.set(series.bytes);
    series.bytes = larger;
  }
  series.length = writeVarint(series.bytes, series.length, code);
  if (gap > 0) series.length = writeVarint(series.bytes, series.length, gap);
  series.period = period;
  series.count = count;
  return series.bytes.length - bytes.length;
}

function listChanges({ bytes, length }: BotSeries): CountAt[] {
  const changes: CountAt[] = [];
  let { period, count } = beforeAll;
  for (let position = 0; position < length;) {
    const [code, next] = readVarint(bytes, position);
    const [gap, end] = code % 2 === 1 ? readVarint(bytes, next) : [0, next];
    const difference = Math.floor(code / 4);
    period += gap + 1;
    count += code % 4 >= 2 ? -difference : difference;
    changes.push({ period, count });
    position = end;
  }
  return changes;
}

/** The length of two numbers. */
const maxChangeBytes = 16;

/** The memory of a bot's series besides its changes. */
const bytesPerBot = 300;

/** At most half of the heap. */
const maxSeriesBytes = Math.min(4 * 1024 ** 3, getHeapStatistics().heap_size_limit / 2);

/** Writes a whole number in at most eight bytes: seven bits in each, the lowest first. Returns the position after it. */
function writeVarint(bytes: Uint8Array, start: number, value: number): number {
  let [position, rest] = [start, value];
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes[position++] = (rest % 128) + 128;
  bytes[position++] = rest;
  return position;
}

/** Reads a number that `writeNumber` wrote. Returns it and the position after it. */
function readVarint(bytes: Uint8Array, start: number): [value: number, end: number] {
  let [position, value] = [start, 0];
  for (let scale = 1; ; scale *= 128) {
    const byte = bytes[position++] ?? 0;
    value += (byte % 128) * scale;
    if (byte < 128) return [value, position];
  }
}

interface CountHistoryOptions {
  readonly repositoryOpener: RepositoryOpener;
  /** The latest count of a bot. */
  readonly latest: (id: BotId) => Count | undefined;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/**
 * The count of each bot at the end of each day. They are read in the background from the files of days at the tip of
 * the state ref, which is checked for other files each minute. From the day of a bot's latest count on, that count is
 * returned.
 */
export class CountHistory {
  readonly #options: CountHistoryOptions;
  #days = new CountSeries();
  /** The count of each bot on the day that growth compares with. */
  #before: ReadonlyMap<BotId, number> = new Map();
  readonly #stop = new AbortController();
  /** The folder of days that was read last as a whole, and the day of that read. */
  #read: string | undefined;
  #version = 0;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  /** The days of the last read that cannot be read, a sentence each. */
  #faults: readonly string[] = [];
  /** The number of failed reads in a row, and the reason. */
  #failures = 0;
  #failure: string | undefined;

  constructor(options: CountHistoryOptions) {
    this.#options = options;
  }

  /** Grows with each part of the counts over time that is read. */
  get version(): number {
    return this.#version;
  }

  /**
   * Resolves with whether the counts of all days, or of the last 90, have been read, after a wait of `readTimeoutMs` at
   * most.
   */
  async isRead(days: 'all' | 'recent'): Promise<boolean> {
    const isRead = (): boolean => (days === 'all' ? this.#read !== undefined : this.#version > 0);
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

  /** Ends the current read. */
  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  /**
   * Reads the files that the tip of the state ref has now: at first those of the last 90 days, then all.
   * @param recentOnly whether to stop after the last 90 days
   * @throws {GitError}
   * @throws {BotshelfError} unavailable, without a repository
   */
  async update({ recentOnly = false } = {}): Promise<void> {
    const repository = await this.#options.repositoryOpener.open();
    const tip = await readRef(repository, stateRef);
    const folder = tip === null ? undefined : await findDaysFolder(repository, tip);
    const read = `${folder} ${this.present()}`;
    if (read === this.#read) return;
    const { days: files, faults } = tip === null ? { days: [], faults: [] } : await listDays(repository, tip);
    this.#faults = faults;
    const objects = new ObjectReader(repository.folder);
    const readFile = async (id: string): Promise<Buffer> => await this.#readFile(objects, id);
    const readInto = async (days: CountSeries, wanted: readonly DayFile[]): Promise<void> => {
      await days.update(wanted, readFile, this.#stop.signal);
      this.#before = await days.countsAt(this.present() - growthDays);
      this.#days = days;
      this.#version++;
    };
    try {
      if (this.#read === undefined) await readInto(new CountSeries(), files.slice(-recentDays));
      if (recentOnly) return;
      await readInto(this.#read === undefined ? new CountSeries() : this.#days, files);
      this.#read = read;
    } finally {
      objects.close();
    }
  }

  /** Returns why counts over time are left out, a sentence each. */
  faults(): string[] {
    const more = this.#faults.length - maxNamedDays;
    return listFaults(
      this.#failure,
      ...this.#faults.slice(0, maxNamedDays),
      more > 0 ? `${more} more days are left out of the counts over time` : null,
      this.#days.isFull
        ? 'the counts over time take too much memory, and the last days are left out: give the service more (NODE_OPTIONS=--max-old-space-size), or remove the first files of days from the state ref'
        : null,
    );
  }

  /** The files of days that are over, from one day to another, both included, ascending. */
  files(from: number, to: number): readonly DayFile[] {
    return this.#days.files.filter(({ period }) => period >= from && period <= to);
  }

  /**
   * Yields the counts in files of days, a day at a time: of each bot that posted on it, in the order of the ids.
   * @throws {GitError}
   * @throws {BotshelfError} unavailable, missing-object
   */
  async *readDays(
    files: readonly DayFile[],
  ): AsyncGenerator<Pick<DayFile, 'period'> & { readonly counts: Iterable<readonly CountOfDay[]> }> {
    const objects = new ObjectReader((await this.#options.repositoryOpener.open()).folder);
    try {
      for (const { period, id } of files)
        yield { period, counts: parseDay(await this.#readFile(objects, id)) };
    } finally {
      objects.close();
    }
  }

  async #readFile(objects: ObjectReader, id: string): Promise<Buffer> {
    this.#stop.signal.throwIfAborted();
    return (await readStateFiles(objects, [id]))[0] ?? Buffer.alloc(0);
  }

  /** Today, which is not over. */
  present(): number {
    return toDay(this.#options.now?.() ?? Date.now());
  }

  /** The day of a bot's first count, or undefined. */
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
      this.#failure = undefined;
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      this.#failures++;
      // Warns once, at the second failure; a missing repository is reported by every write.
      const isReported = isUnavailable(error) && !isError(error, 'state-refused');
      const message = `could not read counts over time from the state ref: ${messageOf(error)}; retrying in a minute`;
      if (this.#failures > 1 && !isReported) this.#failure = message;
      const level = this.#failures === 2 && !isReported ? 'warn' : 'debug';
      this.#options.log[level]({ err: error }, message);
    }
  }
}

/** The counts over time, as pages and routes need them. */
export type ReadonlyCountHistory = Pick<CountHistory, 'isRead' | 'present' | 'first' | 'counts'>;

/** Milliseconds that a read waits for the history at the start. */
const readTimeoutMs = 2000;

/** Milliseconds between two looks at the tip, which also retry a failed read. */
const lookAgainMs = 60_000;

/** The number of unreadable days that are named. */
const maxNamedDays = 10;

/** The files that are read first: lists and pages go no further back. */
const recentDays = 90;

/** The age, in days, of the count that growth compares with. */
const growthDays = 30;
