import type { BotId } from '../bot/id.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import { type Failure, FailureLog, computeBackoff } from '../lib/retry.ts';
import { failpoint } from '../lib/failpoint.ts';
import type { Log } from '../lib/log.ts';
import { messageOf } from '../lib/errors.ts';
import type { BotState } from './state.ts';
import type { Journal } from './journal.ts';
import type { CommittedState, StateChange } from './committed-state.ts';
import { formatCount } from '../lib/text.ts';

export interface CheckpointerOptions {
  readonly journal: Journal;
  readonly committed: CommittedState;
  /** At most one checkpoint in that time. */
  readonly seconds: number;
  readonly log: Log;
}

/**
 * Checkpoints the journal: commits the latest count of each bot to the state ref, many in one commit, then deletes the
 * journal's segments. A checkpoint that fails loses nothing: the segments stay, and the next one commits all of it.
 */
export class Checkpointer {
  readonly #options: CheckpointerOptions;
  readonly #failures: FailureLog;
  readonly #queue = new SerialQueue();
  /** The bots whose counts are not committed yet. */
  #uncommitted = new Map<BotId, BotState>();
  #timer: NodeJS.Timeout | undefined;
  #startedAt = Number.NEGATIVE_INFINITY;
  #checkpointedAt: number | undefined;
  #failuresInRow = 0;
  #stopped = false;

  constructor(options: CheckpointerOptions) {
    this.#options = options;
    this.#failures = new FailureLog({
      log: options.log,
      failed: (message) =>
        `could not commit counts to Git: ${message}; they are safe in the journal, retrying within a minute`,
      ended: 'counts are committed to Git again',
    });
  }

  /** Why the last checkpoint failed; null when it did not. */
  get failure(): Failure | null {
    return this.#failures.current;
  }

  /** The number of bots whose counts are not committed yet. */
  get waiting(): number {
    return this.#uncommitted.size;
  }

  /** The end of the last checkpoint: milliseconds since the epoch; undefined before the first. */
  get checkpointedAt(): number | undefined {
    return this.#checkpointedAt;
  }

  /** Includes a bot's count in the next checkpoint, and schedules that. */
  add(id: BotId): void {
    this.#uncommitted.set(id, asInMemory);
    this.schedule();
  }

  /** Schedules a checkpoint: at once when the last one began more than `seconds` ago, else when that time is over. */
  schedule(): void {
    if (this.#timer !== undefined || this.#queue.size > 0 || this.#stopped) return;
    const { seconds } = this.#options;
    const dueIn = this.#startedAt + seconds * 1000 - performance.now();
    const delay =
      this.#failuresInRow > 0 ? computeBackoff(this.#failuresInRow, 1000, 60_000) : Math.max(0, dueIn);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      // The error is logged, and kept as `failure`.
      this.checkpoint().catch(() => {});
    }, delay);
    this.#timer.unref();
  }

  /**
   * Commits everything that is in the journal now.
   * @throws what went wrong, after it was logged
   */
  async checkpoint(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      await this.#queue.run(async () => await this.#commitJournal());
      this.#failuresInRow = 0;
      this.#checkpointedAt = Date.now();
      this.#failures.end();
    } catch (error) {
      this.#failuresInRow++;
      this.#failures.add(error, messageOf(error));
      throw error;
    } finally {
      if (this.#uncommitted.size > 0 || this.failure !== null) this.schedule();
    }
  }

  /** Stops scheduling checkpoints. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #commitJournal(): Promise<void> {
    const { journal, committed } = this.#options;
    this.#startedAt = performance.now();
    let bots: StateChange = new Map();
    try {
      const segments = await journal.seal();
      bots = this.#uncommitted;
      this.#uncommitted = new Map();
      if (bots.size === 0 && segments.length === 0) return;
      failpoint('checkpoint.before-commit');
      await committed.commit(() => bots, `Count ${formatCount(bots.size, 'bot')}`);
      failpoint('checkpoint.after-commit');
      await journal.remove(segments);
      failpoint('checkpoint.after-remove');
    } catch (error) {
      for (const id of bots.keys()) this.#uncommitted.set(id, asInMemory);
      throw error;
    }
  }
}

/** What is committed of a bot: no more than memory has. */
const asInMemory: BotState = {};
