import { readdirSync, readFileSync } from 'node:fs';
import { codeOf } from '../../src/lib/errors.ts';

/** The cost of work in a process. */
export interface Cost {
  /** Milliseconds of CPU, in user and in system mode, of all threads. */
  readonly cpu: number;
  /** Bytes by which its resident memory grew at most while the work went on. */
  readonly memory: number;
}

/** Does `work` and returns its cost in the process `pid`. */
export async function costOf(pid: number, work: () => Promise<unknown>): Promise<Cost> {
  const [cpu, memory] = [cpuOf(pid), residentOf(pid)];
  let most = memory;
  const look = setInterval(() => (most = Math.max(most, residentOf(pid))), 5);
  try {
    await work();
  } finally {
    clearInterval(look);
  }
  return { cpu: cpuOf(pid) - cpu, memory: Math.max(most, residentOf(pid)) - memory };
}

/** Returns the milliseconds of CPU that the threads of a process have used: the sum in its `stat` has steps of 10 ms. */
export function cpuOf(pid: number): number {
  const threads = `/proc/${pid}/task`;
  const times = readdirSync(threads).map((id) => readSchedulerTime(`${threads}/${id}/schedstat`));
  return times.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e6;
}

/** Returns nanoseconds; 0 if the thread has ended since it was listed. */
function readSchedulerTime(path: string): number {
  try {
    return Number.parseInt(readFileSync(path, 'utf8'));
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH') return 0;
    throw error;
  }
}

/** Returns the bytes of resident memory of a process. */
export function residentOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}
