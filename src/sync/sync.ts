import { setTimeout as sleep } from 'node:timers/promises';
import { type Failure, FailureLog } from '../failure-log.ts';
import type { Log } from '../log.ts';
import type { RemoteState } from '../state/shared-tokens.ts';
import type { StateStore } from '../state/state-store.ts';
import { SerialQueue } from '../concurrency/serial-queue.ts';
import type { Committer } from '../git/commit/committer.ts';
import { GitError } from '../git/process/git-error.ts';
import { readRef } from '../git/refs.ts';
import type { Repository, RepositoryOpener } from '../git/repository.ts';
import { Integration } from './integration.ts';
import { PushWaiters } from './push-waiters.ts';
import { countUnpushed, pushPrunedState, pushRefs, refsToPush } from './push.ts';
import { remoteMessage, withRemoteMessage } from './remote-error.ts';
import { knownTips, remoteRefs, setRefs } from './remote-refs.ts';
import { fetchState, hasFetchedState, mergeState, pushState } from './remote-state.ts';
import { fetchRemote, type Remote, type RemoteBranch } from './remote.ts';
import { Schedule, type ScheduleOptions } from './schedule.ts';

export interface SyncOptions extends ScheduleOptions {
  readonly repositoryOpener: RepositoryOpener;
  readonly committer: Committer;
  readonly state: Pick<StateStore, 'refresh' | 'checkpoint'>;
  /** A remote's name or an address, as git takes it. */
  readonly remote: string;
  /** The branch there, such as `main`; null is the one of the name that is checked out here. */
  readonly branch: string | null;
  /** Seconds after which a git command that connects to the remote is killed. */
  readonly timeLimit?: number;
  readonly log: Log;
}

/**
 * Keeps branch and state in step with those of a remote: fetches, merges by meaning, pushes both together. One round
 * runs at a time; one that fails is retried, later each time. Reads and writes never depend on the remote.
 */
export class Sync implements RemoteState {
  readonly #options: SyncOptions;
  readonly #integration: Integration;
  readonly #schedule: Schedule;
  readonly #abort = new AbortController();
  readonly #queue = new SerialQueue();
  readonly #pushWaiters = new PushWaiters();
  readonly #failures: FailureLog;
  #unpushed = 0;
  #stateFetched = false;

  constructor(options: SyncOptions) {
    this.#options = options;
    this.#integration = new Integration(options);
    this.#failures = new FailureLog({
      log: options.log,
      failed: (message) =>
        `not in step with the remote: ${message}. Reads and writes go on, retrying in the background`,
      ended: 'in step with the remote again',
    });
    // What goes wrong in a round is logged, and named by `failure`.
    this.#schedule = new Schedule(options, () => void this.#queueRound().catch(() => undefined));
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
    return this.#stateFetched;
  }

  /** Starts the first round. Resolves when a new clone has everything, or has waited for it as long as it may. */
  async start(): Promise<void> {
    const repository = await this.#options.repositoryOpener.open().catch(() => undefined);
    if (repository === undefined || (await hasFetchedState(repository))) {
      this.#stateFetched = true;
      // A crash may have come between a fetch and its merge. What fails here fails in the round too, which logs it.
      const fetched = repository && (await readRef(repository, remoteRefs.state));
      if (fetched) await this.#mergeState(repository, fetched).catch(() => undefined);
      this.#schedule.runIn(0);
      return;
    }
    const first = this.#queueRound().catch(() => undefined);
    await Promise.race([first, sleep(startLimit * 1000, undefined, { ref: false })]);
  }

  /** Fetches and merges the state alone, for what cannot wait for a round. @throws {Error} that says why not */
  async fetchState(): Promise<void> {
    await this.#queue.run(async () => {
      const repository = await this.#options.repositoryOpener.open();
      if (await withRemoteMessage(fetchState(repository, this.#remote))) await this.#options.state.refresh();
      this.#stateFetched = true;
    });
  }

  /** Pushes the state alone, merged with the remote's. @throws {Error} that says why not */
  async pushState(): Promise<void> {
    await this.#queue.run(async () => {
      const repository = await this.#options.repositoryOpener.open();
      const commit = await withRemoteMessage(pushState(repository, this.#remote));
      await this.#options.state.refresh();
      if (commit !== null) await setRefs(repository, new Map([[remoteRefs.state, commit]]));
    });
  }

  /** Schedules a fetch, as the remote says that it has changed; at most one a second. */
  requestFetch(): void {
    this.#schedule.requestFetch();
  }

  /** Schedules a push. To be called after every commit here, of content or state. */
  requestPush(): void {
    this.#unpushed++;
    if (this.failure === null) this.#schedule.requestPush();
  }

  /**
   * Waits for the next push. Resolves with whether the remote has everything that was answered by now; false where it
   * is away, refuses it or is slow, and gets it later.
   */
  async waitForPush(): Promise<boolean> {
    if (this.failure !== null) return false;
    this.#schedule.requestPush();
    return await this.#pushWaiters.wait((this.#options.pushSeconds + pushLimit) * 1000);
  }

  /**
   * Prunes the history of the state on the remote first, and here if that succeeds, so that no replica meets a pruned
   * history that the remote lacks. Returns how many commits were removed.
   */
  async prune(repository: Repository, since: number): Promise<number> {
    return await this.#queue.run(async () => {
      if (this.failure !== null) return 0;
      const pruned = await pushPrunedState(repository, since, this.#remote);
      if (pruned === undefined) return 0;
      await this.#mergeState(repository, pruned.commit);
      return pruned.removed;
    });
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
        if (this.failure === null) await this.#push(await this.#options.repositoryOpener.open());
      });
    } catch (error) {
      this.#options.log.warn(
        { err: error },
        `could not push the last commits: ${remoteMessage(error)}; they are safe in this clone and pushed after the next start`,
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

  async #queueRound(): Promise<void> {
    await this.#queue.run(async () => {
      if (this.#abort.signal.aborted || this.#schedule.isStopped) return;
      try {
        this.#succeed(await this.#round());
      } catch (error) {
        this.#fail(error);
        throw error;
      } finally {
        await this.#countUnpushed();
      }
    });
  }

  /** Returns whether the remote has everything of this clone. */
  async #round(): Promise<boolean> {
    const repository = await this.#options.repositoryOpener.open();
    if (this.#schedule.isFetchDue) await this.#fetch(repository);
    for (let attempt = 1; ; attempt++) {
      if (!this.#schedule.isPushAllowed)
        return (await refsToPush(repository, this.#remoteBranch(repository))).length === 0;
      try {
        await this.#push(repository);
        return true;
      } catch (error) {
        // Only where another replica has pushed in between is the push retried.
        if (attempt === mostAttempts || !(await this.#fetch(repository))) throw error;
        await sleep(Math.random() * 200 * attempt, undefined, { signal: this.#abort.signal });
      }
    }
  }

  /** Fetches and merges, and returns whether the remote had something new. */
  async #fetch(repository: Repository): Promise<boolean> {
    const before = await knownTips(repository);
    this.#schedule.fetchStarts();
    const tips = await fetchRemote(repository, this.#remoteBranch(repository));
    this.#schedule.fetchEnds();
    await this.#mergeState(repository, tips.state);
    await this.#integration.integrate(tips.branch);
    return before.branch !== tips.branch || before.state !== tips.state;
  }

  async #mergeState(repository: Repository, theirs: string | null): Promise<void> {
    if (await mergeState(repository, theirs)) await this.#options.state.refresh();
    this.#stateFetched = true;
  }

  /** Pushes what the remote does not have, branch and state together. */
  async #push(repository: Repository): Promise<void> {
    const waiters = this.#pushWaiters.list();
    if (waiters.length > 0) await this.#options.state.checkpoint();
    const remote = this.#remoteBranch(repository);
    const refs = await refsToPush(repository, remote);
    if (refs.length > 0) {
      this.#schedule.pushStarts();
      await pushRefs(repository, refs, remote);
      this.#options.log.debug({ refs }, 'pushed to the remote');
    }
    for (const finish of waiters) finish(true);
  }

  /** The number is exact at the end of each round; until the next one `requestPush` adds to it. */
  async #countUnpushed(): Promise<void> {
    try {
      const repository = await this.#options.repositoryOpener.open();
      this.#unpushed = await countUnpushed(repository, this.#remoteBranch(repository));
    } catch (error) {
      this.#options.log.debug({ err: error }, 'could not count the commits to push, trying again next round');
    }
  }

  get #remote(): Remote {
    const { remote, timeLimit = 120 } = this.#options;
    return { address: remote, timeLimit, signal: this.#abort.signal };
  }

  #remoteBranch(repository: Repository): RemoteBranch {
    const { branch } = this.#options;
    return { ...this.#remote, branch: branch === null ? repository.branch() : `refs/heads/${branch}` };
  }

  /** A failure ends when the remote has everything: a fetch that works does not mean that a push would. */
  #succeed(isPushed: boolean): void {
    if (isPushed) this.#failures.end();
    this.#schedule.roundSucceeded(isPushed);
    if (this.#pushWaiters.size > 0) this.#schedule.requestPush();
  }

  #fail(error: unknown): void {
    if (this.#abort.signal.aborted) return;
    const message = remoteMessage(error);
    this.#failures.add(error, message, kindOf(error, message));
    for (const finish of this.#pushWaiters.list()) finish(false);
    this.#schedule.roundFailed();
  }
}

/** Attempts to push while other replicas push, before a round fails. */
const mostAttempts = 10;

/** Seconds that a response waits for a push, beyond the time to the next one. */
const pushLimit = 8;

/** Seconds that a new clone waits for the remote before it serves without. */
const startLimit = 30;

/** Seconds that a stop waits for the last push. */
const closeLimit = 5;

/** Returns what is the same at each retry: a message of git may have times and numbers that differ. */
function kindOf(error: unknown, message: string): string {
  if (!(error instanceof GitError)) return message;
  return error.command.includes(' push ') ? 'push' : 'fetch';
}
