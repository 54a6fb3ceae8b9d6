import type { Row } from './rows.ts';
import { Random } from './random.ts';

const [bots, reads] = [1_000_000, 10_000_000];
const secondsPerDay = 86_400;
/** A record changes with each count. */
const secondsBetweenPosts = 30 * 60;

/**
 * A simulated day at one cache in front of the service: reads of records, the bot of rank n read 1/n as often as the first
 * (Zipf), each changed every 30 minutes. Shows what reaches the service with the max-age that it sends (0: no-cache), or
 * with one that the cache is told to use.
 */
export async function* cdn(): AsyncGenerator<Row> {
  for (const maxAge of [0, 10, 60, 300, 1800]) {
    const { fresh, unchanged, busiest } = simulateDay(maxAge);
    const percent = (part: number): string => `${((100 * part) / reads).toFixed(1)} %`;
    const misses = reads - fresh - unchanged;
    yield {
      goal: `${reads.toLocaleString('en')} reads of ${bots.toLocaleString('en')} bots, max-age ${maxAge}`,
      measured: `${percent(fresh)} from the cache, ${percent(unchanged)} a 304, ${percent(misses)} whole; at most ${busiest}/s`,
    };
  }
}

/** Counts the reads that the cache answers itself, those that the service answers with a 304, and its busiest second. */
function simulateDay(maxAge: number): { fresh: number; unchanged: number; busiest: number } {
  const random = new Random(1);
  const fetchedAt = new Float64Array(bots).fill(-Infinity);
  const postOffset = Float64Array.from(fetchedAt, () => random.fraction() * secondsBetweenPosts);
  const perSecond = new Uint32Array(secondsPerDay);
  let [fresh, unchanged] = [0, 0];
  for (let read = 0; read < reads; read++) {
    const now = ((read + random.fraction()) / reads) * secondsPerDay;
    const bot = Math.min(bots - 1, Math.floor((bots + 1) ** random.fraction()) - 1);
    const fetched = fetchedAt[bot] as number;
    if (now - fetched < maxAge) {
      fresh++;
      continue;
    }
    const postsBefore = (at: number): number =>
      Math.floor((at + (postOffset[bot] as number)) / secondsBetweenPosts);
    if (postsBefore(now) === postsBefore(fetched)) unchanged++;
    fetchedAt[bot] = now;
    const second = Math.floor(now);
    perSecond[second] = (perSecond[second] ?? 0) + 1;
  }
  return { fresh, unchanged, busiest: Math.max(...perSecond) };
}
