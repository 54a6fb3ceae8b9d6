import { LRUCache } from 'lru-cache';

/** What stays right until something that it was made of changes. */
export interface Current {
  readonly current: () => boolean;
}

/**
 * Values by key, each made once however many ask for it at the same time, and kept while it is current. What was used
 * least goes first.
 */
export class CurrentCache<V extends Current> {
  readonly #values: LRUCache<string, V>;
  readonly #making = new Map<string, Promise<V>>();
  #swept = 0;

  /**
   * @param maxBytes what all values may take up together
   * @param sizeOf the bytes of a value
   */
  constructor(maxBytes: number, sizeOf: (value: V) => number) {
    const sizeCalculation = (value: V, key: string): number => sizeOf(value) + key.length * 2 + overhead;
    this.#values = new LRUCache({ maxSize: maxBytes, sizeCalculation });
  }

  /** The value that is kept, else the one that `make` resolves with. Never one that was made of what has changed since. */
  async get(key: string, make: () => Promise<V>): Promise<V> {
    const kept = this.#values.get(key);
    if (kept?.current()) return kept;
    if (kept !== undefined) this.#sweep();
    for (;;) {
      const making = this.#making.get(key);
      if (making === undefined) return await this.#make(key, make);
      const value = await making;
      if (value.current()) return value;
    }
  }

  async #make(key: string, make: () => Promise<V>): Promise<V> {
    const making = make();
    this.#making.set(key, making);
    try {
      const value = await making;
      this.#values.set(key, value);
      return value;
    } finally {
      this.#making.delete(key);
    }
  }

  /** Drops what is no longer current, and with it the old records that it holds on to; once a second at most. */
  #sweep(): void {
    const now = performance.now();
    if (now - this.#swept < 1000) return;
    this.#swept = now;
    for (const [key, value] of this.#values.entries()) if (!value.current()) this.#values.delete(key);
  }
}

/** Bytes that an entry takes up besides its value, about. */
const overhead = 500;
