import { deepEqual, equal, ok } from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { defaultIntervals, HostQueue, retryDelay } from '../../src/images/image-queue.ts';

type Work = ConstructorParameters<typeof HostQueue<string>>[0]['work'];

/** The name of an item is its host, a letter or word, and a digit. */
function queueOf(maxConcurrent: number, work: Work): HostQueue<string> {
  return new HostQueue({ maxConcurrent, pauseMs: { first: 1, max: 4 }, work });
}

function add(queue: HostQueue<string>, items: string): void {
  for (const item of items.split(' ')) queue.add(hostOf(item), item);
}

function hostOf(item: string): string {
  return item.replace(/\d$/, '');
}

describe('a host queue', () => {
  it('works on several items at once, up to a limit, and never on two of one host', async () => {
    const busy: string[] = [];
    let max = 0;
    const done: string[] = [];
    const queue = queueOf(3, async (item) => {
      const host = hostOf(item);
      equal(busy.includes(host), false);
      busy.push(host);
      max = Math.max(max, busy.length);
      await setImmediate();
      busy.splice(busy.indexOf(host), 1);
      done.push(item);
      return true;
    });
    const items = 'a1 a2 a3 b1 b2 c1 d1 e1 e2';
    add(queue, items);
    equal(queue.left, 9);
    await queue.idle();
    equal(done.toSorted().join(' '), items);
    deepEqual([max, queue.left], [3, 0]);
  });

  it('has the hosts take turns, also one whose first items come last', async () => {
    const done: string[] = [];
    const queue = queueOf(1, async (item) => done.push(hostOf(item)) > 0);
    add(queue, 'a1 a2 a3 a4 b1 b2 c1');
    await queue.idle();
    equal(done.join(' '), 'a b c a b a a');
  });

  it('takes the last item of a host first', async () => {
    const done: string[] = [];
    const queue = queueOf(1, async (item) => done.push(item) > 0);
    add(queue, 'a0 a1 a2');
    queue.add('a', 'a9');
    await queue.idle();
    equal(done[1], 'a9');
  });

  it('goes on with other hosts while one of them does not respond', async () => {
    const done: string[] = [];
    let answer: ((well: boolean) => void) | undefined;
    const queue = queueOf(2, async (item) => {
      done.push(item);
      if (item === 'slow') return await new Promise((resolve) => (answer = resolve));
      if (done.length === 4) answer?.(true);
      return true;
    });
    add(queue, 'slow a b c');
    await queue.idle();
    equal(done.join(' '), 'slow a b c');
  });
});

describe('the wait before another attempt', () => {
  const [minute, day] = [60_000, 86_400_000];

  it('is a minute at first, doubles, and is never more than a day, a quarter more or less', () => {
    const turns = [1, 2, 3, 10, 11, 12, 40, 2000].map((count) => {
      const delay = retryDelay(count, defaultIntervals);
      const turn = Math.min(day, minute * 2 ** (count - 1));
      ok(delay >= turn * 0.75 && delay <= turn * 1.25);
      return turn;
    });
    deepEqual(turns.slice(0, 3), [minute, 2 * minute, 4 * minute]);
    deepEqual(turns.slice(-2), [day, day]);
  });

  it('differs from image to image, so that they do not all come back at once', () => {
    const delays = new Set(Array.from({ length: 20 }, () => retryDelay(3, defaultIntervals)));
    ok(delays.size > 1);
  });
});
