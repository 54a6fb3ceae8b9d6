import { threadId } from 'node:worker_threads';

/** The tasks of the threads of worker-pool.test.ts. */
export function runTask(task: 'name' | 'pause' | 'throw' | 'spin' | 'grow'): number {
  const held: string[][] = [];
  switch (task) {
    case 'throw':
      throw new RangeError('not this one');
    case 'spin':
      for (;;);
    case 'grow':
      for (;;) held.push(Array.from({ length: 10_000 }, String));
    case 'pause':
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
      break;
    case 'name':
  }
  return threadId;
}
