import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { setTimeout as rest } from 'node:timers/promises';
import type { ServerProcess } from './child.ts';
import { cpuOf } from './cost.ts';
import { getBot, send, takeNumbers } from './request.ts';
import type { Row } from './row.ts';
import { leastReadingRow, type RunTime, runTimeRow, timeReading } from './run-time.ts';
import { residentMegabytes, startService, startWholeService } from './service.ts';
import { editPage, type Stage } from './stage.ts';
import { median } from './statistics.ts';

/** Starting, what the running service takes, and how soon it sees an edit. */
export async function* starts(stage: Stage): AsyncGenerator<Row> {
  const reading = timeReading(stage);
  const first = await timeStarts(stage, 3, () => rmSync(stage.var, { recursive: true, force: true }));
  yield runTimeRow('ready after a first start', first, reading, 4);
  yield runTimeRow('ready after a restart', await timeStarts(stage, 3), reading, 1);
  yield leastReadingRow(stage);
  rmSync(stage.var, { recursive: true, force: true });
  await using service = await startWholeService(stage);
  await rest(5000);
  const megabytes = residentMegabytes(service);
  yield {
    name: 'resident memory',
    measured: `${megabytes.toFixed(0)} MB`,
    goal: '≤ 1,024 MB',
    met: megabytes <= 1024,
  };
  const delay = await timeEdits(stage, service);
  execFileSync('git', ['restore', '.'], { cwd: stage.catalogue });
  yield {
    name: 'edited file to new response',
    measured: `${delay.toFixed(1)} ms`,
    goal: '≤ 100 ms',
    met: delay <= 100,
  };
}

/** Starts the service `rounds` times, each until it is ready. */
export async function timeStarts(stage: Stage, rounds: number, prepare = (): void => {}): Promise<RunTime[]> {
  const times: RunTime[] = [];
  for (let round = 0; round < rounds; round++) {
    prepare();
    await using service = await startService(stage);
    times.push({ wall: service.readyAfter / 1000, cpu: cpuOf(service.pids) / 1e6 });
  }
  return times;
}

/** The median time from saving a page to the first response that is another, in milliseconds. */
async function timeEdits(stage: Stage, { address }: ServerProcess): Promise<number> {
  const times: number[] = [];
  for (const bot of stage.bots.slice(0, 30)) {
    const etag = async (): Promise<unknown> => (await send(address, getBot(bot))).headers['etag'];
    const before = await etag();
    editPage(stage.catalogue, bot.path, { website: `https://example.org/${takeNumbers(1)}` });
    const saved = performance.now();
    while ((await etag()) === before) await rest(1);
    times.push(performance.now() - saved);
  }
  return median(times);
}
