import type { Log } from '../lib/log.ts';
import { removeStaleLocks } from '../git/leftovers.ts';
import { readRef } from '../git/refs.ts';
import type { Repository } from '../git/repository.ts';
import type { StateStore } from '../counts/state-store.ts';
import { Integration, type IntegrationOptions } from './integration.ts';
import { PushWaiters } from './push-waiters.ts';
import { countUnpushed, pushPrunedState, pushRefs, pushWithRetries, listRefsToPush } from './push.ts';
import { withRemoteMessage } from './remote-error.ts';
import { readKnownTips, remoteRefs, setRefs } from './remote-refs.ts';
import { fetchState, hasFetchedState, mergeState, pushState } from './remote-state.ts';
import { fetchRemote, type Remote, type RemoteBranch } from './remote.ts';
import type { Schedule } from './schedule.ts';

export interface ExchangeOptions extends IntegrationOptions {
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
 * Fetches branch and state from the remote, merges them and pushes both together. It expects one call at a time.
 * @throws {GitError} each of its methods, where nothing else is said
 */
export class Exchange {
  readonly waiters = new PushWaiters();
  readonly #options: ExchangeOptions;
  readonly #schedule: Schedule;
  readonly #signal: AbortSignal;
  readonly #integration: Integration;
  #stateFetched = false;

  /**
   * @param schedule says whether a round fetches and may push
   * @param signal aborts what is in progress
   */
  constructor(options: ExchangeOptions, schedule: Schedule, signal: AbortSignal) {
    this.#options = options;
    this.#schedule = schedule;
    this.#signal = signal;
    this.#integration = new Integration(options);
  }

  /** Whether the remote's state was ever fetched: until then a new clone lacks the tokens of all bots. */
  get stateFetched(): boolean {
    return this.#stateFetched;
  }

  /** Merges the state that an earlier run fetched. Returns false for a new clone, which has fetched none. */
  async resume(): Promise<boolean> {
    const repository = await this.#options.repositoryOpener.open().catch(() => undefined);
    if (repository !== undefined && !(await hasFetchedState(repository))) return false;
    this.#stateFetched = true;
    // A crash may have come between a fetch and its merge. What fails here fails in the round too, which logs it.
    const fetched = repository && (await readRef(repository, remoteRefs.state));
    if (fetched) await this.#mergeState(repository, fetched).catch(() => undefined);
    return true;
  }

  /** Fetches, merges and pushes what is due. Returns whether the remote has everything of this clone. */
  async round(): Promise<boolean> {
    const repository = await this.#options.repositoryOpener.open();
    try {
      return await this.#tryRound(repository);
    } catch (error) {
      if ((await removeStaleLocks(repository, this.#options.log)) === 0) throw error;
      await this.#fetch(repository);
      return await this.#tryRound(repository);
    }
  }

  async #tryRound(repository: Repository): Promise<boolean> {
    if (this.#schedule.isFetchDue) await this.#fetch(repository);
    const push = async (): Promise<boolean> => {
      if (!this.#schedule.isPushAllowed)
        return (await listRefsToPush(repository, this.#remoteBranch(repository))).length === 0;
      await this.#push(repository);
      return true;
    };
    return await pushWithRetries(push, async () => await this.#fetch(repository), this.#signal);
  }

  /**
   * Pushes what the remote does not have, branch and state together, without the committer, which a merge of the branch
   * needs. Where another replica has pushed in between, the state is still pushed, merged with the remote's.
   */
  async pushLast(): Promise<void> {
    const repository = await this.#options.repositoryOpener.open();
    try {
      await this.#push(repository);
    } catch (error) {
      await this.pushState().catch(() => {
        throw error;
      });
      if ((await listRefsToPush(repository, this.#remoteBranch(repository))).length > 0) throw error;
    }
  }

  /** Fetches and merges the state alone. @throws {Error} that says why not */
  async fetchState(): Promise<void> {
    const repository = await this.#options.repositoryOpener.open();
    if (await withRemoteMessage(fetchState(repository, this.#remote))) await this.#options.state.refresh();
    this.#stateFetched = true;
  }

  /** Pushes the state alone, merged with the remote's. @throws {Error} that says why not */
  async pushState(): Promise<void> {
    const repository = await this.#options.repositoryOpener.open();
    const commit = await withRemoteMessage(pushState(repository, this.#remote));
    await this.#options.state.refresh();
    if (commit !== null) await setRefs(repository, new Map([[remoteRefs.state, commit]]));
  }

  /** Prunes the history of the state on the remote, and here if that succeeds. Returns how many commits were removed. */
  async prune(repository: Repository, since: number): Promise<number> {
    const pruned = await pushPrunedState(repository, since, this.#remote);
    if (pruned === undefined) return 0;
    await this.#mergeState(repository, pruned.commit);
    return pruned.removed;
  }

  /** Returns how many commits of branch and state the remote does not have. */
  async countUnpushed(): Promise<number> {
    const repository = await this.#options.repositoryOpener.open();
    return await countUnpushed(repository, this.#remoteBranch(repository));
  }

  /** Fetches and merges, and returns whether the remote had something new. */
  async #fetch(repository: Repository): Promise<boolean> {
    const before = await readKnownTips(repository);
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

  async #push(repository: Repository): Promise<void> {
    const waiters = this.waiters.list();
    if (waiters.length > 0) await this.#options.state.checkpoint();
    const remote = this.#remoteBranch(repository);
    const refs = await listRefsToPush(repository, remote);
    if (refs.length > 0) {
      this.#schedule.pushStarts();
      await pushRefs(repository, refs, remote);
      this.#options.log.debug({ refs }, 'pushed to the remote');
    }
    for (const finish of waiters) finish(true);
  }

  get #remote(): Remote {
    const { remote, timeLimit = 120 } = this.#options;
    return { address: remote, timeLimit, signal: this.#signal };
  }

  #remoteBranch(repository: Repository): RemoteBranch {
    const { branch } = this.#options;
    return { ...this.#remote, branch: branch === null ? repository.branch() : `refs/heads/${branch}` };
  }
}
