import type { CountReader } from './count-reader.ts';
import type { Moment, Span } from './spans.ts';
import { CountSeries } from './count-series.ts';

/** A series of counts, and the moments of the history that it was read from. */
export class IncrementalSeries {
  readonly counts = new CountSeries();
  #read: Moment[] = [];

  /** The moments that have been read, ascending. */
  get read(): readonly Moment[] {
    return this.#read;
  }

  /** Sets the moments that a cache has with the counts. */
  restore(read: readonly Moment[]): void {
    this.#read = [...read];
  }

  /**
   * Updates the counts to those of these spans, from the first moment on that differs from what was read. Returns whether
   * any did. Counts before the first span are forgotten, except the last.
   * @throws what the reader does; the counts are then those of an earlier moment, and the next call goes on from there
   */
  async update(spans: readonly Span[], reader: CountReader): Promise<boolean> {
    await this.#cutBefore(spans);
    const same = this.#countSame(spans);
    const kept = spans.slice(0, same).flatMap(({ moments }) => moments);
    const rest = spans.slice(same);
    if (rest.length === 0 && kept.length === this.#read.length) return false;
    if (kept.length < this.#read.length) {
      this.#read = kept;
      await this.counts.cutAfter(kept.at(-1)?.period ?? -1);
    }
    let before = spans[same - 1] ?? null;
    try {
      for (const span of rest) {
        await reader.read([span], before, (period, id, count) => this.counts.add(id, period, count));
        this.#read.push(...span.moments);
        before = span;
      }
    } catch (error) {
      // The span may have other counts by the next call.
      await this.counts.cutAfter(this.#read.at(-1)?.period ?? -1);
      throw error;
    }
    return true;
  }

  async #cutBefore(spans: readonly Span[]): Promise<void> {
    const first = spans[0]?.moments[0]?.period;
    const last = first === undefined ? undefined : this.#read.findLast(({ period }) => period <= first);
    if (first === undefined || last === undefined || this.#read[0]?.period === first) return;
    await this.counts.cutBefore(first);
    this.#read = [{ ...last, period: first }, ...this.#read.filter(({ period }) => period > first)];
  }

  /** How many of the spans have been read, from the first one on. */
  #countSame(spans: readonly Span[]): number {
    let place = 0;
    for (const [i, { moments }] of spans.entries()) {
      for (const { period, tree } of moments) {
        const read = this.#read[place++];
        if (read?.period !== period || read.tree !== tree) return i;
      }
    }
    return spans.length;
  }
}
