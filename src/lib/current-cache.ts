import { LRUCache } from 'lru-cache';

/** A value that is right until something that it was made from changes. */
export interface Current {
  readonly current: () => boolean;
}

/**
 * Reads something that a value is made from, such as a version. What it returns is compared by identity with what it
 * returned before. It is called for every use of the value, so it is fast and does not throw.
 */
export type Input = () => unknown;

/** Returns an input that differs from what it was once `check` returns false. */
export function whileTrue(check: () => boolean): Input {
  return () => check() || {};
}

/** An input that is another one each minute. */
export function readMinute(): number {
  return Math.floor(Date.now() / 60_000);
}

/**
 * Values by key: each made once for all callers that want it at the same time, and current while its inputs are the same.
 * The least recently used value goes first.
 *
 * A value that took long to make may be used for a minute after a change: a caller gets it at once, and the next one is
 * made in the background.
 */
export class CurrentCache<V extends object> {
  readonly #kept: LRUCache<string, Kept<V>>;
  readonly #making = new Map<string, Promise<Kept<V>>>();
  readonly #minRebuildRatio: number;
  #swept = 0;

  /**
   * @param maxBytes what all values may take up together
   * @param sizeOf the bytes of a value
   * @param minRebuildRatio the time between rebuilds is at least this many times the build time, however often the inputs
   *   change. With 0 no value outlives a change
   */
  constructor(maxBytes: number, sizeOf: (value: V) => number, minRebuildRatio = 0) {
    const sizeCalculation = ({ value }: Kept<V>, key: string): number =>
      sizeOf(value) + key.length * 2 + overheadBytes;
    this.#kept = new LRUCache({ maxSize: maxBytes, sizeCalculation });
    this.#minRebuildRatio = minRebuildRatio;
  }

  /**
   * Returns the value that is kept, else the one that `make` resolves with. With a ratio of 0 it is never one whose inputs
   * had changed before the call.
   * @param make uses nothing that can change but what `inputs` read
   */
  async get(key: string, inputs: readonly Input[], make: () => Promise<V>): Promise<V & Current> {
    for (let joins = 0; ;) {
      const kept = this.#kept.get(key);
      if (kept?.value.current()) return kept.value;
      const joined = this.#making.get(key);
      const making = joined ?? this.#make(key, inputs, make);
      if (kept !== undefined && performance.now() < kept.lastUse) {
        const { lifetime } = kept;
        lifetime.end = kept.lastUse;
        void making.catch(() => {}).finally(() => (lifetime.end = 0));
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
    for (const [key, { value, lastUse }] of this.#kept.entries())
      if (now >= lastUse && !value.current()) this.#kept.delete(key);
  }

  async #keep(key: string, inputs: readonly Input[], make: () => Promise<V>): Promise<Kept<V>> {
    this.#sweep();
    const lifetime = new Lifetime(inputs);
    const start = performance.now();
    const made = await make();
    const now = performance.now();
    const took = Math.min(now - start, maxBuildMs);
    lifetime.end = now + took * this.#minRebuildRatio;
    const outlives = this.#minRebuildRatio > 0 && took >= alwaysRebuildBelowMs;
    const lastUse = outlives ? Math.max(lifetime.end, now + maxStaleMs) : 0;
    const kept = { value: { ...made, current: lifetime.isCurrent }, lifetime, lastUse };
    this.#kept.set(key, kept);
    return kept;
  }
}

interface Kept<V> {
  readonly value: V & Current;
  readonly lifetime: Lifetime;
  /** When it is used no more, even while the next one is made; as `performance.now()`. */
  readonly lastUse: number;
}

/** How long a value is current. Not part of the value, as pages and responses that it went into hold on to this. */
class Lifetime {
  readonly #inputs: readonly Input[];
  readonly #before: readonly unknown[];
  /** Until then it is current although an input has changed; as `performance.now()`. */
  end = 0;

  constructor(inputs: readonly Input[]) {
    this.#inputs = inputs;
    this.#before = inputs.map((read) => read());
  }

  readonly isCurrent = (): boolean =>
    this.#inputs.every((read, i) => this.#before[i] === read()) || performance.now() < this.end;
}

/** Bytes that an entry takes up besides its value, about. */
const overheadBytes = 500;

/** For a value that took less to make a caller waits again. */
const alwaysRebuildBelowMs = 20;

/** Making takes no longer than that: the rest of the time a value has waited for its turn. */
const maxBuildMs = 250;

/** Milliseconds that a value is used at most after one of its inputs has changed. */
const maxStaleMs = 60_000;
