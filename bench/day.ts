import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type LoadResult, sendLoad } from './load.ts';
import { postCount } from './request.ts';
import { milliseconds, plainRow, type Row } from './row.ts';
import { startWholeService } from './service.ts';
import type { Stage } from './stage.ts';
import { median } from './statistics.ts';

/**
 * A day of the service, sixty times as fast: every bot posts a count each 30 minutes, which are 30 seconds here, and
 * what is checkpointed once a minute is checkpointed once a second. Yields a row for each hour.
 */
export function day(hours: number): (stage: Stage) => AsyncGenerator<Row> {
  return async function* (stage) {
    const rate = stage.bots.length / 30;
    // Each tenth of the bots posts for three seconds: a load of all of them is more than wrk can hold.
    const slices = Array.from({ length: 10 }, (_, tenth) =>
      stage.bots.filter((_bot, i) => i % 10 === tenth).map(postCount),
    );
    const before = sizeOf(stage);
    let first = 0;
    await using service = await startWholeService(stage, { BOTSHELF_STATE_SECONDS: '1' });
    for (let hour = 1; hour <= hours; hour++) {
      const results: LoadResult[] = [];
      for (const slice of [...slices, ...slices]) {
        results.push(
          await sendLoad({ address: service.address, connections: 32, seconds: 3, requests: slice, rate }),
        );
      }
      const latency = median(results.map((result) => result.latency));
      const reached = median(results.map((result) => result.rate));
      first ||= latency;
      const { packs, megabytes } = sizeOf(stage);
      yield {
        name: `hour ${hour}: posts, median`,
        measured: milliseconds(latency),
        peer: `first hour ${milliseconds(first)}`,
        ratio: first / latency,
        goal: `${Math.round(rate).toLocaleString('en')}/s, ≤ 50 packs`,
        met: reached >= 0.95 * rate && packs <= 50,
      };
      yield plainRow(
        `hour ${hour}: growth, ${packs} packs`,
        `${Math.round(megabytes - before.megabytes)} MB`,
      );
    }
  };
}

/** How many packs the repository has, and how large all of `.git` is. */
function sizeOf({ catalogue }: Stage): { packs: number; megabytes: number } {
  const files = readdirSync(join(catalogue, '.git'), { recursive: true, encoding: 'utf8' });
  let bytes = 0;
  for (const file of files)
    bytes += statSync(join(catalogue, '.git', file), { throwIfNoEntry: false })?.size ?? 0;
  return { packs: files.filter((file) => file.endsWith('.pack')).length, megabytes: bytes / 1e6 };
}
