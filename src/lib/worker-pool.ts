import { Tinypool } from 'tinypool';

/**
 * Runs a function of a module in threads: each thread runs one task after the other. A task and its result are copied
 * from one thread to the other, shared memory excepted.
 */
export class WorkerPool<F extends (task: never) => unknown> {
  readonly #pool: Tinypool;
  #failure: unknown;

  /**
   * @param module the built module, a `.js` file
   * @param name the name under which it exports the function
   * @param limits the maximum number of threads, each of which starts with the first task that needs it and ends when the pool
   * closes; and the maximum heap of a thread, in MiB: a thread that needs more ends, and its task rejects
   */
  constructor(module: URL, name: string, { threads, memory }: { threads: number; memory?: number }) {
    this.#pool = new Tinypool({
      filename: module.href,
      name,
      minThreads: 0,
      maxThreads: threads,
      idleTimeout: maxTimerMs,
      // Each thread has two tasks, so that it does not wait for this thread between them.
      concurrentTasksPerWorker: 2,
      useAtomics: false,
      // Tasks read no environment. With that of `node --watch`, Node 26 sends messages that the pool does not know.
      env: {},
      ...(memory !== undefined && { resourceLimits: { maxOldGenerationSizeMb: memory } }),
    });
    // A thread that cannot start: nothing else would reject the tasks that wait for it.
    this.#pool.on('error', (error) => {
      this.#failure = error;
      this.#pool.cancelPendingTasks();
    });
  }

  /**
   * Resolves with what the function returns for `task`.
   * @param signal ends the task when it aborts, and its thread with it when it runs; the next task starts another thread
   * @throws what the function throws, or an error when its thread cannot start or ends before it does
   */
  async run(task: Parameters<F>[0], signal?: AbortSignal): Promise<Awaited<ReturnType<F>>> {
    try {
      return (await this.#pool.run(task, signal && { signal })) as Awaited<ReturnType<F>>;
    } catch (error) {
      // The last thread has ended with this task, so no thread would run the waiting ones.
      if (this.#pool.threads.length === 0) this.#pool.cancelPendingTasks();
      throw this.#failure ?? error;
    }
  }

  /** Ends the threads. Tasks that have not ended reject. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

/** Divides items into parts of `size` items, because a task for each item takes longer to send than to run. */
export function splitIntoParts<T>(items: readonly T[], size: number): T[][] {
  const parts: T[][] = [];
  for (let at = 0; at < items.length; at += size) parts.push(items.slice(at, at + size));
  return parts;
}

/** `setTimeout` fires immediately for a longer delay. */
const maxTimerMs = 2 ** 31 - 1;
