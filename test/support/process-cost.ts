import { readFileSync } from 'node:fs';

/** What work has cost a process. */
export interface Cost {
  /** Milliseconds of CPU, in user and in system mode, of all threads. */
  readonly cpu: number;
  /** Bytes by which its resident memory grew at most while the work went on. */
  readonly memory: number;
}

/** Does `work` and returns what it cost the process `pid`. The system's clock for that has steps of 10 ms. */
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

/** Returns the milliseconds of CPU that a process has used. User and system time are the 14th and 15th word; the second is a name in brackets that may hold blanks. */
export function cpuOf(pid: number): number {
  const words = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(words[11]) + Number(words[12])) * 10;
}

function residentOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}
