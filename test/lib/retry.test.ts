import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { computeBackoff, FailureLog, LogThrottle, retry } from '../../src/lib/retry.ts';
import { recordedLog } from '../support/recorded-log.ts';

describe('retries', () => {
  it('returns what the first attempt that succeeds returns, and waits after each that failed', async () => {
    const waits: number[] = [];
    const delay = (attempt: number): number => {
      waits.push(attempt);
      return 1;
    };
    strictEqual(await retry(failUntil(3), { maxAttempts: 5, delay }), 3);
    deepStrictEqual(waits, [1, 2]);
  });

  it('throws the error of the last attempt, and does not ask whether that is retriable', async () => {
    const asked: unknown[] = [];
    const isRetriable = async (error: unknown): Promise<boolean> => asked.push(error) > 0;
    await rejects(retry(failUntil(4), { maxAttempts: 3, isRetriable }), { message: 'attempt 3' });
    strictEqual(asked.length, 2);
  });

  it('throws the first error that is not retriable', async () => {
    const isRetriable = (error: unknown): boolean => String(error) !== 'Error: attempt 2';
    await rejects(retry(failUntil(9), { maxAttempts: 5, isRetriable }), { message: 'attempt 2' });
  });

  it('no longer waits once its signal aborts', async () => {
    const closing = new AbortController();
    const retrying = retry(failUntil(9), { maxAttempts: 5, delay: () => 60_000, signal: closing.signal });
    setImmediate(() => closing.abort());
    await rejects(retrying, { name: 'AbortError' });
  });
});

describe('the wait after failures in a row', () => {
  it('begins with the first, doubles with each, and ends with the longest', () => {
    deepStrictEqual(
      [1, 2, 3, 4, 2000].map((failures) => computeBackoff(failures, 50, 350)),
      [50, 100, 200, 350, 350],
    );
  });
});

describe('the log of an operation that fails', () => {
  it('has each cause once, whatever paths, ids and times its message has, until it works again', () => {
    const log = recordedLog();
    const failures = new FailureLog({ log, failed: (message) => `no: ${message}`, ended: 'yes' });
    const messages = [
      'cannot open /var/a.1.tmp after 12 ms, at 20270101',
      'cannot open /var/a.2.tmp after 7 ms, at 20270102',
      'cannot lock 3f2a9b1c: error: 403',
      'cannot lock 9b1c3f2a: error: 403',
      'cannot lock 9b1c3f2a: error: 401',
    ];
    for (const message of messages) failures.add(new Error(message), message);
    strictEqual(failures.current?.message, messages[4]);
    failures.end();
    failures.end();
    const logged = [0, 2, 4].map((i) => `error: no: ${messages[i]}`);
    deepStrictEqual(log.lines, [...logged, 'info: yes']);
  });
});

describe('the log of refused requests', () => {
  it('has a reason once, and forgets the least recent of more than a hundred reasons', () => {
    const throttle = new LogThrottle();
    const logged = (...reasons: readonly number[]): number[] =>
      reasons.filter((reason) => throttle.shouldLog(`reason ${reason}`));
    const hundred = Array.from({ length: 100 }, (_, i) => i);
    deepStrictEqual(logged(...hundred), hundred);
    deepStrictEqual(logged(...hundred), []);
    deepStrictEqual(logged(100, 99, 0), [100, 0]);
  });
});

function failUntil(success: number): () => Promise<number> {
  let attempt = 0;
  return async () => {
    attempt++;
    if (attempt < success) throw new Error(`attempt ${attempt}`);
    return attempt;
  };
}
