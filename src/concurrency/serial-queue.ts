/** As much work waits already as may wait. Trying again later is right. */
export class QueueFullError extends Error {
  constructor(most: number) {
    super(`${most} others wait for the same kind of work: try again in a moment`);
    this.name = 'QueueFullError';
  }
}

/** Runs one piece of work after the other, in the order in which they came. */
export class SerialQueue {
  readonly #most: number;
  /** The one that is running and those that wait. */
  #unfinished = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** @param most how many may wait */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Resolves with what `work` resolves with, and rejects as it does.
   * @throws {QueueFullError} when too many wait already; the work is not run
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#unfinished > this.#most) throw new QueueFullError(this.#most);
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
