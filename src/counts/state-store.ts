import { countTimeAfter, maxEditedLeadMs, msPerHour, toClockTime } from '../bot/clock.ts';
import type { Counts } from '../bot/counts.ts';
import { isUnavailable, stopping } from '../bot/errors.ts';
import type { BotId } from '../bot/id.ts';
import { BotshelfError, messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { type Failure, FailureLog, computeBackoff } from '../lib/retry.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import { formatCount } from '../lib/text.ts';
import { CommittedState, type StateChange, type StateRef } from './state-ref.ts';
import { Journal, type JournalEntry } from './journal.ts';
import type { Count, State, BotState } from './state.ts';

export interface StateStoreOptions {
  /** The journal's folder: `<var>/journal`. */
  readonly folder: string;
  readonly ref: StateRef;
  /** Minimum seconds between checkpoints. */
  readonly stateSeconds: number;
  /** Whether other machines take counts too: one may have an earlier, different count, so unchanged ones are written too. */
  readonly isShared?: boolean;
  /** Whether the store only reads the committed state, and takes no counts. */
  readonly readOnly?: boolean;
  /** Called with a bot when the time that `edited` returns has changed. */
  readonly onEdited?: (id: BotId) => void;
  readonly log: Log;
}

/**
 * The counts of all bots, and the digests of their tokens: read from memory, written through the journal and the state
 * ref. A write that has resolved is durable. One process uses a journal; other processes may commit to the ref at the
 * same time.
 */
export class StateStore implements Omit<Counts, 'growth'> {
  readonly #state: State;
  readonly #committed: CommittedState;
  readonly #journal: Journal;
  readonly #checkpointer: Checkpointer;
  readonly #reads: FailureLog;
  readonly #isShared: boolean;
  /** The latest entry of each bot that is not durable yet. */
  readonly #pending = new Map<BotId, JournalEntry>();
  /** The time of the last post of each unchanged count that was not written again. */
  readonly #repeatedAt = new Map<BotId, number>();
  /** The latest time of a refused count. It may be on disk all the same, so later counts get a later time. */
  #refusedAt = 0;
  /** The reason why every write is refused; undefined while writes are accepted. */
  #closed: string | undefined;
  #isLoaded = false;

  /** Call `load` before anything else. */
  constructor(options: StateStoreOptions) {
    const { folder, ref, stateSeconds, isShared = false, readOnly = false, onEdited, log } = options;
    if (readOnly) this.#closed = 'this is a read-only copy of the list';
    this.#isShared = isShared;
    this.#committed = new CommittedState(ref, log);
    this.#reads = new FailureLog({
      log,
      failed: (message) =>
        `the state ref cannot be read: ${message}; posts get a 503, the last counts are served`,
      ended: 'the state ref can be read again',
    });
    this.#state = this.#committed.state;
    if (onEdited) this.#state.onEdited = onEdited;
    this.#journal = new Journal({ folder, log, onDurable: (entries) => this.#apply(entries) });
    this.#checkpointer = new Checkpointer(this.#journal, this.#committed, stateSeconds, log);
  }

  /**
   * Reads the ref, then the journal, and schedules a checkpoint of the journal. A ref that cannot be read is logged; each
   * check of a token retries.
   * @throws a system error when the journal cannot be read
   */
  async load(): Promise<void> {
    await this.follow()?.catch(() => {});
    const replay = ({ id, count, countedAt }: JournalEntry): void => {
      this.#committed.addCount(id, { value: count, at: countedAt });
      // Also for values that the ref has, because its commit may not be synced yet.
      this.#checkpointer.add(id);
    };
    if (this.#closed === undefined && (await this.#journal.replay(replay))) this.#checkpointer.schedule();
    this.#isLoaded = true;
  }

  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  get version(): number {
    return this.#state.version;
  }

  /** A bot's latest count; undefined without one. */
  count(id: BotId): number | undefined {
    return this.#state.get(id).count?.value;
  }

  /** A bot's latest count and the time it was written; undefined without one. */
  latest(id: BotId): Count | undefined {
    const { count } = this.#state.get(id);
    return count && { value: count.value, at: toClockTime(count.at) };
  }

  reportedAt(id: BotId): number | undefined {
    const written = this.latest(id)?.at;
    return written === undefined ? undefined : Math.max(written, this.#repeatedAt.get(id) ?? 0);
  }

  /** Returns when a commit last changed the bot; undefined if that is not known, or a clock was more than a day ahead. */
  edited(id: BotId): number | undefined {
    const { edited } = this.#state.get(id);
    return edited !== undefined && edited <= Date.now() + maxEditedLeadMs ? edited : undefined;
  }

  /** Sets when a commit changed a bot, in memory. The next checkpoint makes it durable. */
  setEdited(id: BotId, edited: number): void {
    if (this.#state.merge(id, { edited }) && this.#closed === undefined) this.#checkpointer.add(id);
  }

  /** The tokens at the last read: call `follow` first. */
  get tokens(): Pick<State, 'token' | 'holder'> {
    return this.#state;
  }

  get journal(): Pick<Journal, 'writes'> {
    return this.#journal;
  }

  get checkpointer(): Pick<Checkpointer, 'waiting' | 'checkpointedAt'> {
    return this.#checkpointer;
  }

  /**
   * Returns the current failures of reading the state ref, of saving counts and of committing them. Also retries to read and
   * save, for the next call.
   */
  failures(): readonly Failure[] {
    this.#journal.retry();
    if (this.#reads.current !== null) this.follow()?.catch(() => {});
    const all = [this.#reads.current, this.#journal.failure, this.#checkpointer.failure];
    return all.filter((failure) => failure !== null);
  }

  /** Returns a warning if a merged count is from a clock that is ahead of this machine's. */
  clockFaults(): string[] {
    const id = this.#state.findAhead();
    const count = id && this.latest(id);
    if (!count) return [];
    const time = new Date(count.at).toISOString();
    return [
      `the count of the bot ${id} has the time ${time}, which is ahead of this machine's clock: run "timedatectl set-ntp true" on all machines`,
    ];
  }

  /** Without other machines, an unchanged count is written again only after an hour. */
  async setCount(id: BotId, count: number): Promise<void> {
    if (this.#closed !== undefined) throw new BotshelfError('unavailable', this.#closed);
    const pending = this.#pending.get(id);
    const { count: known } = this.#state.get(id);
    // An entry that is not durable yet, or a refused one that may be on disk, is newer than the known count.
    const isKnown = known?.value === count && Math.abs(Date.now() - toClockTime(known.at)) <= msPerHour;
    if (isKnown && !this.#isShared && pending === undefined && !this.#journal.mayHoldRefused) {
      this.#repeatedAt.set(id, Date.now());
      return;
    }
    const countedAt = countTimeAfter(Math.max(pending?.countedAt ?? known?.at ?? 0, this.#refusedAt));
    const entry: JournalEntry = { id, count, countedAt };
    this.#pending.set(id, entry);
    try {
      await this.#journal.append(entry);
    } catch (error) {
      this.#refusedAt = Math.max(this.#refusedAt, countedAt);
      this.#forget(entry);
      throw error;
    }
  }

  /**
   * Reads what any process had committed 5 ms ago; undefined if it was read since.
   * @throws {BotshelfError} unavailable, when the state ref cannot be read
   */
  follow(): Promise<void> | undefined {
    const reading = this.#committed.follow();
    if (reading !== undefined) return this.#noteRead(reading);
    this.#reads.end();
    return undefined;
  }

  /**
   * Runs `work`, which commits to the state ref.
   * @throws {BotshelfError} unavailable, when writes are refused, or it fails
   */
  async write<T>(work: (committed: CommittedState) => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw new BotshelfError('unavailable', this.#closed);
    try {
      return await work(this.#committed);
    } catch (error) {
      throw createUnavailableError(`the state ref cannot be written: ${messageOf(error)}`, error);
    }
  }

  /**
   * Reads the commits of the state ref.
   * @throws {BotshelfError} unavailable, when the state ref cannot be read
   */
  async refresh(): Promise<void> {
    await this.#noteRead(this.#committed.refresh());
  }

  /**
   * Commits every count that was answered by now.
   * @throws the error, which is logged; the commit is retried later
   */
  async checkpoint(): Promise<void> {
    if (this.#closed === undefined) await this.#checkpointer.checkpoint();
  }

  /**
   * Refuses further writes, finishes those under way, checkpoints and closes. Counts that cannot be committed stay in
   * the journal.
   */
  async close(): Promise<void> {
    if (this.#closed !== undefined) return;
    this.#closed = stopping;
    this.#checkpointer.stop();
    await this.#checkpointer.checkpoint().catch(() => {});
    await this.#journal.close();
  }

  async #noteRead(reading: Promise<void>): Promise<void> {
    try {
      await reading;
    } catch (error) {
      if (messageOf(error) !== stopping) this.#reads.add(error, messageOf(error));
      throw createUnavailableError(`the state ref cannot be read: ${messageOf(error)}`, error);
    }
    this.#reads.end();
  }

  #apply(entries: readonly JournalEntry[]): void {
    for (const entry of entries) {
      this.#committed.addCount(entry.id, { value: entry.count, at: entry.countedAt });
      this.#forget(entry);
      this.#checkpointer.add(entry.id);
    }
  }

  #forget(entry: JournalEntry): void {
    if (this.#pending.get(entry.id) === entry) this.#pending.delete(entry.id);
  }
}

function createUnavailableError(message: string, error: unknown): BotshelfError {
  return isUnavailable(error) ? error : new BotshelfError('write-failed', message, { cause: error });
}

/**
 * Checkpoints the journal: commits the latest count of each bot to the state ref, many in one commit, then deletes the
 * journal's segments. A checkpoint that fails loses nothing: the segments stay, and the next one commits all of it.
 */
class Checkpointer {
  readonly #journal: Journal;
  readonly #committed: CommittedState;
  readonly #minSeconds: number;
  readonly #failures: FailureLog;
  readonly #queue = new SerialQueue();
  /** The bots whose counts are not committed yet. */
  #uncommitted = new Map<BotId, BotState>();
  #timer: NodeJS.Timeout | undefined;
  #startedAt = Number.NEGATIVE_INFINITY;
  /** The end of the last checkpoint: milliseconds since the epoch; undefined before the first. */
  checkpointedAt: number | undefined;
  #failuresInRow = 0;
  #stopped = false;

  /** @param minSeconds between checkpoints */
  constructor(journal: Journal, committed: CommittedState, minSeconds: number, log: Log) {
    this.#journal = journal;
    this.#committed = committed;
    this.#minSeconds = minSeconds;
    this.#failures = new FailureLog({
      log,
      failed: (message) =>
        `could not commit counts to Git: ${message}; they are safe in the journal, retrying within a minute`,
      ended: 'counts are committed to Git again',
    });
  }

  /** The reason why the last checkpoint failed; null if it succeeded. */
  get failure(): Failure | null {
    return this.#failures.current;
  }

  /** The number of bots whose counts are not committed yet. */
  get waiting(): number {
    return this.#uncommitted.size;
  }

  /** Includes a bot's count in the next checkpoint, and schedules that. */
  add(id: BotId): void {
    this.#uncommitted.set(id, asInMemory);
    this.schedule();
  }

  /** Schedules a checkpoint: immediately if the last one began more than `minSeconds` ago, else after that time. */
  schedule(): void {
    if (this.#timer !== undefined || this.#queue.size > 0 || this.#stopped) return;
    const dueIn = this.#startedAt + this.#minSeconds * 1000 - performance.now();
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
   * @throws the error, after it was logged
   */
  async checkpoint(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      await this.#queue.run(async () => await this.#commitJournal());
      this.#failuresInRow = 0;
      this.checkpointedAt = Date.now();
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
    this.#startedAt = performance.now();
    let bots: StateChange = new Map();
    try {
      const segments = await this.#journal.seal();
      bots = this.#uncommitted;
      this.#uncommitted = new Map();
      if (bots.size === 0 && segments.length === 0) return;
      await this.#committed.commit(() => bots, `Count ${formatCount(bots.size, 'bot')}`);
      await this.#journal.remove(segments);
    } catch (error) {
      for (const id of bots.keys()) this.#uncommitted.set(id, asInMemory);
      throw error;
    }
  }
}

/** The committed part of a bot's state in memory. */
const asInMemory: BotState = {};
