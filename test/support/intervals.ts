import { mock } from 'node:test';
import { cleanUp } from './cleanup.ts';

/**
 * Has what repeats in this process (`setInterval`) wait for the returned function, until the test is over, which lets it run
 * as if these seconds had passed.
 */
export function holdIntervals(): (seconds: number) => void {
  mock.timers.enable({ apis: ['setInterval'] });
  cleanUp(() => mock.timers.reset());
  return (seconds) => mock.timers.tick(seconds * 1000);
}
