import type { CostResult } from './cost.ts';
import type { LoadResult } from './load.ts';
import { perSecond } from './row.ts';
import { median } from './statistics.ts';

/** Sends its load for a number of seconds. */
export type Contender<R extends LoadResult = LoadResult> = (seconds: number) => Promise<R>;

/**
 * Runs the contenders one after the other, round after round, after a warm-up. Returns the results of
 * each by round.
 */
export async function alternate<K extends string, R extends LoadResult>(
  contenders: Readonly<Record<K, Contender<R>>>,
): Promise<Record<K, R[]>> {
  const entries = Object.entries<Contender<R>>(contenders);
  for (const [, run] of entries) await run(1);
  const results = Object.fromEntries(entries.map(([name]): [string, R[]] => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of entries) results[name]?.push(await run(secondsARun));
  }
  return results as Record<K, R[]>;
}

const rounds = 5;
const secondsARun = 2;

export function rates(results: readonly LoadResult[]): number[] {
  return results.map(({ rate }) => rate);
}

export function latencies(results: readonly LoadResult[]): number[] {
  return results.map(({ latency }) => latency);
}

/** The medians: responses a second, and microseconds of CPU for each. */
export function rateAndCpu(results: readonly CostResult[]): string {
  return `${perSecond(median(rates(results)))} at ${Math.round(median(cpus(results)))} µs`;
}

export function cpus(results: readonly CostResult[]): number[] {
  return results.map(({ cpu }) => cpu);
}
