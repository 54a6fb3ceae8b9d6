import { mock } from 'node:test';

/** Runs a function at another time of the clock. @param now milliseconds since the epoch */
export async function atTime<Result>(now: number, run: () => Promise<Result>): Promise<Result> {
  mock.timers.enable({ apis: ['Date'], now });
  try {
    return await run();
  } finally {
    mock.timers.reset();
  }
}
