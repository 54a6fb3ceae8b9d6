/** The queue is full. The same work may fit a moment later. */
export class QueueFullError extends Error {
  constructor(maxWaiting: number) {
    super(`${maxWaiting} others wait for the same kind of work: try again in a moment`);
    this.name = 'QueueFullError';
  }
}

/** Runs one piece of work after the other, in the order in which they come. */
export class SerialQueue {
  readonly #maxWaiting: number;
  #unfinished = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** @param maxWaiting how many pieces of work may wait behind the one that runs; no limit by default */
  constructor(maxWaiting = Number.POSITIVE_INFINITY) {
    this.#maxWaiting = maxWaiting;
  }

  /** How many pieces of work run or wait. */
  get size(): number {
    return this.#unfinished;
  }

  /**
   * Runs `work` when everything before it has ended, with or without an error. Resolves and rejects as `work` does.
   * @throws {QueueFullError} when too much waits already; the work is not run
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#unfinished > this.#maxWaiting) throw new QueueFullError(this.#maxWaiting);
    this.#unfinished++;
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    try {
      return await result;
    } finally {
      this.#unfinished--;
    }
  }
}
