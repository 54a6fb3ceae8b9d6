import type { LoadResult } from './load.ts';

/** Sends its load for a number of seconds. */
export type Contender = (seconds: number) => Promise<LoadResult>;

/**
 * Runs the contenders one after the other, round after round, after a warm-up. Returns the results of
 * each by round.
 */
export async function alternate<K extends string>(
  contenders: Readonly<Record<K, Contender>>,
): Promise<Record<K, LoadResult[]>> {
  const entries = Object.entries<Contender>(contenders);
  for (const [, run] of entries) await run(1);
  const results = Object.fromEntries(entries.map(([name]): [string, LoadResult[]] => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of entries) results[name]?.push(await run(secondsARun));
  }
  return results as Record<K, LoadResult[]>;
}

const rounds = 5;
const secondsARun = 2;

export function rates(results: readonly LoadResult[]): number[] {
  return results.map(({ rate }) => rate);
}

export function latencies(results: readonly LoadResult[]): number[] {
  return results.map(({ latency }) => latency);
}
