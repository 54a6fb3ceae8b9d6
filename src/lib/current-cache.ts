import { LRUCache } from 'lru-cache';

/** A value that is right until something that it was made from changes, or its time is over. */
export interface Current {
  readonly current: () => boolean;
}

/**
 * Reads something that a value is made from, such as a version. What it returns is compared by identity with what it
 * returned before. It is called for every use of the value, so it is fast and does not throw.
 */
export type Input = () => unknown;

/**
 * Values by key: each made once for all callers that want it at the same time, and current while its inputs are the same.
 * The least recently used value goes first.
 *
 * Values that age are made from more than their inputs: they are current for 5 s, or for 20 times as long as it took to make
 * them, at most 60 s. Those that took so long are used for as long again while the next one is made.
 */
export class CurrentCache<V extends object> {
  readonly #kept: LRUCache<string, Kept<V>>;
  readonly #making = new Map<string, Promise<Kept<V>>>();
  readonly #ages: boolean;
  #swept = 0;

  /**
   * @param maxBytes what all values may take up together
   * @param sizeOf the bytes of a value
   */
  constructor(maxBytes: number, sizeOf: (value: V) => number, { ages = false } = {}) {
    const sizeCalculation = ({ value }: Kept<V>, key: string): number =>
      sizeOf(value) + key.length * 2 + overheadBytes;
    this.#kept = new LRUCache({ maxSize: maxBytes, sizeCalculation });
    this.#ages = ages;
  }

  /**
   * Returns the value that is kept, else the one that `make` resolves with. It is never one whose inputs had changed before
   * the call.
   * @param make uses nothing that can change but what `inputs` read, unless values age
   */
  async get(key: string, inputs: readonly Input[], make: () => Promise<V>): Promise<V & Current> {
    for (let joins = 0; ;) {
      const kept = this.#kept.get(key);
      if (kept?.value.current()) return kept.value;
      const joined = this.#making.get(key);
      const making = joined ?? this.#make(key, inputs, make);
      if (kept?.isUsable()) {
        making.catch(() => {});
        return kept.value;
      }
      const { value } = await making;
      // What was begun after a first one had ended was begun after the call.
      if (joined === undefined || joins++ > 0 || value.current()) return value;
    }
  }

  #make(key: string, inputs: readonly Input[], make: () => Promise<V>): Promise<Kept<V>> {
    const making = this.#keep(key, inputs, make).finally(() => this.#making.delete(key));
    this.#making.set(key, making);
    return making;
  }

  /** Drops what cannot be used any more, and with it the old records that it holds on to; once a second at most. */
  #sweep(): void {
    const now = performance.now();
    if (now - this.#swept < 1000) return;
    this.#swept = now;
    for (const [key, { isUsable }] of this.#kept.entries()) if (!isUsable()) this.#kept.delete(key);
  }

  async #keep(key: string, inputs: readonly Input[], make: () => Promise<V>): Promise<Kept<V>> {
    this.#sweep();
    const before = inputs.map((read) => read());
    const start = performance.now();
    const made = await make();
    const end = performance.now();
    const age = Math.min(Math.max((end - start) * minAgeRatio, minAgeMs), maxAgeMs);
    const isWithin = (milliseconds: number): boolean =>
      (!this.#ages || performance.now() < end + milliseconds) &&
      inputs.every((read, i) => before[i] === read());
    const kept = {
      value: { ...made, current: () => isWithin(age) },
      isUsable: () => isWithin(age > minAgeMs ? 2 * age : age),
    };
    this.#kept.set(key, kept);
    return kept;
  }
}

interface Kept<V> {
  readonly value: V & Current;
  /** Whether it can be returned while the next one is made. */
  readonly isUsable: () => boolean;
}

/** Bytes that an entry takes up besides its value, about. */
const overheadBytes = 500;

const minAgeMs = 5000;
const maxAgeMs = 60_000;

/** Making a value again takes at most one part in so many of the time. */
const minAgeRatio = 20;
