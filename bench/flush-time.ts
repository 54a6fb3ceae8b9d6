import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Stage } from './stage.ts';
import { median } from './statistics.ts';

/** Returns the median time of a synchronous write of 4 KiB into a file that has its size, in milliseconds. */
export function timeFlush(stage: Stage): number {
  const { O_CREAT, O_DSYNC, O_RDWR } = constants;
  const file = openSync(join(stage.tempFolder(), 'flushes'), O_CREAT | O_RDWR | O_DSYNC);
  const block = Buffer.alloc(4096, 1);
  writeSync(file, Buffer.alloc(writes * block.length));
  const times = Array.from({ length: writes }, (_, i) => {
    const start = performance.now();
    writeSync(file, block, 0, block.length, i * block.length);
    return performance.now() - start;
  });
  closeSync(file);
  return median(times);
}

const writes = 200;
