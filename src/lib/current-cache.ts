import { LRUCache } from 'lru-cache';

/** A value that is right until something that it was made from changes. */
export interface Current {
  readonly current: () => boolean;
}

/**
 * Values by key, each a function of its inputs: made once for all callers that want it at the same time, and kept until
 * an input changes. The inputs are read again to find that out and compared by identity; one that is itself `Current` has
 * changed once it is no longer current. The least recently used value goes first.
 *
 * Where making takes long, nobody waits for a value again because an input has changed: it stays current until the next
 * one is made in the background, which a use of it begins, and for a minute at most.
 */
export class CurrentCache<V extends object> {
  readonly #values: LRUCache<string, V & Kept>;
  readonly #making = new Map<string, Promise<V & Kept>>();
  readonly #share: number;
  #swept = 0;

  /**
   * @param maxBytes what all values may take up together
   * @param sizeOf the bytes of a value
   * @param share the time between rebuilds is at least `share` × the build time, however often the inputs change.
   *   With 0 no value outlives a change
   */
  constructor(maxBytes: number, sizeOf: (value: V) => number, share = 0) {
    const sizeCalculation = (value: V & Kept, key: string): number =>
      sizeOf(value) + key.length * 2 + overheadBytes;
    this.#values = new LRUCache({ maxSize: maxBytes, sizeCalculation });
    this.#share = share;
  }

  /**
   * Returns the value that is kept, else the one that `make` resolves with. Without a share it is never one whose inputs had
   * changed before the call.
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
      if (making === undefined) return await this.#keep(key, read, make);
      const value = await making;
      if (value.current()) return value;
    }
  }

  /** Returns the value that is kept, current or not; undefined where there is none yet. Begins to make one that is current. */
  kept<Inputs extends object>(
    key: string,
    read: () => Inputs,
    make: (inputs: Inputs) => Promise<V>,
  ): (V & Current) | undefined {
    const kept = this.#values.get(key);
    if (!kept?.current()) this.#begin(key, read, make);
    return kept;
  }

  /** Makes a value in the background. If that fails, a later use tries again; a caller that waits for it gets the error. */
  #begin<Inputs extends object>(key: string, read: () => Inputs, make: (inputs: Inputs) => Promise<V>): void {
    if (!this.#making.has(key)) this.#keep(key, read, make).catch(() => {});
  }

  async #keep<Inputs extends object>(
    key: string,
    read: () => Inputs,
    make: (inputs: Inputs) => Promise<V>,
  ): Promise<V & Kept> {
    const making = this.#make(key, read, make);
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
    key: string,
    read: () => Inputs,
    make: (inputs: Inputs) => Promise<V>,
  ): Promise<V & Kept> {
    const inputs = read();
    const start = performance.now();
    const made = await make(inputs);
    const end = performance.now();
    const took = Math.min(end - start, maxBuildMs);
    const rest = took * this.#share;
    const outlives = this.#share > 0 && took >= alwaysRebuildBelowMs;
    const lastUse = end + (outlives ? Math.max(rest, maxStaleMs) : rest);
    let nextMaking = end + rest;
    const usable = (): boolean => areSame(inputs, read(), isUsable) || performance.now() < lastUse;
    const current = (): boolean => {
      if (areSame(inputs, read(), isStillCurrent)) return true;
      const now = performance.now();
      const isKept = this.#values.peek(key) === value;
      if (now >= (isKept ? lastUse : end + rest)) return false;
      if (now >= nextMaking) {
        nextMaking = now + rest;
        this.#begin(key, read, make);
      }
      return true;
    };
    const value = { ...made, current, usable };
    return value;
  }

  /** Drops what can not be used any more, and with it the old records that it holds on to; once a second at most. */
  #sweep(): void {
    const now = performance.now();
    if (now - this.#swept < 1000) return;
    this.#swept = now;
    for (const [key, value] of this.#values.entries()) if (!value.usable()) this.#values.delete(key);
  }
}

/** What a cache keeps. */
interface Kept extends Current {
  /** Whether it may be current. It begins nothing, unlike `current`. */
  readonly usable: () => boolean;
}

/** Bytes that an entry takes up besides its value, about. */
const overheadBytes = 500;

/** For a value that took less to make a caller waits again. */
const alwaysRebuildBelowMs = 20;

/** Making takes no longer than that: the rest of the time a value has waited for its turn. */
const maxBuildMs = 250;

/** Milliseconds that a value is used at most after one of its inputs has changed. */
const maxStaleMs = 60_000;

function areSame<Inputs extends object>(
  before: Inputs,
  now: Inputs,
  check: (value: Current | Kept) => boolean,
): boolean {
  for (const name in before) {
    const value = before[name];
    if (!Object.is(value, now[name]) || (isCurrent(value) && !check(value))) return false;
  }
  return true;
}

function isStillCurrent(value: Current): boolean {
  return value.current();
}

function isUsable(value: Current | Kept): boolean {
  return 'usable' in value ? value.usable() : value.current();
}

function isCurrent(value: unknown): value is Current {
  return typeof value === 'object' && value !== null && 'current' in value;
}
