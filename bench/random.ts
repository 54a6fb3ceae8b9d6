/** Draws numbers from a seed: the same seed draws the same numbers on every machine. */
export class Random {
  // Numbers of 32 bits kept in fields would be allocated at every draw.
  readonly #state: Uint32Array;

  constructor(seed: number) {
    this.#state = Uint32Array.of(seed, seed / 2 ** 32, 0x9e3779b9, 1);
    for (let round = 0; round < 12; round++) this.bits();
  }

  /** 32 bits, as a whole number from 0. This is sfc32. */
  bits(): number {
    const state = this.#state;
    const a = state[0] as number;
    const b = state[1] as number;
    const c = state[2] as number;
    const counter = state[3] as number;
    const drawn = (a + b + counter) >>> 0;
    state[0] = b ^ (b >>> 9);
    state[1] = c + (c << 3);
    state[2] = ((c << 21) | (c >>> 11)) + drawn;
    state[3] = counter + 1;
    return drawn;
  }

  /** A number in [0, 1). */
  fraction(): number {
    return this.bits() / 2 ** 32;
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
