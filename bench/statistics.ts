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
