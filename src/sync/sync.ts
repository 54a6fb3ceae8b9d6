import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import type { RemoteState } from '../state/shared-tokens.ts';
import { SerialQueue } from '../concurrency/serial-queue.ts';
import type { Committer } from '../git/commit/committer.ts';
import { moveRefs, readRef, stateRef } from '../git/refs.ts';
import { GitError } from '../git/process/git-error.ts';
import { countCommits } from '../git/history.ts';
import { Integration } from './integration.ts';
import {
  fetchRemote,
  knownTips,
  type Network,
  type PushedRef,
  pushRemote,
  remoteFault,
  type RemoteOptions,
  remoteRefs,
} from './remote.ts';
import { fetchState, hasFetchedState, mergeState, pushState, told } from './remote-state.ts';
import type { Repository, RepositoryOpener } from '../git/repository.ts';
import { makeThinned } from '../state/ref/prune-history.ts';

export interface SyncOptions {
  readonly repositoryOpener: RepositoryOpener;
  readonly committer: Committer;
  /** The state in memory, which the state ref is behind and before. */
  readonly state: {
    /** Takes in what the state ref has. */
    refresh(): Promise<void>;
    /** Brings every count that was answered by now into the state ref. */
    fold(): Promise<void>;
  };
  /** A remote's name or an address, as git takes it. */
  readonly remote: string;
  /** The branch there, such as `main`; null is the one of the name that is checked out here. */
  readonly branch: string | null;
  /** Fetches at least that often. */
  readonly syncSeconds: number;
  /** Pushes at most that often. */
  readonly pushSeconds: number;
  /** Seconds after which a git that talks with the remote is given up. */
  readonly timeLimit?: number;
  readonly log: Log;
}

/** Why branch and state are not in step with the remote. */
export interface SyncFailure {
  /** The first failure after all was well. Milliseconds since the epoch. */
  readonly since: number;
  readonly message: string;
}

/**
 * Keeps branch and state in step with those of a remote: fetches, merges by meaning, pushes both together. One round
 * at a time; one that fails is tried again, later each time. Reads and writes go on whatever the remote does.
 */
export class Sync implements RemoteState {
  readonly #options: SyncOptions;
  readonly #integration: Integration;
  readonly #stop = new AbortController();
  readonly #queue = new SerialQueue();
  #waiting: ((isThere: boolean) => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #wakeAt = Number.POSITIVE_INFINITY;
  #fetchDue = true;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;
  #pushedAt = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #fault: SyncFailure | null = null;
  /** The kind of fault that was logged last. */
  #told: string | undefined;
  #unpushed = 0;
  #stateFetched = false;

  constructor(options: SyncOptions) {
    this.#options = options;
    this.#integration = new Integration(options);
  }

  /** Why the remote lacks something of ours, or we something of its; null where what we have is there. */
  get fault(): SyncFailure | null {
    return this.#fault;
  }

  /** How many commits of branch and state the remote does not have. */
  get unpushed(): number {
    return this.#unpushed;
  }

  /** Whether the remote's state was ever fetched: until then a new clone lacks the tokens of all bots. */
  get stateFetched(): boolean {
    return this.#stateFetched;
  }

  /** Begins: the first round is at once. Resolves when a new clone has everything, or has waited long enough for it. */
  async start(): Promise<void> {
    const repository = await this.#options.repositoryOpener.open().catch(() => undefined);
    if (repository === undefined || (await hasFetchedState(repository))) {
      this.#stateFetched = true;
      // A crash may have come between a fetch and its merge. What fails here, the round tells.
      const fetched = repository && (await readRef(repository, remoteRefs.state));
      if (fetched) await this.#mergeState(repository, fetched).catch(() => undefined);
      this.#wakeIn(0);
      return;
    }
    const first = this.#roundInTurn().catch(() => undefined);
    await Promise.race([first, sleep(longestStart * 1000, undefined, { ref: false })]);
  }

  /** Fetches and merges the state alone, for what cannot wait for a round. @throws {Error} that says why not */
  async fetchState(): Promise<void> {
    await this.#queue.run(async () => {
      const repository = await this.#options.repositoryOpener.open();
      if (await told(fetchState(repository, this.#network))) await this.#options.state.refresh();
      this.#stateFetched = true;
    });
  }

  /** Pushes the state alone, merged with the remote's. @throws {Error} that says why not */
  async pushState(): Promise<void> {
    await this.#queue.run(async () => {
      const repository = await this.#options.repositoryOpener.open();
      const commit = await told(pushState(repository, this.#network));
      await this.#options.state.refresh();
      if (commit !== null) await this.#setRefs(repository, new Map([[remoteRefs.state, commit]]));
    });
  }

  /** The remote says that it has changed. However often it does, it is fetched at most once a second. */
  hint(): void {
    this.#fetchDue = true;
    this.#wakeIn(this.#askedAt + hintGap - performance.now());
  }

  /** To be told of every commit of ours, of content or state. */
  committed(): void {
    this.#unpushed++;
    if (this.#fault === null) this.#wakeIn(Math.max(gathering, this.#pushableIn));
  }

  /**
   * Resolves with whether the remote has everything that was answered by now. False where it gets it later: it is away,
   * refuses it or is slow.
   */
  async pushed(): Promise<boolean> {
    if (this.#fault !== null) return false;
    const limit = AbortSignal.timeout((this.#options.pushSeconds + patience) * 1000);
    return await new Promise<boolean>((resolve) => {
      this.#waiting.push(resolve);
      limit.addEventListener('abort', () => {
        this.#waiting = this.#waiting.filter((other) => other !== resolve);
        resolve(false);
      });
      this.#wakeIn(Math.max(gathering, this.#pushableIn));
    });
  }

  /** Does a whole round now: fetches, merges and pushes. @throws what went wrong, after it was logged */
  async round(): Promise<void> {
    this.#fetchDue = true;
    this.#pushedAt = Number.NEGATIVE_INFINITY;
    await this.#roundInTurn();
  }

  /**
   * Thins the history of the state on the remote first, and here when that went well, so that no replica meets a
   * thinned history of its own. Gives how many commits went.
   */
  async prune(repository: Repository, since: number): Promise<number> {
    return await this.#queue.run(async () => {
      const tip = await readRef(repository, stateRef);
      if (this.#fault !== null || tip === null || tip !== (await readRef(repository, remoteRefs.state)))
        return 0;
      const thinned = await makeThinned(repository, tip, since);
      if (thinned === undefined) return 0;
      const { commit, gone } = thinned;
      await pushRemote(repository, [{ ref: stateRef, commit, lease: tip }], this.#remote(repository));
      await this.#setRefs(repository, new Map([[remoteRefs.state, commit]]));
      await this.#mergeState(repository, commit);
      return gone;
    });
  }

  /**
   * Starts no further round, and waits for the one under way: to be called before the committer closes, which the
   * round may need to take in what it has fetched.
   */
  async pause(): Promise<void> {
    clearTimeout(this.#timer);
    this.#wakeAt = Number.NEGATIVE_INFINITY;
    await this.#lastInTurn(async () => {});
  }

  /** Ends what is under way, and pushes what there is once more, where the remote has answered until now. */
  async close(): Promise<void> {
    await this.pause();
    try {
      await this.#lastInTurn(async () => {
        if (this.#fault === null) await this.#push(await this.#options.repositoryOpener.open());
      });
    } catch (error) {
      this.#options.log.warn(
        { err: error },
        `what is not pushed yet waits for the next start: ${remoteFault(error)}`,
      );
    } finally {
      this.#stop.abort();
    }
  }

  /** Does this behind what is under way, all of which is aborted when it takes too long. */
  async #lastInTurn(work: () => Promise<void>): Promise<void> {
    const cut = setTimeout(() => this.#stop.abort(), lastPush * 1000);
    await this.#queue.run(work).finally(() => clearTimeout(cut));
  }

  get #pushableIn(): number {
    return this.#pushedAt + this.#options.pushSeconds * 1000 - performance.now();
  }

  /** Wakes in so many milliseconds, unless that is to be earlier. */
  #wakeIn(delay: number): void {
    const at = performance.now() + Math.max(0, delay);
    if (at >= this.#wakeAt) return;
    clearTimeout(this.#timer);
    this.#wakeAt = at;
    this.#timer = setTimeout(() => {
      this.#wakeAt = Number.POSITIVE_INFINITY;
      // What went wrong is logged, and told by `fault`.
      this.#roundInTurn().catch(() => undefined);
    }, delay);
    this.#timer.unref();
  }

  async #roundInTurn(): Promise<void> {
    await this.#queue.run(async () => {
      if (this.#stop.signal.aborted || this.#wakeAt === Number.NEGATIVE_INFINITY) return;
      try {
        this.#succeeded(await this.#round());
      } catch (error) {
        this.#failed(error);
        throw error;
      } finally {
        await this.#countUnpushed();
      }
    });
  }

  /** Gives whether what was here is there. */
  async #round(): Promise<boolean> {
    const { repositoryOpener, syncSeconds } = this.#options;
    const repository = await repositoryOpener.open();
    const now = performance.now();
    if (this.#fetchDue || now - this.#fetchedAt >= syncSeconds * 1000) await this.#fetch(repository);
    for (let attempt = 1; ; attempt++) {
      if (this.#pushableIn > 0) return (await this.#refsToPush(repository)).length === 0;
      try {
        await this.#push(repository);
        return true;
      } catch (error) {
        // Whoever was faster has moved the remote; anything else is a fault.
        if (attempt === mostAttempts || !(await this.#fetch(repository))) throw error;
        await sleep(Math.random() * 200 * attempt, undefined, { signal: this.#stop.signal });
      }
    }
  }

  /** Takes in what the remote has. Gives whether that was new. */
  async #fetch(repository: Repository): Promise<boolean> {
    const before = await knownTips(repository);
    this.#fetchDue = false;
    this.#askedAt = performance.now();
    const tips = await fetchRemote(repository, this.#remote(repository));
    this.#fetchedAt = performance.now();
    await this.#mergeState(repository, tips.state);
    await this.#integration.takeIn(tips.branch);
    return before.branch !== tips.branch || before.state !== tips.state;
  }

  async #mergeState(repository: Repository, theirs: string | null): Promise<void> {
    if (await mergeState(repository, theirs)) await this.#options.state.refresh();
    this.#stateFetched = true;
  }

  /** Pushes what the remote does not have, branch and state together. */
  async #push(repository: Repository): Promise<void> {
    const waiting = [...this.#waiting];
    if (waiting.length > 0) await this.#options.state.fold();
    const refs = await this.#refsToPush(repository);
    if (refs.length > 0) {
      this.#pushedAt = performance.now();
      await pushRemote(repository, refs, this.#remote(repository));
      this.#options.log.debug({ refs }, 'pushed to the remote');
      const pushed = new Map<string, string>();
      for (const { ref, commit } of refs) {
        if (ref === stateRef) pushed.set(remoteRefs.state, commit);
        else pushed.set(remoteRefs.branch, commit).set(remoteRefs.base, commit);
      }
      await this.#setRefs(repository, pushed);
    }
    this.#waiting = this.#waiting.filter((waiter) => !waiting.includes(waiter));
    for (const waiter of waiting) waiter(true);
  }

  async #refsToPush(repository: Repository): Promise<PushedRef[]> {
    const known = await knownTips(repository);
    const branch = await readRef(repository, repository.branch());
    const state = await readRef(repository, stateRef);
    const refs: PushedRef[] = [];
    if (branch !== null && branch !== known.branch)
      refs.push({ ref: this.#remote(repository).branch, commit: branch });
    if (state !== null && state !== known.state) refs.push({ ref: stateRef, commit: state });
    return refs;
  }

  /** Exact at the end of each round; in between `committed` counts on. */
  async #countUnpushed(): Promise<void> {
    try {
      const repository = await this.#options.repositoryOpener.open();
      const refs = await this.#refsToPush(repository);
      const known = Object.values(await knownTips(repository)).filter((tip) => tip !== null);
      const ours = refs.map(({ commit }) => commit);
      this.#unpushed = ours.length === 0 ? 0 : await countCommits(repository, ours, known);
    } catch (error) {
      this.#options.log.debug({ err: error }, 'could not count the commits that are not pushed');
    }
  }

  async #setRefs(repository: Repository, refs: ReadonlyMap<string, string>): Promise<void> {
    const moves = [...refs].map(
      async ([ref, to]) => [ref, { from: await readRef(repository, ref), to }] as const,
    );
    await moveRefs(repository, new Map(await Promise.all(moves)));
  }

  #remote(repository: Repository): RemoteOptions {
    const { branch } = this.#options;
    return { ...this.#network, branch: branch === null ? repository.branch() : `refs/heads/${branch}` };
  }

  get #network(): Network {
    const { remote, timeLimit = 120 } = this.#options;
    return { remote, timeLimit, signal: this.#stop.signal };
  }

  /** A fault ends when what we have is there: a fetch that works says nothing about a push that was refused. */
  #succeeded(isThere: boolean): void {
    const { log, syncSeconds } = this.#options;
    if (isThere) {
      if (this.#fault !== null) log.info({ since: this.#fault.since }, 'in step with the remote again');
      this.#failures = 0;
      this.#fault = null;
      this.#told = undefined;
    }
    const nextFetch = this.#fetchedAt + syncSeconds * 1000 - performance.now();
    this.#wakeIn(this.#fetchDue ? 0 : nextFetch);
    if (this.#waiting.length > 0 || this.#pushableIn > 0) this.#wakeIn(Math.max(gathering, this.#pushableIn));
  }

  #failed(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    const message = remoteFault(error);
    const kind = kindOf(error);
    if (this.#told !== kind) {
      this.#options.log.error(
        { err: error },
        `not in step with the remote: ${message}. Reads and writes go on, and it is tried again`,
      );
    }
    this.#told = kind;
    this.#fault = { since: this.#fault?.since ?? Date.now(), message };
    for (const waiter of this.#waiting.splice(0)) waiter(false);
    this.#fetchDue = true;
    const longest = Math.min(60, Math.max(1, this.#options.syncSeconds)) * 1000;
    const backOff = Math.min(longest, 500 * 2 ** this.#failures++) * (0.5 + Math.random() / 2);
    // A push that failed is tried again then, however long it is to the next regular one.
    this.#pushedAt = Math.min(this.#pushedAt, performance.now() + backOff - this.#options.pushSeconds * 1000);
    this.#wakeIn(backOff);
  }
}

/** Milliseconds in which commits that come together are pushed together. */
const gathering = 50;

/** Milliseconds between two fetches that the remote has asked for. */
const hintGap = 1000;

/** So often another replica may be faster before a round is given up. */
const mostAttempts = 10;

/** Seconds that an answer waits for the remote, beyond the time to the next push. */
const patience = 8;

/** Seconds that a new clone waits for the remote before it serves without. */
const longestStart = 30;

/** Seconds that a stop waits for the last push. */
const lastPush = 5;

/** What tells one fault from another. What git says has times and numbers in it that differ at each try. */
function kindOf(error: unknown): string {
  if (!(error instanceof GitError)) return remoteFault(error);
  return error.command.includes(' push ') ? 'push' : 'fetch';
}
