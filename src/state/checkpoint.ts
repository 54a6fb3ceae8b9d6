import type { BotId } from '../bot/id.ts';
import { failpoint } from '../failpoint.ts';
import type { Log } from '../log.ts';
import { messageOf } from '../system-error.ts';
import type { StateChange, CommittedState } from './ref/committed-state.ts';
import type { BotState } from './bot-state/bot-state.ts';
import type { Journal, StateFailure } from './journal/journal.ts';
import { forEachInSlices } from '../concurrency/in-slices.ts';
import { SerialQueue } from '../concurrency/serial-queue.ts';

export interface CheckpointerOptions {
  readonly journal: Journal;
  readonly committed: CommittedState;
  /** At most one fold in so many seconds. */
  readonly seconds: number;
  readonly log: Log;
}

/**
 * Brings the counts from the journal into the state ref, the latest of each bot, many in one commit; then the
 * segments go. A fold that fails loses nothing: the journal stays, and the next one takes all of it.
 */
export class Checkpointer {
  readonly #options: CheckpointerOptions;
  #noted = new Set<BotId>();
  #timer: NodeJS.Timeout | undefined;
  #startedAt = Number.NEGATIVE_INFINITY;
  #checkpointedAt: number | undefined;
  #failures = 0;
  #fault: StateFailure | undefined;
  readonly #queue = new SerialQueue();
  #stopped = false;

  constructor(options: CheckpointerOptions) {
    this.#options = options;
  }

  /** Why the last fold failed; undefined when it did not. */
  get fault(): StateFailure | undefined {
    return this.#fault;
  }

  /** How many bots have a count that no commit has yet. */
  get waiting(): number {
    return this.#noted.size;
  }

  /** When the last fold was done: milliseconds since the epoch; undefined before the first. */
  get checkpointedAt(): number | undefined {
    return this.#checkpointedAt;
  }

  /** Puts a bot down whose count is to be folded: at once when the last fold is long ago, else when that time is over. */
  note(id: BotId): void {
    this.#noted.add(id);
    this.schedule();
  }

  /** Makes sure that a fold is coming. */
  schedule(): void {
    if (this.#timer !== undefined || this.#queue.size > 0 || this.#stopped) return;
    const { seconds } = this.#options;
    const dueIn = this.#startedAt + seconds * 1000 - performance.now();
    const wait = this.#failures > 0 ? this.#backOff() : Math.max(0, dueIn);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      // A fault is logged and kept for health; whoever waits for a fold calls `fold` and gets it thrown.
      this.fold().catch(() => {});
    }, wait);
    this.#timer.unref();
  }

  /**
   * Folds everything that is in the journal by now.
   * @throws what went wrong, after it was logged
   */
  async fold(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      await this.#queue.run(async () => await this.#foldOnce());
      this.#succeeded();
    } catch (error) {
      this.#failed(error);
      throw error;
    } finally {
      if (this.#noted.size > 0 || this.#fault !== undefined) this.schedule();
    }
  }

  /** No fold starts by itself any more. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #foldOnce(): Promise<void> {
    const { journal, committed } = this.#options;
    this.#startedAt = performance.now();
    let taken = new Set<BotId>();
    try {
      const segments = await journal.seal();
      taken = this.#noted;
      this.#noted = new Set();
      if (taken.size === 0 && segments.length === 0) return;
      const change = await this.#changeOf(taken);
      failpoint('fold.before-commit');
      await committed.commit(() => change, `Count ${change.size} ${change.size === 1 ? 'bot' : 'bots'}`);
      failpoint('fold.after-commit');
      await journal.remove(segments);
      failpoint('fold.after-remove');
    } catch (error) {
      for (const id of taken) this.#noted.add(id);
      throw error;
    }
  }

  async #changeOf(bots: Iterable<BotId>): Promise<StateChange> {
    const change = new Map<BotId, BotState>();
    const { state } = this.#options.committed;
    await forEachInSlices(bots, (id) => void change.set(id, state.get(id)), 'service');
    return change;
  }

  #succeeded(): void {
    this.#failures = 0;
    this.#checkpointedAt = Date.now();
    if (this.#fault === undefined) return;
    this.#options.log.info({ since: this.#fault.since }, 'counts reach Git again');
    this.#fault = undefined;
  }

  #failed(error: unknown): void {
    this.#failures++;
    const message = messageOf(error);
    if (this.#fault?.message !== message) {
      this.#options.log.error(
        { err: error },
        `counts do not reach Git: ${message}. They are safe in the journal, and tried again`,
      );
    }
    this.#fault = { since: this.#fault?.since ?? Date.now(), message };
  }

  /** Milliseconds until the next try: one second, then twice as long each time, at most a minute. */
  #backOff(): number {
    return Math.min(60_000, 1000 * 2 ** (this.#failures - 1));
  }
}
