import { deepStrictEqual, notStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { threadId } from 'node:worker_threads';
import { WorkerPool } from '../../src/lib/worker-pool.ts';
import type { runTask } from './pool-tasks.ts';

describe('a worker pool', () => {
  const tasks = new URL('./pool-tasks.js', import.meta.url);
  let pool: WorkerPool<typeof runTask>;
  const open = (threads: number, module = tasks): void => {
    pool = new WorkerPool(module, 'runTask', { threads, memory: 32 });
  };
  afterEach(async () => await pool.close());

  it('runs many tasks in its threads, and no more threads than it may', async () => {
    open(2);
    const ids = await Promise.all(Array.from({ length: 20 }, () => pool.run('pause')));
    strictEqual(new Set(ids).size, 2);
    strictEqual(ids.includes(threadId), false);
  });

  it('rejects as its function throws, and runs the next task in the same thread, but not one that never ends', async () => {
    open(1);
    const before = await pool.run('name');
    await rejects(pool.run('throw'), { name: 'RangeError', message: 'not this one' });
    strictEqual(await pool.run('name'), before);
    await rejects(pool.run('spin', AbortSignal.timeout(50)), { name: 'AbortError' });
    notStrictEqual(await pool.run('name'), before);
  });

  it('rejects a task that takes too much memory, and leaves none waiting for its thread', async () => {
    open(1);
    await rejects(pool.run('grow'), { code: 'ERR_WORKER_OUT_OF_MEMORY' });
    const [grown, ...later] = await Promise.allSettled([
      pool.run('grow'),
      ...Array.from({ length: 5 }, () => pool.run('name')),
    ]);
    deepStrictEqual([grown.status, later.length], ['rejected', 5]);
    notStrictEqual(await pool.run('name'), 0);
  });

  it('rejects every task where its module cannot be loaded', async () => {
    open(2, new URL('./no-such-module.js', import.meta.url));
    const results = await Promise.allSettled([1, 2, 3, 4, 5, 6].map(() => pool.run('name')));
    for (const result of results) strictEqual(result.status, 'rejected');
    await rejects(pool.run('name'), { code: 'ERR_MODULE_NOT_FOUND' });
  });

  it('rejects what has not ended when it is closed', async () => {
    open(1);
    const running = pool.run('spin');
    const waiting = Promise.all([1, 2, 3].map(() => pool.run('name')));
    await Promise.all([rejects(running), rejects(waiting), pool.close()]);
    open(1);
  });
});
