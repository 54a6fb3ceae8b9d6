import type { ReadonlyCounts } from '../../bot/counts.ts';
import { forEachInSlices, sortInSlices } from '../../lib/in-slices.ts';
import type { BotIndex, IndexedBot } from '../store/bot-index.ts';
import { compareSorted, orders, type SortedBot, type SortKey, type ValueOf } from './selection.ts';

/** Every bot in one order, and what that order goes by. */
export interface Ordered {
  readonly bots: readonly IndexedBot[];
  readonly valueOf: ValueOf;
  /** Differs from that of the same order at a time when it was another. */
  readonly version: string;
}

/**
 * The index in every order that lists have. An order is kept, and updated when it is next needed: sorting what is nearly
 * sorted takes linear time.
 */
export class SortedIndexes {
  readonly #bots: BotIndex;
  readonly counts: ReadonlyCounts;
  readonly #kept = new Map<SortKey, Ordered>();

  constructor(bots: BotIndex, counts: ReadonlyCounts) {
    this.#bots = bots;
    this.counts = counts;
  }

  /** Returns the bots in ascending order; one without a count comes before those that have one. */
  async by(key: SortKey): Promise<Ordered> {
    const version = this.version(key);
    const kept = this.#kept.get(key);
    if (kept?.version === version) return kept;
    const valueOf = this.valueOf(key);
    const bots = key === 'id' ? await this.#bots.sorted() : await this.#inOrder(kept?.bots ?? [], valueOf);
    const ordered = { bots, valueOf, version };
    this.#kept.set(key, ordered);
    return ordered;
  }

  /**
   * Returns the version that an order would have now. Counts change all the time: their order is sorted again once a
   * second at most.
   */
  version(key: SortKey): string {
    const second = 'isByCount' in orders[key] && this.counts.version > 0 ? Math.floor(Date.now() / 1000) : 0;
    return `${this.#bots.version} ${second}`;
  }

  /** Returns what the bots are sorted by in an order. */
  valueOf(key: SortKey): ValueOf {
    return orders[key].valueOf(this.counts);
  }

  async #inOrder(before: readonly IndexedBot[], valueOf: ValueOf): Promise<IndexedBot[]> {
    const added = new Set(await this.#bots.sorted());
    const sorted: SortedBot[] = [];
    // The value is read once: it may change while the sort pauses.
    const add = (bot: IndexedBot): void => void sorted.push({ bot, value: valueOf(bot) });
    await forEachInSlices(before, (former) => {
      const bot = this.#bots.get(former.id);
      if (bot && added.delete(bot)) add(bot);
    });
    await forEachInSlices(added, add);
    return (await sortInSlices(sorted, compareSorted)).map(({ bot }) => bot);
  }
}
