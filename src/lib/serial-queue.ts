import { BotshelfError } from './errors.ts';

/** Returns the error for a full queue. The same work may fit a moment later. */
export function createQueueFullError(maxWaiting: number): BotshelfError {
  const message = `${maxWaiting} others wait for the same kind of work: try again in a moment`;
  return new BotshelfError('queue-full', message);
}

/**
 * Runs one piece of work after the other, taking turns among clients: the next is that of the client which waits longest
 * since its last turn. No client has more than a quarter of the places.
 */
export class FairQueue {
  readonly #maxWaiting: number;
  /** Client → what begins each of its pieces of work; the client whose turn is next is the first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isRunning = false;

  /** @param maxWaiting how many pieces of work may wait behind the one that runs */
  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Runs `work` when it is its turn. Resolves and rejects as `work` does.
   * @param client whom it is for, such as a group of addresses
   * @throws {BotshelfError} queue-full, when too much waits already, of all or of this client; the work is not run
   */
  async run<T>(client: string, work: () => Promise<T>): Promise<T> {
    if (this.#isRunning) await this.#wait(client);
    this.#isRunning = true;
    try {
      return await work();
    } finally {
      this.#isRunning = false;
      this.#beginNext();
    }
  }

  async #wait(client: string): Promise<void> {
    const waiting = [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0);
    const own = this.#waiting.get(client) ?? [];
    if (waiting >= this.#maxWaiting || own.length >= this.#maxWaiting / 4)
      throw createQueueFullError(Math.min(waiting, this.#maxWaiting));
    await new Promise<void>((resolve) => {
      own.push(resolve);
      this.#waiting.set(client, own);
    });
  }

  #beginNext(): void {
    const [next] = this.#waiting;
    if (next === undefined) return;
    const [client, [begin, ...others]] = next;
    this.#waiting.delete(client);
    if (others.length > 0) this.#waiting.set(client, others);
    // Before anything else that comes meanwhile.
    this.#isRunning = true;
    begin?.();
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
   * @throws {BotshelfError} queue-full, when too much waits already; the work is not run
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#unfinished > this.#maxWaiting) throw createQueueFullError(this.#maxWaiting);
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
