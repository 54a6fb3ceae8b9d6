import { readdirSync, readFileSync } from 'node:fs';
import { type Load, type LoadResult, sendLoad } from './load.ts';

/** A server that loads are sent to. */
export interface LoadedServer {
  readonly address: string;
  /** Its processes; their children count too. */
  readonly pids: readonly number[];
  /** Returns how many times it has waited for the disk to flush; missing where it does not write. */
  readonly flushes?: () => Promise<number>;
}

/** What a load cost the server, by response. */
export interface CostResult extends LoadResult {
  /** Microseconds of CPU, in user and in system mode, of all its processes. */
  readonly cpu: number;
  /** Flushes of the disk; NaN for a server that does not write. */
  readonly flushes: number;
}

/** Sends a load, as `sendLoad` does, and reads what it cost the server. The system's clock for that has steps of 10 ms. */
export async function measureLoad(server: LoadedServer, load: Omit<Load, 'address'>): Promise<CostResult> {
  const flushes = async (): Promise<number> => (await server.flushes?.()) ?? Number.NaN;
  const flushesBefore = await flushes();
  const cpuBefore = cpuOf(server.pids);
  const result = await sendLoad({ address: server.address, ...load });
  const cpu = (cpuOf(server.pids) - cpuBefore) / result.responses;
  return { ...result, cpu, flushes: ((await flushes()) - flushesBefore) / result.responses };
}

/** Microseconds of CPU of processes and their descendants, with those that have ended. */
export function cpuOf(pids: readonly number[]): number {
  const processes = readProcesses();
  const treeOf = (pid: number): number[] => [
    pid,
    ...processes.filter(({ parent }) => parent === pid).flatMap((child) => treeOf(child.pid)),
  ];
  const counted = new Set(pids.flatMap(treeOf));
  const ticks = processes.filter(({ pid }) => counted.has(pid)).reduce((all, one) => all + one.ticks, 0);
  return ticks * tick;
}

/** Microseconds. */
const tick = 10_000;

interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly ticks: number;
}

function readProcesses(): ProcessStat[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      // The name of the program, in brackets, may hold blanks.
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '');
      const words = text.split(' ').map(Number);
      // User and system time, then those of children that have ended.
      const ticks = words.slice(11, 15).reduce((all, time) => all + time, 0);
      return [{ pid: Number(pid), parent: words[1] ?? 0, ticks }];
    } catch {
      // It has just ended.
      return [];
    }
  });
}
