import { setImmediate } from 'node:timers/promises';

/** Keeps long work from holding the event loop: ask `due` now and then, and `rest` when it is. */
export class Pace {
  #since = performance.now();

  /** Whether the work has gone on for so long that others should have their turn. */
  get due(): boolean {
    return performance.now() - this.#since > longest;
  }

  /** Gives everybody who waits a turn. */
  async rest(): Promise<void> {
    await setImmediate();
    this.#since = performance.now();
  }
}

/** Milliseconds; a request that arrives just then waits for this long, and a post a few times. */
const longest = 2;
