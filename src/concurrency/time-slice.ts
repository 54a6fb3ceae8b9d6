import { setImmediate } from 'node:timers/promises';

/**
 * Divides long work on the event loop, so that it delays no request for longer than a slice. Ask `isOver` before each
 * step, and wait for `next` when it is. Of all work that waits one slice is run each time the event loop comes round,
 * however much of it there is.
 */
export class TimeSlice {
  /** The first step waits for its slice too: a thousand short pieces of work are as long as one that is not. */
  #end = 0;

  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** Resolves when it is this work's turn. */
  async next(): Promise<void> {
    const turn = lastTurn.then(async () => await setImmediate());
    lastTurn = turn;
    await turn;
    this.#end = performance.now() + milliseconds;
  }
}

const milliseconds = 5;

let lastTurn: Promise<void> = Promise.resolve();
