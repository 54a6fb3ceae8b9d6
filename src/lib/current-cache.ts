import { LRUCache } from 'lru-cache';

/** A value that is valid until one of its inputs changes, or it expires. */
export interface Current {
  readonly current: () => boolean;
}

/**
 * Reads an input of a value, such as a version. Results are compared by identity. It is called for every use of the
 * value, so it must be fast and not throw.
 */
export type Input = () => unknown;

/** How a value is kept. */
export interface Keeping<V> {
  /** The inputs whose change makes the value stale; none if left out. */
  readonly inputs?: readonly Input[];
  /** Whether the value depends on `inputs` alone, so that it does not expire. */
  readonly isExact?: boolean;
  /** Returns the bytes of a value; if left out, those of its texts, buffers and lists of what others keep. */
  readonly sizeOf?: (value: V) => number;
}

/**
 * An LRU cache of values computed from the catalogue, by key. Concurrent callers of a key share one computation. All
 * callers of a key must make the same kind of value.
 *
 * A value is current for 5 s, or for 20 times as long as it took to make it, at most 60 s, unless one of its inputs
 * changes before. One that took over 50 ms to make is used for a minute more while the next one is made. An exact
 * value is current while its inputs are the same.
 */
export class CurrentCache {
  readonly #kept: LRUCache<string, Kept<object>>;
  readonly #making = new Map<string, Promise<Kept<object>>>();
  #swept = 0;

  /** @param maxBytes the limit for all values together */
  constructor(maxBytes = 256 * 1024 * 1024) {
    this.#kept = new LRUCache({ maxSize: maxBytes });
  }

  /**
   * Returns the cached value, else the one that `make` resolves with; never one whose inputs had changed before the
   * call.
   * @param make of an exact value uses nothing that can change but what its inputs read
   */
  async get<V extends object>(
    key: string,
    make: () => Promise<V>,
    keeping: Keeping<V> = {},
  ): Promise<V & Current> {
    for (let joins = 0; ;) {
      const kept = this.#kept.get(key) as Kept<V> | undefined;
      if (kept?.value.current()) return kept.value;
      const joined = this.#making.get(key) as Promise<Kept<V>> | undefined;
      const making = joined ?? this.#make(key, make, keeping);
      if (kept?.isUsable()) {
        making.catch(() => {});
        return kept.value;
      }
      const { value } = await making;
      // A value that was begun after the first one had ended was begun after the call.
      if (joined === undefined || joins++ > 0 || value.current()) return value;
    }
  }

  #make<V extends object>(key: string, make: () => Promise<V>, keeping: Keeping<V>): Promise<Kept<V>> {
    const making = this.#keep(key, make, keeping).finally(() => this.#making.delete(key));
    this.#making.set(key, making);
    return making;
  }

  /** Drops unusable values, and with them the old records that they reference; at most once in 5 s. */
  #sweep(): void {
    const now = performance.now();
    if (now - this.#swept < minAgeMs) return;
    this.#swept = now;
    for (const [key, { isUsable }] of this.#kept.entries()) if (!isUsable()) this.#kept.delete(key);
  }

  async #keep<V extends object>(
    key: string,
    make: () => Promise<V>,
    { inputs = [], isExact = false, sizeOf = estimateBytes }: Keeping<V>,
  ): Promise<Kept<V>> {
    this.#sweep();
    const before = inputs.map((read) => read());
    const start = performance.now();
    const made = await make();
    const end = performance.now();
    const age = Math.min(Math.max((end - start) * minAgeRatio, minAgeMs), maxAgeMs);
    const isWithin = (milliseconds: number): boolean =>
      (isExact || performance.now() < end + milliseconds) && inputs.every((read, i) => before[i] === read());
    const kept = {
      value: { ...made, current: () => isWithin(age) },
      isUsable: () => isWithin(end - start > slowMs ? age + maxAgeMs : age),
    };
    this.#kept.set(key, kept, { size: sizeOf(made) + key.length * 2 + overheadBytes });
    return kept;
  }
}

interface Kept<V> {
  readonly value: V & Current;
  /** Whether it can be returned while the next one is made. */
  readonly isUsable: () => boolean;
}

function estimateBytes(value: object): number {
  return Object.values(value).reduce<number>((sum, part: unknown) => {
    if (ArrayBuffer.isView(part)) return sum + part.byteLength;
    if (Array.isArray(part)) return sum + part.length * 8;
    return typeof part === 'string' ? sum + part.length * 2 : sum;
  }, 0);
}

/** Approximate bytes of an entry in addition to its value. */
const overheadBytes = 500;

const minAgeMs = 5000;
const maxAgeMs = 60_000;

/** A value is current for so many times as long as it took to make it, within these bounds. */
const minAgeRatio = 20;

/** A value that took longer to make is used while the next one is made. */
const slowMs = 50;
