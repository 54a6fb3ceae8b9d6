import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { distPath } from './child.ts';
import { plainRow, type Row } from './row.ts';
import type { Stage } from './stage.ts';
import { median } from './statistics.ts';

/** What a run of a program took, in seconds. */
export interface RunTime {
  readonly wall: number;
  /** Of all its processes, in user and in system mode. */
  readonly cpu: number;
}

/** Runs a compiled script to its end. @throws {Error} with what it said when it fails */
export function timeScript(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RunTime {
  const cpuBefore = cpuOfChildren();
  const started = performance.now();
  const { status, stderr, stdout } = spawnSync(process.execPath, [distPath(script), ...args], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  if (status !== 0)
    throw new Error(`${script} ended with ${status}: ${(stderr + stdout).trim().slice(0, 300)}`);
  return { wall: (performance.now() - started) / 1000, cpu: cpuOfChildren() - cpuBefore };
}

/** Reads the files of a catalogue once, which is what others are compared with. */
export function timeReading({ catalogue }: Stage, way: 'readFile' | 'readFileSync' = 'readFile'): RunTime {
  return timeScript('bench/read-files.js', [join(catalogue, 'bots'), way]);
}

/** The row of runs that may take `most` times the CPU of reading the same files with `readFile`. */
export function runTimeRow(name: string, runs: readonly RunTime[], reading: RunTime, most: number): Row {
  const run = medianOf(runs);
  return {
    name,
    measured: runTime(run),
    peer: `readFile ${runTime(reading)}`,
    ratio: reading.cpu / run.cpu,
    goal: `≤ ${most} × its CPU`,
    met: run.cpu <= most * reading.cpu,
  };
}

/** The row of the least that a program can take to read the files. */
export function leastReadingRow(stage: Stage): Row {
  const least = timeReading(stage, 'readFileSync');
  return plainRow('the same files read with readFileSync', runTime(least));
}

export function runTime({ wall, cpu }: RunTime): string {
  return `${wall.toFixed(2)} s, CPU ${cpu.toFixed(2)} s`;
}

function medianOf(runs: readonly RunTime[]): RunTime {
  return { wall: median(runs.map(({ wall }) => wall)), cpu: median(runs.map(({ cpu }) => cpu)) };
}

/** Seconds of CPU of all children that have ended, and of theirs. */
function cpuOfChildren(): number {
  // The name of the program, in brackets, may hold blanks.
  const words = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(words[13]) + Number(words[14])) / 100;
}
