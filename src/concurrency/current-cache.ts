import { LRUCache } from 'lru-cache';

/** A value that is right until something that it was made from changes. */
export interface Current {
  readonly current: () => boolean;
}

/**
 * Values by key, each a function of its inputs: made once for all callers that want it at the same time, and kept until
 * an input changes. The inputs are read again to find that out and compared by identity; one that is itself `Current` has
 * changed once it is no longer current. The least recently used value goes first.
 */
export class CurrentCache<V extends object> {
  readonly #values: LRUCache<string, V & Current>;
  readonly #making = new Map<string, Promise<V & Current>>();
  readonly #graceOf: (took: number) => number;
  #swept = 0;

  /**
   * @param maxBytes what all values may take up together
   * @param sizeOf the bytes of a value
   * @param graceOf how long a value stays current whatever has changed, by how long it took to make; milliseconds
   */
  constructor(maxBytes: number, sizeOf: (value: V) => number, graceOf: (took: number) => number = () => 0) {
    const sizeCalculation = (value: V & Current, key: string): number =>
      sizeOf(value) + key.length * 2 + overhead;
    this.#values = new LRUCache({ maxSize: maxBytes, sizeCalculation });
    this.#graceOf = graceOf;
  }

  /**
   * Returns the value that is kept, else the one that `make` resolves with. Never one whose inputs had changed before the call.
   * @param read reads the inputs as they are now; called for every use of the value, so it is fast and does not throw
   * @param make uses nothing that can change but its inputs
   */
  async get<Inputs extends object>(
    key: string,
    read: () => Inputs,
    make: (inputs: Inputs) => Promise<V>,
  ): Promise<V & Current> {
    const kept = this.#values.get(key);
    if (kept?.current()) return kept;
    if (kept !== undefined) this.#sweep();
    for (;;) {
      const making = this.#making.get(key);
      if (making === undefined) return await this.#keep(key, this.#make(read, make));
      const value = await making;
      if (value.current()) return value;
    }
  }

  async #keep(key: string, making: Promise<V & Current>): Promise<V & Current> {
    this.#making.set(key, making);
    try {
      const value = await making;
      this.#values.set(key, value);
      return value;
    } finally {
      this.#making.delete(key);
    }
  }

  async #make<Inputs extends object>(
    read: () => Inputs,
    make: (inputs: Inputs) => Promise<V>,
  ): Promise<V & Current> {
    const inputs = read();
    const start = performance.now();
    const value = await make(inputs);
    const end = performance.now();
    const graceEnd = end + this.#graceOf(end - start);
    return { ...value, current: () => areSame(inputs, read()) || performance.now() < graceEnd };
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

function areSame<Inputs extends object>(before: Inputs, now: Inputs): boolean {
  for (const name in before) {
    const value = before[name];
    if (!Object.is(value, now[name]) || (isCurrent(value) && !value.current())) return false;
  }
  return true;
}

function isCurrent(value: unknown): value is Current {
  return typeof value === 'object' && value !== null && 'current' in value;
}
