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

  it('fetches once when that is requested, and again when the interval is over', () => {
    const schedule = new Schedule({ syncSeconds: 0.05, pushSeconds: 0 }, () => undefined);
    const due = [schedule.isFetchDue];
    schedule.fetchStarts();
    schedule.fetchEnds();
    due.push(schedule.isFetchDue);
    later(50, () => due.push(schedule.isFetchDue));
    deepStrictEqual(due, [true, false, true]);
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

  it('fetches in the retry of a round that failed', () => {
    const schedule = new Schedule(hour, () => undefined);
    schedule.fetchStarts();
    schedule.fetchEnds();
    schedule.roundFailed();
    schedule.stop();
    strictEqual(schedule.isFetchDue, true);
  });

  it('runs a round for what is not pushed, also where a push became allowed while the last round ran', async () => {
    let runs = 0;
    const schedule = new Schedule(hour, () => void runs++);
    schedule.fetchStarts();
    schedule.fetchEnds();
    schedule.roundSucceeded(false);
    await sleep(300);
    schedule.stop();
    strictEqual(runs, 1);
  });

  it('runs nothing once it is stopped', async () => {
    let runs = 0;
    const schedule = new Schedule(hour, () => void runs++);
    schedule.runIn(10);
    schedule.stop();
    schedule.runIn(10);
    await sleep(50);
    strictEqual(runs, 0);
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
