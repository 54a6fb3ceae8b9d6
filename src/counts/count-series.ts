import { type FileHandle, readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { type BotId, parseBotId } from '../bot/id.ts';
import { writeAtomically } from '../lib/atomic-write.ts';
import { forEachInSlices } from '../lib/in-slices.ts';
import { TimeSlice } from '../lib/time-slice.ts';
import type { HistoryReader, Moment } from './state-history.ts';

/** From the end of a day on, a bot had this count. */
export interface CountChange {
  /** The day (UTC), since the epoch. */
  readonly period: number;
  readonly count: number;
}

/**
 * The count at the end of each day, of every bot, in memory, and the moments of the history that they were read from.
 * Only changes are kept, in one to three bytes as a rule.
 */
export class CountSeries {
  readonly #bots = new Map<BotId, BotSeries>();
  #moments: readonly Moment[];

  /** @param moments those whose counts are added next, ascending */
  constructor(moments: readonly Moment[] = []) {
    this.#moments = moments;
  }

  /** Adds the count of a day; one that is not after the bot's last is left out. */
  add(id: BotId, period: number, count: number): void {
    let series = this.#bots.get(id);
    if (series !== undefined && (series.count === count || series.period >= period)) return;
    if (series === undefined) this.#bots.set(id, (series = createBotSeries()));
    appendChange(series, { period, count });
  }

  /** The bot's changes, ascending. */
  changes(id: BotId): CountChange[] {
    const series = this.#bots.get(id);
    return series === undefined ? [] : listChanges(series);
  }

  /** The bot's first change; undefined where it has none. */
  first(id: BotId): CountChange | undefined {
    const series = this.#bots.get(id);
    return series && readFirst(series);
  }

  /**
   * Updates the counts to those of these moments, from the first one on that differs from what was read. Returns whether
   * any did.
   * @throws what the reader does; the next call goes on from the moment that was not read
   */
  async update(moments: readonly Moment[], reader: HistoryReader): Promise<boolean> {
    const read = this.#moments;
    let same = 0;
    while (same < read.length && isSame(read[same], moments[same])) same++;
    this.#moments = read.slice(0, same);
    // This also forgets what an update that failed has read of a moment.
    await this.#cut(read[same - 1]?.period ?? -1);
    for (const [i, { period, tree }] of moments.entries()) {
      if (i < same) continue;
      await reader.read(tree, moments[i - 1]?.tree, (id, count) => this.add(id, period, count));
      this.#moments = moments.slice(0, i + 1);
    }
    return same < read.length || same < moments.length;
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

  /** Yields its bytes, the same for the same counts however they were added. */
  async *serialize(): AsyncGenerator<Uint8Array> {
    const slice = new TimeSlice();
    yield Buffer.concat([
      toVarint(this.#moments.length),
      ...this.#moments.flatMap(({ period, tree }) => [toVarint(period), ...withLength(Buffer.from(tree))]),
      toVarint(this.#bots.size),
    ]);
    const bots = [...this.#bots].toSorted(([a], [b]) => (a < b ? -1 : 1));
    for (let start = 0; start < bots.length; start += botsAtOnce) {
      if (slice.isOver) await slice.next();
      const parts = bots
        .slice(start, start + botsAtOnce)
        .flatMap(([id, { bytes, length, period, count }]) => [
          ...withLength(Buffer.from(id)),
          toVarint(period),
          toVarint(count),
          ...withLength(bytes.subarray(0, length)),
        ]);
      yield Buffer.concat(parts);
    }
  }

  /** Reads what `serialize` yielded. */
  static async parse(reader: ByteReader): Promise<CountSeries> {
    const slice = new TimeSlice();
    const moments: Moment[] = [];
    for (let left = reader.readNumber(); left > 0; left--)
      moments.push({ period: reader.readNumber(), tree: reader.readBytes().toString() });
    const parsed = new CountSeries(moments);
    for (let left = reader.readNumber(); left > 0; left--) {
      if (slice.isOver) await slice.next();
      const id = parseBotId(reader.readBytes().toString());
      const [period, count, bytes] = [reader.readNumber(), reader.readNumber(), reader.readBytes()];
      if (id !== undefined) parsed.#bots.set(id, { bytes, length: bytes.length, period, count });
    }
    return parsed;
  }

  /** Forgets the counts after a day. */
  async #cut(last: number): Promise<void> {
    await forEachInSlices(this.#bots, ([id, series]) => {
      if (series.period <= last) return;
      const kept = createBotSeries();
      for (const change of listChanges(series)) if (change.period <= last) appendChange(kept, change);
      if (kept.length === 0) this.#bots.delete(id);
      else this.#bots.set(id, kept);
    });
  }
}

const botsAtOnce = 1000;

/**
 * Writes a series to `path`, replacing the file there at once or not at all. It is a cache: nothing is fsynced, the file
 * ends in a checksum instead.
 * @throws a system error
 */
export async function writeSeries(path: string, series: CountSeries): Promise<void> {
  const write = async (file: FileHandle): Promise<void> => {
    let sum = crc32(magic);
    await file.writeFile(magic);
    for await (const piece of series.serialize()) {
      sum = crc32(piece, sum);
      await file.writeFile(piece);
    }
    const end = Buffer.alloc(4);
    end.writeUInt32LE(sum);
    await file.writeFile(end);
  };
  await writeAtomically(path, write, { fsync: 'none' });
}

/** Reads a series from the file at `path`; undefined where it is missing, damaged or of another format. */
export async function readSeries(path: string): Promise<CountSeries | undefined> {
  const bytes = await readFile(path).catch(() => undefined);
  if (bytes === undefined || bytes.length < magic.length + 4) return undefined;
  const content = bytes.subarray(0, -4);
  if (!content.subarray(0, magic.length).equals(magic)) return undefined;
  if (crc32(content) !== bytes.readUInt32LE(content.length)) return undefined;
  return await CountSeries.parse(new ByteReader(content, magic.length));
}

/** Names the format. */
const magic = Buffer.from('botshelf counts 2\n');

/** The changes of a bot's count as bytes, and the last of them. */
interface BotSeries {
  /** May have room for more behind `length`. */
  bytes: Uint8Array;
  length: number;
  period: number;
  count: number;
}

/** What a bot's first change is the difference to. */
const beforeAll: CountChange = { period: -1, count: 0 };

function createBotSeries(): BotSeries {
  return { bytes: new Uint8Array(0), length: 0, ...beforeAll };
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
    const larger = new Uint8Array(Math.ceil((series.length + maxChangeBytes) * 1.2));
    larger.set(series.bytes);
    series.bytes = larger;
  }
  series.length = writeVarint(series.bytes, series.length, code);
  if (gap > 0) series.length = writeVarint(series.bytes, series.length, gap);
  series.period = period;
  series.count = count;
}

function listChanges({ bytes, length }: BotSeries): CountChange[] {
  const reader = new ByteReader(bytes);
  const changes: CountChange[] = [];
  while (reader.position < length) changes.push(readChange(reader, changes.at(-1) ?? beforeAll));
  return changes;
}

function readFirst({ bytes }: BotSeries): CountChange {
  return readChange(new ByteReader(bytes), beforeAll);
}

function readChange(reader: ByteReader, { period, count }: CountChange): CountChange {
  const code = reader.readNumber();
  const difference = Math.floor(code / 4);
  return {
    period: period + (code % 2 === 1 ? reader.readNumber() + 1 : 1),
    count: count + (code % 4 >= 2 ? -difference : difference),
  };
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

function toVarint(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  return bytes.subarray(0, writeVarint(bytes, 0, value));
}

function withLength(bytes: Uint8Array): [Uint8Array, Uint8Array] {
  return [toVarint(bytes.length), bytes];
}

/** Reads such numbers, and bytes that follow their length. */
class ByteReader {
  readonly #bytes: Uint8Array;
  position: number;

  constructor(bytes: Uint8Array, position = 0) {
    this.#bytes = bytes;
    this.position = position;
  }

  readNumber(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.position++] ?? 0;
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
  }

  readBytes(): Buffer {
    const length = this.readNumber();
    this.position += length;
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + this.position - length, length);
  }
}

function isSame(a: Moment | undefined, b: Moment | undefined): boolean {
  return a?.period === b?.period && a?.tree === b?.tree;
}
