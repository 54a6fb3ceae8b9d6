import { join } from 'node:path';
import { WritesUnavailable } from '../bot/errors.ts';
import type { Log } from '../log.ts';
import type { Change } from './batch-plan.ts';
import { Batches, type Changed, type Waiting } from './batches.ts';
import { type BranchMove, type MovedFile, movedFiles } from './branch-move.ts';
import { clearAfterCrash, mayWorkAgain } from './dead-locks.ts';
import { TipMoved } from './fast-import.ts';
import { mergeEdit } from './merge-edit.ts';
import { moveBranch } from './move-branch.ts';
import { type Repository, type RepositoryDoor, unavailableBecause } from './repository.ts';
import { Settler } from './settler.ts';
import { stateRef } from './state-ref.ts';
import { refuseWhileBusy } from './under-way.ts';
import { UnsettledNote } from './unsettled.ts';

export interface CommitterOptions {
  readonly door: RepositoryDoor;
  /** The folder for what is not in Git. */
  readonly var: string;
  readonly log: Log;
  /** Told after every commit, with how many changes are in it. */
  readonly committed?: (changes: number) => void;
  /** Told of the files that a move of the branch has brought, when the work tree has them. From the top of the repository. */
  readonly moved?: (paths: readonly string[]) => void;
}

/**
 * Commits changes of files to the branch that is checked out. While a batch is being committed the next one
 * gathers; a batch is one commit. Work tree and Git's index follow the commit (settler.ts).
 */
export class Committer {
  readonly #options: CommitterOptions;
  readonly #note: UnsettledNote;
  readonly #settler: Settler;
  readonly #batches: Batches;
  readonly #queue: Waiting[] = [];
  readonly #moves: (() => Promise<void>)[] = [];
  #running: Promise<void> | undefined;
  #lastSize = 0;
  #moving: Promise<void> = Promise.resolve();
  /** Moves whose files the work tree does not have yet. */
  #bringing = 0;
  #closed = false;

  constructor(options: CommitterOptions) {
    const { door, log } = options;
    this.#options = options;
    this.#note = new UnsettledNote(join(options.var, 'unsettled.ndjson'));
    this.#settler = new Settler(door, this.#note, log);
    this.#batches = new Batches({
      settler: this.#settler,
      log,
      again: async (change) => await this.change(change),
      committed: (changes) => options.committed?.(changes),
    });
  }

  /** Whether work tree and index have everything that was committed. */
  get settled(): boolean {
    return this.#running === undefined && this.#bringing === 0 && this.#settler.settled;
  }

  /**
   * Mends what a crash has left: locks, half-written packs, files and index entries that were not brought to
   * their commit. To be called once, before the first change. Where there is no repository there is nothing.
   */
  async recover(): Promise<void> {
    const { door, log } = this.#options;
    const repository = await door.open().catch(() => undefined);
    if (repository === undefined) return;
    try {
      const left = await this.#note.read();
      await clearAfterCrash(repository, this.#refs(repository), log);
      await this.#settler.recover(left.map((entry) => mergeEdit(repository, entry, log)));
    } catch (error) {
      log.warn({ err: error }, unavailableBecause(error).message);
    }
  }

  /**
   * Makes a change durable: resolves when it would survive a power loss.
   * @throws what `apply` throws
   * @throws {WritesUnavailable} when nothing can be committed now; nothing of the change has been written.
   */
  async change(change: Change): Promise<Changed> {
    if (this.#closed)
      throw new WritesUnavailable('the service is stopping: send the change again in a moment');
    return await new Promise((resolve, reject) => {
      this.#queue.push({ change, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /**
   * Moves the branch to a commit that `prepare` makes for the tip it is given, between two batches; undefined is no
   * move. It is asked anew when the tip has moved meanwhile, at last while no batch can be committed. Work tree and
   * index follow. Gives the tip then.
   * @throws what `prepare` throws
   * @throws {WritesUnavailable} when the branch cannot be moved now
   */
  async move(
    prepare: (repository: Repository, tip: string) => Promise<BranchMove | undefined>,
  ): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const repository = await this.#options.door.open();
      refuseWhileBusy(repository);
      const work = async (): Promise<string> => {
        const tip = await tipOf(repository);
        const move = await prepare(repository, tip);
        if (move === undefined) return tip;
        const files = await movedFiles(repository, tip, move.commit);
        const apply = async (): Promise<string> => await this.#move(repository, tip, move, files);
        return await (attempt > attemptsBeside ? apply() : this.#inTurn(apply));
      };
      try {
        return await (attempt > attemptsBeside ? this.#inTurn(work) : work());
      } catch (error) {
        if (attempt >= attempts || !(await this.#mayWorkAgain(error))) throw error;
      }
    }
  }

  /** Tries to bring work tree and index to the commits now. False when a person's git is at work. */
  async settle(): Promise<boolean> {
    return await this.#settler.settle();
  }

  /** Commits what was asked for, and lets go of everything. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    await this.#moving;
    await this.#settler.close();
  }

  /**
   * Half of what waits and of what is being answered, whose senders have more: so one half is committed while the
   * work tree follows the other. Taken whole, few stragglers would be a batch of their own between two large ones.
   */
  #sizeOfBatch(): number {
    return Math.min(batchSize, Math.max(leastHalved, Math.ceil((this.#queue.length + this.#lastSize) / 2)));
  }

  async #run(): Promise<void> {
    // What comes in the same turn of the event loop is in the first batch together.
    await Promise.resolve();
    while (this.#queue.length > 0 || this.#moves.length > 0) {
      await this.#moves.shift()?.();
      const batch = this.#queue.splice(0, this.#sizeOfBatch());
      this.#lastSize = batch.length;
      try {
        if (batch.length > 0) await this.#commit(batch);
      } catch (error) {
        const unavailable = unavailableBecause(error);
        this.#options.log.error({ err: error }, unavailable.message);
        for (const { reject } of batch) reject(unavailable);
      }
      if (this.#queue.length === 0) await this.#batches.followed();
    }
    this.#lastSize = 0;
    this.#running = undefined;
  }

  /** Does `work` while no batch is being committed. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new WritesUnavailable('the service is stopping');
    return await new Promise((resolve, reject) => {
      this.#moves.push(async () => await work().then(resolve, reject));
      this.#running ??= this.#run();
    });
  }

  async #move(
    repository: Repository,
    tip: string,
    move: BranchMove,
    files: readonly MovedFile[],
  ): Promise<string> {
    const { log, moved, var: varFolder } = this.#options;
    const { paths, follow } = await moveBranch(repository, this.#settler, {
      tip,
      move,
      files,
      varFolder,
      log,
    });
    // Beside the batches, whose answers do not wait for the many files that a merge may bring.
    this.#bringing++;
    const brought = follow().finally(() => this.#bringing--);
    this.#moving = Promise.all([this.#moving, brought]).then(() => moved?.(paths));
    this.#options.committed?.(0);
    return move.commit;
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    const { door, log } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#batches.commit(await door.open(), batch);
        return;
      } catch (error) {
        if (attempt >= attempts || !(await this.#mayWorkAgain(error))) throw error;
        log.debug({ attempt }, `planning the batch again: ${String(error)}`);
      }
    }
  }

  /** A tip that moved is planned on anew; so is a git that was killed, once the locks it left are gone. */
  async #mayWorkAgain(error: unknown): Promise<boolean> {
    if (error instanceof TipMoved) return true;
    const { door, log } = this.#options;
    const repository = door.opened;
    if (repository === undefined) return false;
    const cause = error instanceof WritesUnavailable ? error.cause : error;
    return await mayWorkAgain(repository, this.#refs(repository), cause, log);
  }

  #refs(repository: Repository): string[] {
    try {
      return [stateRef, repository.branch()];
    } catch {
      return [stateRef];
    }
  }
}

/** Changes that are not worth to be halved. */
const leastHalved = 32;

/** Changes in one commit, at most. */
const batchSize = 1000;

/** So often a move is prepared beside the batches; once the tip has moved under it, while no batch is committed. */
const attemptsBeside = 1;

/** A batch that meets as many moves of the tip, or kills of git, is given up: people's scripts commit fast, too. */
const attempts = 30;

/** @throws {WritesUnavailable} */
async function tipOf(repository: Repository): Promise<string> {
  const tip = (await repository.objects.readOne(repository.branch()))?.id;
  if (tip === undefined) throw new WritesUnavailable('the branch has no commit yet: make the first one');
  return tip;
}
