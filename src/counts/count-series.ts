import type { BotId } from '../bot/id.ts';
import { forEachInSlices } from '../lib/in-slices.ts';
import { VarintReader, VarintWriter } from './varint.ts';

/** From the end of a period on, a bot had this count. */
export interface CountChange {
  /** Since the epoch. */
  readonly period: number;
  readonly count: number;
}

/** The series of a bot: its changes as bytes, and the last of them. */
export interface Series {
  /** May have room for more behind `length`. */
  bytes: Uint8Array;
  length: number;
  period: number;
  count: number;
}

/**
 * The count at the end of each period, of every bot, in memory. Only changes are kept, each in one to three bytes as a
 * rule: the difference to the count before, and to the period before where that is not the one just before.
 */
export class CountSeries {
  readonly #series = new Map<BotId, Series>();

  /** How many bots have a count. */
  get size(): number {
    return this.#series.size;
  }

  /** Adds the count of a period; one that is not after the bot's last is left out. */
  add(id: BotId, period: number, count: number): void {
    let series = this.#series.get(id);
    if (series !== undefined && (series.count === count || series.period >= period)) return;
    if (series === undefined)
      this.#series.set(id, (series = { bytes: noBytes, length: 0, period: -1, count: 0 }));
    append(series, period, count);
  }

  /** The bot's changes, ascending. */
  changes(id: BotId): CountChange[] {
    const series = this.#series.get(id);
    return series === undefined ? [] : [...readChanges(series)];
  }

  /** The bot's first change; undefined where it has none. */
  first(id: BotId): CountChange | undefined {
    const series = this.#series.get(id);
    return series === undefined ? undefined : readFirst(series);
  }

  /** Forgets what came after a period. */
  async cutAfter(period: number): Promise<void> {
    await this.#rewrite(
      ({ period: last }) => last > period,
      (changes) => changes.filter((change) => change.period <= period),
    );
  }

  /** Forgets what came before a period, except the count that was known then. */
  async cutBefore(period: number): Promise<void> {
    await this.#rewrite(
      (series) => (readFirst(series)?.period ?? period) < period,
      (changes) => {
        const known = changes.findLast((change) => change.period <= period);
        const later = changes.filter((change) => change.period > period);
        return known === undefined ? later : [{ ...known, period }, ...later];
      },
    );
  }

  /** The series of all bots, by the text of their ids: the same for the same counts, however they were added. */
  inOrder(): (readonly [BotId, Series])[] {
    return [...this.#series].toSorted(([a], [b]) => (a < b ? -1 : 1));
  }

  /** Sets a series as `inOrder` returned it. */
  restore(id: BotId, series: Series): void {
    this.#series.set(id, series);
  }

  async #rewrite(
    needsIt: (series: Series) => boolean,
    rewrite: (changes: CountChange[]) => CountChange[],
  ): Promise<void> {
    await forEachInSlices([...this.#series], ([id, series]) => {
      if (!needsIt(series)) return;
      const changes = rewrite([...readChanges(series)]);
      this.#series.delete(id);
      for (const { period, count } of changes) this.add(id, period, count);
    });
  }
}

const noBytes = new Uint8Array(0);

/** The difference of the counts as a number from 0 with its sign in the lowest bit but one; in the lowest, whether periods were left out. */
function append(series: Series, period: number, count: number): void {
  const writer = new VarintWriter(series.bytes, series.length);
  const difference = count - series.count;
  const gap = period - series.period - 1;
  writer.write(Math.abs(difference) * 4 + (difference < 0 ? 2 : 0) + (gap > 0 ? 1 : 0));
  if (gap > 0) writer.write(gap);
  series.bytes = writer.bytes;
  series.length = writer.length;
  series.period = period;
  series.count = count;
}

function* readChanges({ bytes, length }: Series): Generator<CountChange, undefined> {
  const reader = new VarintReader(bytes);
  let change = beforeAll;
  while (reader.position < length) yield (change = readAfter(change, reader));
  return undefined;
}

/** Without a generator: growth is read for all bots at once. */
function readFirst({ bytes, length }: Series): CountChange | undefined {
  return length === 0 ? undefined : readAfter(beforeAll, new VarintReader(bytes));
}

const beforeAll: CountChange = { period: -1, count: 0 };

function readAfter({ period, count }: CountChange, reader: VarintReader): CountChange {
  const code = reader.read();
  const difference = Math.floor(code / 4);
  return {
    period: period + (code % 2 === 1 ? reader.read() + 1 : 1),
    count: count + (code % 4 >= 2 ? -difference : difference),
  };
}
