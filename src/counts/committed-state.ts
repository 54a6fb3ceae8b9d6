import { isError } from '../lib/errors.ts';
import { type BotId, compareBotIds } from '../bot/id.ts';
import type { Log } from '../lib/log.ts';
import { retry } from '../lib/retry.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import { forEachInSlices } from '../lib/time-slice.ts';
import type { StateRef } from './state-ref.ts';
import {
  type BotState,
  mergeBotStates,
  readShard,
  toShardNumber,
  toShardPath,
  writeShard,
  State,
  type CountOfDay,
  toDay,
  toDayPath,
  writeDay,
} from './state.ts';

/** What a commit changes: bot → what is merged into its state. */
export type StateChange = ReadonlyMap<BotId, BotState>;

/**
 * The state in memory and the state ref. Commits of other processes are merged into memory; changes are committed to the
 * ref, then merged into memory. Memory always has what the tip has that a commit is based on, so files are written whole.
 */
export class CommittedState {
  readonly state = new State();
  readonly #ref: StateRef;
  readonly #log: Log;
  /** The tip that is merged into memory; undefined until one was read. */
  #tip: string | null | undefined;
  #peeked: string | undefined;
  #peekedAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #committing: Promise<unknown> = Promise.resolve();
  readonly #queue = new SerialQueue();
  /** The texts that are merged into memory, by path, so that only other texts are parsed. */
  readonly #merged = new Map<string, string>();
  /** The day on which the files of the days before it were committed last. */
  #daysWrittenOn: number | undefined;

  constructor(ref: StateRef, log: Log) {
    this.#ref = ref;
    this.#log = log;
  }

  /**
   * Resolves when memory has everything that any process had committed 5 ms ago; undefined if it has that already, as
   * mostly, so that a check of a token does not wait.
   * @throws what the ref does when it cannot be read
   */
  follow(): Promise<void> | undefined {
    return this.#isCurrent() ? undefined : this.#readUntilCurrent();
  }

  /**
   * Resolves when memory has everything that any process has committed by now.
   * @throws what the ref does when it cannot be read
   */
  async refresh(): Promise<void> {
    this.#peekedAt = Number.NEGATIVE_INFINITY;
    await this.follow();
  }

  /** Whether memory has what was committed 5 ms ago: by the time, or by one peek. */
  #isCurrent(): boolean {
    const now = performance.now();
    if (now - this.#peekedAt < peekInterval) return true;
    if (this.#ref.peek() !== this.#peeked) return false;
    this.#peekedAt = now;
    return true;
  }

  async #readUntilCurrent(): Promise<void> {
    while (!this.#isCurrent()) {
      this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
      await this.#reading;
    }
  }

  async #merge(files: ReadonlyMap<string, string>): Promise<void> {
    const mergeFile = ([path, text]: readonly [string, string]): void => {
      if (this.#merged.get(path) === text) return;
      const faults = readShard(path, text, (id, botState) => void this.state.merge(id, botState));
      for (const { line, message } of faults) {
        this.#log.warn({ file: path, line }, `${path}:${line} of the state ref is skipped: ${message}`);
      }
      this.#merged.set(path, text);
    };
    await forEachInSlices(files, mergeFile, 'service');
  }

  /**
   * Commits the change that `plan` returns for the current state, and merges it into memory. When another process
   * commits first, its commit is merged and `plan` called again. An empty change commits nothing. The first commit of a
   * day adds the file of the day before.
   * @throws what the ref does when it cannot be read or written
   */
  async commit(plan: () => StateChange, subject: string): Promise<void> {
    const tryCommit = async (): Promise<void> => await this.#tryCommit(plan, subject);
    await this.#queue.run(async () => await retry(tryCommit, { maxAttempts, isRetriable: isConflict }));
  }

  async #tryCommit(plan: () => StateChange, subject: string): Promise<void> {
    await this.follow();
    const onto = this.#tip ?? null;
    const change = plan();
    if (change.size === 0) return;
    const files = await this.#filesWith(change);
    const today = toDay(Date.now());
    const days = this.#daysWrittenOn === today ? [] : await this.#filesOfDays(today);
    try {
      const committing = this.#ref.commit(onto, new Map([...files, ...days]), subject);
      this.#committing = committing.catch(() => {});
      this.#tip = await committing;
    } catch (error) {
      if (isConflict(error)) {
        this.#peeked = undefined;
        this.#peekedAt = Number.NEGATIVE_INFINITY;
      }
      throw error;
    }
    this.#daysWrittenOn = today;
    await forEachInSlices(change, ([id, botState]) => void this.state.merge(id, botState), 'service');
    for (const [path, text] of files) this.#merged.set(path, text);
    // Peeks, so that the next check of a token need not read the ref. That check reports what fails here.
    await this.refresh().catch(() => {});
  }

  async #filesWith(change: StateChange): Promise<Map<string, string>> {
    const merged = (id: BotId): BotState => {
      const changed = change.get(id);
      return changed === undefined ? this.state.get(id) : mergeBotStates(this.state.get(id), changed);
    };
    const shards = new Map<number, BotId[]>();
    const assign = (id: BotId): void => {
      const number = toShardNumber(id);
      const bots = shards.get(number);
      if (bots) bots.push(id);
      else shards.set(number, [id]);
    };
    await forEachInSlices(change.keys(), assign, 'service');
    const files = new Map<string, string>();
    const write = ([number, bots]: readonly [number, readonly BotId[]]): void => {
      const known = this.state.listBots(number);
      const unknown = bots.filter((id) => !this.state.has(id));
      const all = unknown.length > 0 ? [...known, ...unknown].toSorted(compareBotIds) : known;
      files.set(toShardPath(number), writeShard(all, merged));
    };
    await forEachInSlices(shards, write, 'service');
    return files;
  }

  /** Returns the files of the days before `today`: each bot is in that of the day of its last count, of those that are over. */
  async #filesOfDays(today: number): Promise<[path: string, text: string][]> {
    const days = new Map<number, CountOfDay[]>();
    const add = ([path, text]: readonly [string, string]): void => {
      readShard(path, text, (id, { count }) => {
        const inMemory = this.state.count(id);
        const last = inMemory && toDay(inMemory.at) < today ? inMemory : count;
        if (last === undefined) return;
        const day = toDay(last.at);
        if (day >= today || day < minDay) return;
        days.set(day, days.get(day) ?? []);
        days.get(day)?.push([id, last.value]);
      });
    };
    await forEachInSlices(this.#merged, add, 'service');
    const files = [...days].map(async ([day, counts]): Promise<[string, string]> => [
      toDayPath(day),
      await writeDay(counts),
    ]);
    return await Promise.all(files);
  }

  async #read(): Promise<void> {
    await this.#committing;
    const peeked = this.#ref.peek();
    const { commit, files } = await this.#ref.read(this.#tip ?? undefined);
    await this.#merge(files);
    this.#tip = commit;
    this.#peeked = peeked;
  }
}

/** The first of 2020: an earlier one is from a clock that was not set. */
const minDay = toDay(Date.UTC(2020, 0));

/** Milliseconds between two peeks. */
const peekInterval = 5;

function isConflict(error: unknown): boolean {
  return isError(error, 'ref-conflict');
}

/** Attempts before a commit fails because another process commits first each time. */
const maxAttempts = 30;
