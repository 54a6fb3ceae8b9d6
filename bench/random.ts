import { randomFrom } from '../test/support/random.ts';

/** Draws numbers from a seed: the same seed draws the same numbers on every machine. */
export class Random {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = randomFrom(seed);
  }

  /** 32 bits, as a whole number from 0. */
  bits(): number {
    return this.#next() * 2 ** 32;
  }

  /** A number in [0, 1). */
  fraction(): number {
    return this.#next();
  }

  /** A whole number from `least` to `most`. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.fraction() * (most - least + 1));
  }

  /** True in `share` of the draws. */
  chance(share: number): boolean {
    return this.fraction() < share;
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.fraction() * list.length)] as T;
  }

  /** A positive number, half of the draws below `median`, with a long tail above. */
  logNormal(median: number, sigma: number): number {
    const uniforms = this.fraction() + this.fraction() + this.fraction() + this.fraction();
    return median * Math.exp(sigma * (uniforms - 2) * Math.sqrt(3));
  }
}

/** Draws list entries by rank: the first ones often, each later one more seldom, as words are used (Zipf). */
export class Ranked<T> {
  readonly #entries: readonly T[];

  /** @param list - in falling order of use, a few thousand entries at most. */
  constructor(list: readonly T[]) {
    const weights = list.map((_, rank) => 1 / (rank + 2.7));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    this.#entries = list.flatMap((entry, rank) =>
      Array.from(
        { length: Math.max(1, Math.round(((weights[rank] ?? 0) / total) * tableSize)) },
        () => entry,
      ),
    );
  }

  draw(random: Random): T {
    return random.pick(this.#entries);
  }
}

const tableSize = 2 ** 16;
