import type { ReadonlyCounts } from '../../bot/counts.ts';
import { forEachInSlices, sortInSlices } from '../../lib/in-slices.ts';
import type { BotIndex, IndexedBot } from '../store/bot-index.ts';
import { computeActiveSince, compareSorted, type Sort, type SortedBot, type ValueOf } from './selection.ts';

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
  readonly #kept = new Map<Sort['key'], Ordered>();

  constructor(bots: BotIndex, counts: ReadonlyCounts) {
    this.#bots = bots;
    this.counts = counts;
  }

  /** Returns the bots in ascending order; one without a count comes before those that have one. */
  async by(key: Sort['key']): Promise<Ordered> {
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
  version(key: Sort['key']): string {
    const second = isByCount(key) && this.counts.version > 0 ? Math.floor(Date.now() / 1000) : 0;
    return `${this.#bots.version} ${second}`;
  }

  /** Returns what the bots are sorted by in an order. */
  valueOf(key: Sort['key']): ValueOf {
    switch (key) {
      case 'id':
        return () => 0;
      case 'name':
        return ({ facts }) => facts.nameKey;
      case 'count':
        return ({ id }) => this.counts.count(id) ?? -1;
      case 'growth':
        return ({ id }) => this.counts.growth(id) ?? -2;
      case 'created':
      case 'edited':
      case 'random':
        return ({ facts }) => facts[key];
    }
  }

  /** Returns the bots of which a count was posted in the last `activeDays` days, in their order. */
  async active(bots: readonly IndexedBot[], activeDays: number): Promise<IndexedBot[]> {
    const since = computeActiveSince({ activeDays });
    const found: IndexedBot[] = [];
    await forEachInSlices(bots, (bot) => {
      if ((this.counts.reportedAt(bot.id) ?? 0) >= since) found.push(bot);
    });
    return found;
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

/** Whether counts decide an order. */
export function isByCount(key: Sort['key']): boolean {
  return key === 'count' || key === 'growth';
}
