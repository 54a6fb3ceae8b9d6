import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { RepositoryOpener } from '../src/git/repository.ts';
import { readRef, stateRef } from '../src/git/refs.ts';
import { CountSeries, writeSeries } from '../src/counts/count-series.ts';
import { listMoments } from '../src/counts/state-history.ts';
import { cpuOf } from './cost.ts';
import { Random } from './random.ts';
import { send } from './request.ts';
import { milliseconds, plainRow, type Row } from './row.ts';
import { residentMegabytes, startWholeService } from './service.ts';
import type { Stage } from './stage.ts';
import { median, percentile } from './statistics.ts';

/** Counts over time of two years: what they take in memory, and how fast they are read. */
export async function* overTime(stage: Stage): AsyncGenerator<Row> {
  const folder = stage.tempFolder();
  const { values, bytes } = await writeTwoYears(stage, folder);
  yield {
    name: `${(values / 1e6).toFixed(0)} million counts in memory`,
    measured: `${(bytes / values).toFixed(1)} bytes each`,
    goal: '≤ 16 bytes',
    met: bytes / values <= 16,
  };
  await using service = await startWholeService(stage, { BOTSHELF_VAR: folder });
  const random = new Random(3);
  let size = 0;
  /** Returns the milliseconds of each of 3,000 requests, and the milliseconds of CPU of one. */
  const read = async (query: string): Promise<{ readonly times: number[]; readonly cpu: number }> => {
    const times: number[] = [];
    const before = cpuOf(service.pids);
    for (let i = 0; i < 3000; i++) {
      const { id } = stage.bots[random.integer(0, stage.bots.length - 1)] ?? {};
      const started = performance.now();
      const path = `/api/v2/bots/${id}${query}`;
      const { body } = await send(service.address, { method: 'GET', path, headers: {} });
      times.push(performance.now() - started);
      size = Math.max(size, body.length);
    }
    // The first ones compile the code.
    return { times: times.slice(100), cpu: (cpuOf(service.pids) - before) / 1000 / times.length };
  };
  const record = percentile((await read('')).times, 0.99);
  const { times, cpu } = await read('/counts');
  const slowest = percentile(times, 0.99);
  yield {
    name: 'two years of counts by the day, p99',
    measured: `${milliseconds(slowest)}, median ${milliseconds(median(times))}, CPU ${milliseconds(cpu)}`,
    peer: `a record ${milliseconds(record)}`,
    ratio: record / slowest,
    goal: '≤ 5 ms',
    met: slowest <= 5,
  };
  if (size < 15_000) throw new Error('the history was not read');
  yield plainRow('memory of the service with them', `${Math.round(residentMegabytes(service))} MB`);
}

/** Writes the cache of a service that has read two years of a history, in which every bot had another count each day. */
async function writeTwoYears(stage: Stage, folder: string): Promise<{ values: number; bytes: number }> {
  const now = Math.floor(Date.now() / 1000);
  commitEmpty(stage.catalogue, now);
  const repositoryOpener = new RepositoryOpener(stage.catalogue);
  const repository = await repositoryOpener.open();
  const moments = await listMoments(repository, await readRef(repository, stateRef), now);
  repositoryOpener.close();
  const random = new Random(5);
  const before = memory();
  const series = new CountSeries(moments);
  for (const { id } of stage.bots) {
    let count = random.integer(10, 100_000);
    for (const { period } of moments) series.add(id, period, (count += random.integer(1, 40)));
  }
  const bytes = memory() - before;
  await writeSeries(join(folder, 'count-history'), series);
  return { values: moments.length * stage.bots.length, bytes };
}

/** Adds commits without a change to the state ref: one a day for two years. */
function commitEmpty(catalogue: string, now: number): void {
  const day = 24 * 3600;
  const commits = Array.from({ length: 730 }, (_, i) => now - (730 - i) * day).map(
    (time, i) =>
      `commit ${stateRef}\ncommitter Bench <bench@localhost> ${time} +0000\ndata 5\nCount\n${i === 0 ? `from ${stateRef}^0\n` : ''}\n`,
  );
  execFileSync('git', ['fast-import', '--quiet'], { cwd: catalogue, input: commits.join('') });
}

function memory(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
