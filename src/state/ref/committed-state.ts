import { type BotId, compareBotIds } from '../../bot/id.ts';
import type { Log } from '../../log.ts';
import type { BotState } from '../bot-state/bot-state.ts';
import { mergeBotStates } from '../bot-state/merge.ts';
import { forEachInSlices } from '../../concurrency/in-slices.ts';
import { readShard, shardNumber, shardPath, writeShard } from './shards.ts';
import { StateConflictError, type StateRef } from './state-ref.ts';
import type { State } from './state.ts';
import { SerialQueue } from '../../concurrency/serial-queue.ts';

/** What a commit changes: bot → what is merged into its state. */
export type StateChange = ReadonlyMap<BotId, BotState>;

/**
 * The state in memory and the state ref, kept together: what anybody commits there is taken in, what is new
 * here is committed there. The memory is never behind the tip that a commit is made on, so files are written whole.
 */
export class CommittedState {
  readonly state: State;
  readonly #ref: StateRef;
  readonly #log: Log;
  /** The tip that the state has taken in; undefined until one was read. */
  #tip: string | null | undefined;
  #mark: string | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #committing: Promise<unknown> = Promise.resolve();
  readonly #queue = new SerialQueue();
  /** The texts that the state has taken in, so that of a moved ref only what differs is read. */
  readonly #seen = new Map<string, string>();

  constructor(ref: StateRef, state: State, log: Log) {
    this.#ref = ref;
    this.state = state;
    this.#log = log;
  }

  /**
   * Resolves when the state holds everything that was committed until 5 ms ago, by whoever it was. Mostly
   * that is known, or a peek away.
   * @throws what the ref does when it cannot be read
   */
  async follow(): Promise<void> {
    for (;;) {
      const now = performance.now();
      if (now - this.#lookedAt < lookEvery) return;
      if (this.#ref.peek() === this.#mark) {
        this.#lookedAt = now;
        return;
      }
      this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
      await this.#reading;
    }
  }

  /**
   * Takes in whatever was committed until now.
   * @throws what the ref does when it cannot be read
   */
  async refresh(): Promise<void> {
    this.#lookedAt = Number.NEGATIVE_INFINITY;
    await this.follow();
  }

  /** Takes in the files of another state. Gives the bots of which something was new. */
  async absorb(files: ReadonlyMap<string, string>): Promise<BotId[]> {
    const changed: BotId[] = [];
    const absorbFile = ([path, text]: readonly [string, string]): void => {
      if (this.#seen.get(path) === text) return;
      const faults = readShard(path, text, (id, botState) => {
        if (this.state.merge(id, botState)) changed.push(id);
      });
      for (const { line, message } of faults) {
        this.#log.warn({ file: path, line }, `${path}:${line} of the state ref is left out: ${message}`);
      }
      this.#seen.set(path, text);
    };
    await forEachInSlices(files, absorbFile, 'service');
    return changed;
  }

  /**
   * Commits what `plan` makes of the state as it is then, and takes it in. When somebody else was faster, theirs
   * is taken in first and `plan` is asked again; an empty change commits nothing.
   * @throws what the ref does when it cannot be read or written
   */
  async commit(plan: () => StateChange, subject: string): Promise<void> {
    await this.#queue.run(async () => {
      for (let attempt = 1; !(await this.#tryCommit(plan, subject)); attempt++) {
        if (attempt === mostAttempts) throw new StateConflictError();
      }
    });
  }

  async #tryCommit(plan: () => StateChange, subject: string): Promise<boolean> {
    await this.follow();
    const onto = this.#tip ?? null;
    const change = plan();
    if (change.size === 0) return true;
    const files = await this.#filesWith(change);
    try {
      const committing = this.#ref.commit(onto, files, subject);
      this.#committing = committing.catch(() => {});
      this.#tip = await committing;
    } catch (error) {
      if (!(error instanceof StateConflictError)) throw error;
      this.#mark = undefined;
      this.#lookedAt = Number.NEGATIVE_INFINITY;
      return false;
    }
    await forEachInSlices(change, ([id, botState]) => void this.state.merge(id, botState), 'service');
    for (const [path, text] of files) this.#seen.set(path, text);
    await this.#recogniseOwnMove();
    return true;
  }

  /** Spares the next check of a token the look; a ref that cannot be read now is that check's to report. */
  async #recogniseOwnMove(): Promise<void> {
    this.#lookedAt = Number.NEGATIVE_INFINITY;
    await this.follow().catch(() => {});
  }

  async #filesWith(change: StateChange): Promise<Map<string, string>> {
    const merged = (id: BotId): BotState => {
      const changed = change.get(id);
      return changed === undefined ? this.state.get(id) : mergeBotStates(this.state.get(id), changed);
    };
    const shards = new Map<number, BotId[]>();
    const assign = (id: BotId): void => {
      const number = shardNumber(id);
      const bots = shards.get(number);
      if (bots) bots.push(id);
      else shards.set(number, [id]);
    };
    await forEachInSlices(change.keys(), assign, 'service');
    const files = new Map<string, string>();
    const write = ([number, bots]: readonly [number, readonly BotId[]]): void => {
      const known = this.state.botsOf(number);
      const unknown = bots.filter((id) => !this.state.has(id));
      const all = unknown.length > 0 ? [...known, ...unknown].toSorted(compareBotIds) : known;
      files.set(shardPath(number), writeShard(all, merged));
    };
    await forEachInSlices(shards, write, 'service');
    return files;
  }

  async #read(): Promise<void> {
    await this.#committing;
    const mark = this.#ref.peek();
    if (this.#tip === undefined || (await this.#ref.tip()) !== this.#tip) {
      const { commit, files } = await this.#ref.read(this.#tip ?? undefined);
      await this.absorb(files);
      this.#tip = commit;
    }
    this.#mark = mark;
  }
}

/** Milliseconds between two peeks at the ref. */
const lookEvery = 5;

/** So often somebody else may be faster before it is a fault. */
const mostAttempts = 30;
