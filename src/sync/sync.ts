import { setTimeout as sleep } from 'node:timers/promises';
import { SerialQueue } from '../lib/serial-queue.ts';
import { type Failure, FailureLog } from '../lib/failure-log.ts';
import { GitError } from '../git/process/git-error.ts';
import type { Repository } from '../git/repository.ts';
import type { RemoteState } from '../tokens/shared-tokens.ts';
import { Exchange, type ExchangeOptions } from './exchange.ts';
import { describeRemoteError } from './remote-error.ts';
import { Schedule, type ScheduleOptions } from './schedule.ts';

export interface SyncOptions extends ScheduleOptions, ExchangeOptions {}

/**
 * Keeps branch and state in step with those of a remote: fetches, merges by meaning, pushes both together. One round
 * runs at a time; one that fails is retried, later each time. Reads and writes never depend on the remote.
 */
export class Sync implements RemoteState {
  readonly #options: SyncOptions;
  readonly #schedule: Schedule;
  readonly #exchange: Exchange;
  readonly #abort = new AbortController();
  readonly #queue = new SerialQueue();
  readonly #failures: FailureLog;
  #unpushed = 0;

  constructor(options: SyncOptions) {
    this.#options = options;
    this.#failures = new FailureLog({
      log: options.log,
      failed: (message) =>
        `not in step with the remote: ${message}. Reads and writes go on, retrying in the background`,
      ended: 'in step with the remote again',
    });
    this.#schedule = new Schedule(options, () => void this.#queueRound());
    this.#exchange = new Exchange(options, this.#schedule, this.#abort.signal);
  }

  /** Why the last round failed; null where nothing is left to fetch, merge or push. */
  get failure(): Failure | null {
    return this.#failures.current;
  }

  /** How many commits of branch and state the remote does not have. */
  get unpushed(): number {
    return this.#unpushed;
  }

  /** Whether the remote's state was ever fetched: until then a new clone lacks the tokens of all bots. */
  get stateFetched(): boolean {
    return this.#exchange.stateFetched;
  }

  /** Starts the first round. Resolves when a new clone has everything, or has waited for it as long as it may. */
  async start(): Promise<void> {
    if (await this.#exchange.resume()) {
      this.#schedule.runIn(0);
      return;
    }
    await Promise.race([this.#queueRound(), sleep(startLimit * 1000, undefined, { ref: false })]);
  }

  /** Fetches and merges the state alone, for what cannot wait for a round. @throws {Error} that says why not */
  async fetchState(): Promise<void> {
    await this.#queue.run(async () => await this.#exchange.fetchState());
  }

  /** Pushes the state alone, merged with the remote's. @throws {Error} that says why not */
  async pushState(): Promise<void> {
    await this.#queue.run(async () => await this.#exchange.pushState());
  }

  /** Schedules a fetch, as the remote says that it has changed; at most one a second. */
  requestFetch(): void {
    this.#schedule.requestFetch();
  }

  /** Schedules a push. Call it after every commit here, of content or state. */
  requestPush(): void {
    this.#unpushed++;
    if (this.failure === null) this.#schedule.requestPush();
  }

  /**
   * Waits for the next push. Resolves with whether the remote has everything that was answered by now; false where it
   * is away, refuses it or is slow: it is pushed later.
   */
  async waitForPush(): Promise<boolean> {
    if (this.failure !== null) return false;
    this.#schedule.requestPush();
    return await this.#exchange.waiters.wait((this.#options.pushSeconds + pushLimit) * 1000);
  }

  /**
   * Prunes the history of the state on the remote first, and here if that succeeds, so that no replica meets a pruned
   * history that the remote lacks. Returns how many commits were removed.
   */
  async prune(repository: Repository, since: number): Promise<number> {
    return await this.#queue.run(async () =>
      this.failure === null ? await this.#exchange.prune(repository, since) : 0,
    );
  }

  /** Starts no further round and waits for the running one. Call it before the committer closes, which it needs. */
  async pause(): Promise<void> {
    this.#schedule.stop();
    await this.#queueLast(async () => {});
  }

  /** Stops, and pushes once more if the remote could be reached until now. */
  async close(): Promise<void> {
    await this.pause();
    try {
      await this.#queueLast(async () => {
        if (this.failure === null) await this.#exchange.pushLast();
      });
    } catch (error) {
      this.#options.log.warn(
        { err: error },
        `could not push the last commits: ${describeRemoteError(error)}; they are safe in this clone and pushed after the next start`,
      );
    } finally {
      this.#abort.abort();
    }
  }

  /** Runs this behind what is queued, and aborts all of it when it takes too long. */
  async #queueLast(work: () => Promise<void>): Promise<void> {
    const timer = setTimeout(() => this.#abort.abort(), closeLimit * 1000);
    await this.#queue.run(work).finally(() => clearTimeout(timer));
  }

  /** Runs a round behind what is queued. What goes wrong is logged, and named by `failure`. */
  async #queueRound(): Promise<void> {
    await this.#queue.run(async () => {
      if (this.#abort.signal.aborted || this.#schedule.isStopped) return;
      try {
        this.#succeed(await this.#exchange.round());
      } catch (error) {
        this.#fail(error);
      }
      await this.#countUnpushed();
    });
  }

  /** The number is exact at the end of each round; until the next one `requestPush` adds to it. */
  async #countUnpushed(): Promise<void> {
    try {
      this.#unpushed = await this.#exchange.countUnpushed();
    } catch (error) {
      this.#options.log.debug({ err: error }, 'could not count the commits to push, trying again next round');
    }
  }

  /** A failure ends when the remote has everything: a fetch that works does not mean that a push would. */
  #succeed(isPushed: boolean): void {
    if (isPushed) this.#failures.end();
    this.#schedule.roundSucceeded(isPushed);
    if (this.#exchange.waiters.size > 0) this.#schedule.requestPush();
  }

  #fail(error: unknown): void {
    if (this.#abort.signal.aborted) return;
    const message = describeRemoteError(error);
    this.#failures.add(error, message, toFailureKind(error, message));
    for (const finish of this.#exchange.waiters.list()) finish(false);
    this.#schedule.roundFailed();
  }
}

/** Seconds that a response waits for a push, beyond the time to the next one. */
const pushLimit = 8;

/** Seconds that a new clone waits for the remote before it serves without. */
const startLimit = 30;

/** Seconds that a stop waits for the last push. */
const closeLimit = 5;

/** Returns what is the same at each retry: a message of git may have times and numbers that differ. */
function toFailureKind(error: unknown, message: string): string {
  if (!(error instanceof GitError)) return message;
  return error.command.includes(' push ') ? 'push' : 'fetch';
}
