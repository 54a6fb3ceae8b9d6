import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Schedule } from '../../src/sync/schedule.ts';

const hour = { syncSeconds: 3600, pushSeconds: 3600 };

describe('the schedule of rounds', () => {
  it('runs one round for many requests, at the earliest of their times', async () => {
    const started = performance.now();
    const runs: number[] = [];
    const schedule = new Schedule(hour, () => void runs.push(performance.now() - started));
    schedule.runIn(3_600_000);
    for (let n = 0; n < 10; n++) schedule.requestPush();
    await sleep(300);
    schedule.stop();
    strictEqual(runs.length, 1);
    ok((runs[0] ?? 0) >= 45, 'commits are gathered first');
  });

  it('allows a push again after its interval, and after a failure when it retries', () => {
    const schedule = new Schedule({ syncSeconds: 1, pushSeconds: 3600 }, () => undefined);
    const allowed = [schedule.isPushAllowed];
    schedule.pushStarts();
    allowed.push(schedule.isPushAllowed);
    schedule.roundFailed();
    allowed.push(schedule.isPushAllowed);
    later(500, () => allowed.push(schedule.isPushAllowed));
    schedule.stop();
    deepStrictEqual(allowed, [true, false, false, true]);
  });

  it('runs a round for what is not pushed, also where a push became allowed while the last round ran, until it is stopped', async () => {
    let runs = 0;
    const schedule = new Schedule(hour, () => void runs++);
    schedule.fetchStarts();
    schedule.fetchEnds();
    schedule.roundSucceeded(false);
    await sleep(300);
    schedule.runIn(10);
    schedule.stop();
    schedule.runIn(10);
    await sleep(50);
    strictEqual(runs, 1);
  });
});

/** Does work with the clock some milliseconds ahead. */
function later(ms: number, work: () => unknown): void {
  const now = performance.now.bind(performance);
  performance.now = () => now() + ms;
  try {
    work();
  } finally {
    performance.now = now;
  }
}
