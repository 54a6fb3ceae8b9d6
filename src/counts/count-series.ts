import type { BotId } from '../bot/id.ts';
import { forEachInSlices } from '../lib/in-slices.ts';
import { parseDay } from './days.ts';

/** From the end of a day on, a bot had this count. */
export interface CountChange {
  /** The day (UTC), since the epoch. */
  readonly period: number;
  readonly count: number;
}

/** A file of the counts at the end of a day. */
export interface DayFile {
  /** The day (UTC), since the epoch. */
  readonly period: number;
  /** The id of its blob. */
  readonly id: string;
}

/**
 * The count at the end of each day, of every bot, in memory, and the files that they were read from. Only changes are kept,
 * in one to three bytes as a rule.
 */
export class CountSeries {
  readonly #bots = new Map<BotId, BotSeries>();
  /** The one that was added to last. Files have the bots in one order, so the next one is mostly found without the map. */
  #last: BotSeries | undefined;
  #files: readonly DayFile[] = [];

  /** Adds the count of a day; one that is not after the bot's last is left out. */
  add(id: BotId, period: number, count: number): void {
    let series = this.#last?.next;
    if (series?.id !== id) series = this.#bots.get(id) ?? this.#addBot(id);
    if (this.#last) this.#last.next = series;
    this.#last = series;
    if (series.period >= period || (series.length > 0 && series.count === count)) return;
    appendChange(series, { period, count });
  }

  /** The bot's changes, ascending. */
  changes(id: BotId): CountChange[] {
    const series = this.#bots.get(id);
    return series === undefined ? [] : listChanges(series);
  }

  /**
   * Updates the counts to those of these files, from the first one on that differs from what was read.
   * @param files ascending
   * @throws what `read` does; the next call goes on from the file that was not read
   */
  async update(files: readonly DayFile[], read: (id: string) => Promise<string>): Promise<void> {
    const known = this.#files;
    const other = known.findIndex(({ period, id }, i) => period !== files[i]?.period || id !== files[i].id);
    const same = other === -1 ? known.length : other;
    this.#files = known.slice(0, same);
    // This also forgets what an update that failed has read of a file.
    await this.#cut(known[same - 1]?.period ?? -1);
    const readAt = async (i: number): Promise<string> => (files[i] ? await read(files[i].id) : '');
    let next = readAt(same);
    for (const [i, { period }] of files.entries()) {
      if (i < same) continue;
      const text = await next;
      // Git reads one file while the one before is parsed.
      next = readAt(i + 1);
      next.catch(() => {});
      await forEachInSlices(parseDay(text), ([bot, count]) => this.add(bot, period, count));
      this.#files = files.slice(0, i + 1);
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
    // A copy: V8 keeps all of a text in memory for an id that was cut out of it.
    const series = createBotSeries(Buffer.from(id).toString() as BotId);
    this.#bots.set(series.id, series);
    return series;
  }

  /** Forgets the counts after a day. */
  async #cut(last: number): Promise<void> {
    this.#last = undefined;
    await forEachInSlices(this.#bots, ([id, series]) => {
      series.next = undefined;
      if (series.period <= last) return;
      const kept = createBotSeries(id);
      for (const change of listChanges(series)) if (change.period <= last) appendChange(kept, change);
      if (kept.length === 0) this.#bots.delete(id);
      else this.#bots.set(id, kept);
    });
  }
}

/** The changes of a bot's count as bytes, and the last of them. */
interface BotSeries {
  readonly id: BotId;
  /** May have room for more behind `length`. */
  bytes: Uint8Array;
  length: number;
  period: number;
  count: number;
  /** That of the bot which followed last. */
  next: BotSeries | undefined;
}

/** What a bot's first change is the difference to. */
const beforeAll: CountChange = { period: -1, count: 0 };

function createBotSeries(id: BotId): BotSeries {
  return { id, bytes: new Uint8Array(0), length: 0, ...beforeAll, next: undefined };
}

/**
 * Appends the difference to the count before, with its sign in the lowest bit but one. The lowest bit says whether days
 * were left out; then their number follows.
 */
function appendChange(series: BotSeries, { period, count }: CountChange): void {
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
}

function listChanges({ bytes, length }: BotSeries): CountChange[] {
  const changes: CountChange[] = [];
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

/** Two numbers. */
const maxChangeBytes = 16;

/** Writes a whole number in at most eight bytes: seven bits in each, the lowest first. Returns the position after it. */
function writeVarint(bytes: Uint8Array, start: number, value: number): number {
  let [position, rest] = [start, value];
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes[position++] = (rest % 128) + 128;
  bytes[position++] = rest;
  return position;
}

/** Reads such a number. Returns it with the position after it. */
function readVarint(bytes: Uint8Array, start: number): [value: number, end: number] {
  let [position, value] = [start, 0];
  for (let scale = 1; ; scale *= 128) {
    const byte = bytes[position++] ?? 0;
    value += (byte % 128) * scale;
    if (byte < 128) return [value, position];
  }
}
