/** The middle of the values; of two middles the upper one. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The value that `share` (0 to 1) of the values are below. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/**
 * The median, over the rounds, of ours against the peer's in that round: what slows the machine down for a
 * while slows both.
 */
export function medianRatio(ours: readonly number[], peer: readonly number[]): number {
  return median(ours.map((value, round) => value / (peer[round] ?? Number.NaN)));
}

/** Numbers in [0, 1) that are the same in every run (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
