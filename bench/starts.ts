import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { cpuOf, getBot, send, takeNumbers } from './load.ts';
import {
  residentMegabytes,
  type RunTime,
  type ServerProcess,
  startService,
  startWholeService,
  timeScript,
} from './processes.ts';
import { atMost, median, megabytes, milliseconds, type Row, times } from './rows.ts';
import { editPage, git, type Stage } from './stage.ts';

/** Starting, what the running service takes, and how soon it sees an edit. */
export async function* starts(stage: Stage): AsyncGenerator<Row> {
  const reading = timeReading(stage);
  const clear = (): void => rmSync(stage.var, { recursive: true, force: true });
  yield runTimeRow('ready after a first start', await timeStarts(stage, 3, clear), reading, 4);
  yield runTimeRow('ready after a restart', await timeStarts(stage, 3), reading, 1);
  clear();
  await using service = await startWholeService(stage);
  await rest(5000);
  yield atMost('resident memory', residentMegabytes(service), 1024, megabytes);
  yield atMost('edited file to new response', await timeEdits(stage, service), 100, milliseconds);
  git(stage.catalogue, 'restore', '.');
}

/** Reads the files of a catalogue once. */
export function timeReading({ catalogue }: Stage): RunTime {
  return timeScript('bench/peers.js', ['read-files', join(catalogue, 'bots')]);
}

/** Returns the row of runs whose median may take `most` times the CPU of reading the same files. */
export function runTimeRow(name: string, runs: readonly RunTime[], reading: RunTime, most: number): Row {
  const cpu = median(runs.map((run) => run.cpu));
  const wall = median(runs.map((run) => run.wall));
  return {
    goal: `${name}: ≤ ${most}× the CPU of readFile`,
    measured: `${times(cpu / reading.cpu)}, ${wall.toFixed(2)} s, CPU ${cpu.toFixed(2)} s`,
    met: cpu <= most * reading.cpu,
  };
}

/** Starts the service some times, each until it is ready. */
export async function timeStarts(stage: Stage, rounds: number, prepare = (): void => {}): Promise<RunTime[]> {
  const runs: RunTime[] = [];
  for (let round = 0; round < rounds; round++) {
    prepare();
    await using service = await startService(stage);
    runs.push({ wall: service.readyAfter / 1000, cpu: cpuOf(service.pid) / 1e6 });
  }
  return runs;
}

/** Returns the median time from saving a page to the first response that is another, in milliseconds. */
export async function timeEdits({ bots, catalogue }: Stage, { address }: ServerProcess): Promise<number> {
  const taken: number[] = [];
  for (const bot of bots.slice(0, 30)) {
    const etag = async (): Promise<unknown> => (await send(address, getBot(bot))).headers['etag'];
    const before = await etag();
    editPage(catalogue, bot.path, { website: `https://example.org/${takeNumbers(1)}` });
    const saved = performance.now();
    while ((await etag()) === before) await rest(1);
    taken.push(performance.now() - saved);
  }
  return median(taken);
}
