import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenCounts } from '../counts/counts.ts';
import { pruneHistory } from '../counts/state-ref.ts';
import type { CommitEvent } from '../git/branch/feed.ts';
import type { Clone } from '../git/branch/clone.ts';
import { removeStaleLocks } from '../git/leftovers.ts';
import { maxStallSeconds, removeCredentials } from '../git/run-git.ts';
import type { Repository, RepositoryOpener } from '../git/repository.ts';
import { describeFailure, type Health, listFaults } from '../lib/health.ts';
import { type Failure, FailureLog } from '../lib/retry.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import type { RemoteState } from '../tokens/tokens.ts';
import { integrate, type IntegrationOptions, requireSameCatalogue } from './integration.ts';
import { type DroppedEdit, formatDroppedEdit } from './merge-files.ts';
import { describeRewrite, pruneRewrites } from './rewrites.ts';
import {
  fetchState,
  hasFetchedState,
  mergeState,
  pushState,
  countUnpushed,
  pushPrunedState,
  pushRefs,
  pushWithRetries,
  listRefsToPush,
  describeRemoteError,
  withRemoteMessage,
  fetchRemote,
  readKnownTips,
  type Remote,
  type RemoteBranch,
  type RemoteTips,
  toBaseRef,
} from './remote.ts';
import { Schedule, type ScheduleOptions } from './schedule.ts';

/** The shared repository that this clone keeps in step with. */
export interface RemoteSettings extends ScheduleOptions {
  /** A remote's name or URL, in any form that git accepts. */
  readonly remote: string;
  /** The branch there, such as `main`; null for the one with the name of the checked-out branch. */
  readonly branch: string | null;
  /** The condition for the response to a post: the change is durable here, or the remote has it. */
  readonly ack: 'local' | 'remote';
  /** The secret that the Git server signs its calls of `/hooks/push` with; null if there is no webhook. */
  readonly webhookSecret: string | null;
}

export interface SyncOptions extends Omit<RemoteSettings, 'ack' | 'webhookSecret'>, IntegrationOptions {
  readonly repositoryOpener: RepositoryOpener;
  readonly state: Pick<OpenCounts['state'], 'refresh' | 'checkpoint'>;
  /** Called after each fetch with something new. */
  readonly onFetch?: () => void;
}

/** Shares further refs through the remote. @param isFetchDue whether the round that it is part of fetches */
export type RemoteWork = (remote: Remote, isFetchDue: boolean) => Promise<void>;

/**
 * Synchronises branch and state with a remote: fetches, merges by key, pushes both together. One round runs at a time;
 * a failed one is retried, later each time. Reads and writes never depend on the remote. With `followsOnly` it pushes
 * nothing.
 */
export class Sync implements RemoteState {
  readonly #options: SyncOptions;
  readonly #schedule: Schedule;
  readonly #abort = new AbortController();
  readonly #queue = new SerialQueue();
  readonly #failures: FailureLog;
  readonly #further: RemoteWork[] = [];
  /** The callers that wait for the next push, in order. */
  readonly #waiters: ((isPushed: boolean) => void)[] = [];
  #droppedEdits: readonly DroppedEdit[] = [];
  /** Ref → description of the commits that only it has. */
  #rewrites: ReadonlyMap<string, string> = new Map();
  #stateFetched = false;
  #unpushed = 0;

  constructor(options: SyncOptions) {
    this.#options = options;
    this.#failures = new FailureLog({
      log: options.log,
      failed: (message) => `${outOfStep}: ${message}. Reads and writes go on, retrying in the background`,
      ended: 'in step with the remote again',
    });
    this.#schedule = new Schedule(options, () => void this.#queueRound());
  }

  /** The reason why the last round failed; null if nothing is left to fetch, merge or push. */
  get failure(): Failure | null {
    return this.#failures.current;
  }

  /** Changes that merges set aside in files other than pages of bots, a sentence each, until the file changes again. */
  get droppedEdits(): readonly string[] {
    return this.#droppedEdits.map(
      (edit) => `${formatDroppedEdit(edit)}, and is named until the file changes`,
    );
  }

  /** The commits that the branch lost when the remote's was rewritten, a sentence for each time, while kept. */
  get rewrites(): readonly string[] {
    return [...this.#rewrites.values()].map((what) => `the remote's branch was rewritten: ${what}`);
  }

  /** The number of commits of branch and state that the remote does not have. */
  get unpushed(): number {
    return this.#unpushed;
  }

  /** Whether the remote's state was ever fetched: until then, a new clone does not have the bots' tokens. */
  get stateFetched(): boolean {
    return this.#stateFetched;
  }

  /** Starts the first round. Resolves when a new clone has everything, or has waited for `maxStartWaitSeconds`. */
  async start(): Promise<void> {
    const repository = await this.#options.repositoryOpener.open().catch(() => undefined);
    if (repository !== undefined && !(await hasFetchedState(repository))) {
      await Promise.race([this.#queueRound(), sleep(maxStartWaitSeconds * 1000, undefined, { ref: false })]);
      return;
    }
    this.#stateFetched = true;
    // A crash may have come between a fetch and its merge. A failure here is repeated, and logged, in the round.
    if (repository !== undefined)
      await this.#mergeFetched(repository, await readKnownTips(repository)).catch(() => undefined);
    this.#schedule.runIn(0);
  }

  /** Fetches and merges the state alone, for callers that cannot wait for a round. @throws {Error} with the reason */
  async fetchState(): Promise<void> {
    await this.run(async (remote) => {
      await fetchState(remote, this.#readState);
      this.#stateFetched = true;
    });
  }

  /** Pushes the state alone, merged with the remote's. @throws {Error} with the reason */
  async pushState(): Promise<void> {
    await this.run(async (remote) => {
      await pushState(remote);
      await this.#readState();
    });
  }

  /** Runs `work` between two rounds. @throws {Error} with the reason why the remote cannot be used */
  async run(work: RemoteWork): Promise<void> {
    await this.#queue.run(async () => {
      const repository = await this.#options.repositoryOpener.open();
      await withRemoteMessage(work(this.#toRemote(repository), true));
    });
  }

  /** Runs `work` in each round, after the fetch and before the push, and before the last push. It must not reject. */
  addToRounds(work: RemoteWork): void {
    this.#further.push(work);
  }

  /** Schedules a fetch, because the remote reported a change; at most one a second. */
  requestFetch(): void {
    this.#schedule.requestFetch();
  }

  /** Schedules a push. Call it after every commit here, of content or state. */
  requestPush(event: CommitEvent): void {
    if (event.ref === 'branch') {
      const changed = new Set(event.changes.map(({ path }) => path));
      this.#droppedEdits = this.#droppedEdits.filter(({ path }) => !changed.has(path));
    }
    if (this.#options.followsOnly) return;
    this.#unpushed++;
    if (this.failure === null) this.#schedule.requestPush();
  }

  /**
   * Waits for the next push. Resolves with whether the remote has everything that was answered by now; false if the
   * remote is unreachable, slow or refuses the push, which is retried later.
   */
  async waitForPush(): Promise<boolean> {
    if (this.failure !== null) return false;
    this.#schedule.requestPush();
    return await new Promise<boolean>((resolve) => {
      this.#waiters.push(resolve);
      setTimeout(() => resolve(false), maxPushWaitSeconds * 1000).unref();
    });
  }

  /**
   * Prunes the history of the state on the remote first, and here if that succeeds, so that no replica has a pruned
   * history that the remote does not have. Returns the number of removed commits; undefined if that cannot be done now.
   */
  async prune(repository: Repository, since: number): Promise<number | undefined> {
    return await this.#queue.run(async () => {
      if (this.failure !== null) return undefined;
      const pruned = await pushPrunedState(this.#toRemote(repository), since);
      if (pruned?.commit) await mergeState(repository, pruned.commit, this.#readState);
      return pruned?.removed;
    });
  }

  /**
   * Starts no further round, and pushes once more if the remote could be reached until now. Call it before the committer
   * closes, which a merge needs.
   */
  async close(): Promise<void> {
    this.#schedule.stop();
    const timer = setTimeout(() => this.#abort.abort(), maxCloseWaitSeconds * 1000);
    try {
      await this.#queue.run(async () => {
        if (this.failure === null && !this.#options.followsOnly)
          await this.#exchange(await this.#options.repositoryOpener.open(), true);
      });
    } catch (error) {
      this.#options.log.warn(
        { err: error },
        `could not push the last commits: ${describeRemoteError(error)}; they are safe in this clone and pushed after the next start`,
      );
    } finally {
      clearTimeout(timer);
      this.#abort.abort();
    }
  }

  /** Queues a round. Failures are logged, and named by `failure`. */
  async #queueRound(): Promise<void> {
    await this.#queue.run(async () => {
      if (this.#abort.signal.aborted || this.#schedule.isStopped) return;
      try {
        const isPushed = await this.#runRound();
        // A failure ends when the remote has everything: a fetch that works does not mean that a push would.
        if (isPushed) this.#failures.end();
        this.#schedule.roundSucceeded(isPushed);
        if (this.#waiters.length > 0) this.#schedule.requestPush();
      } catch (error) {
        if (this.#abort.signal.aborted) return;
        this.#failures.add(error, describeRemoteError(error));
        for (const finish of this.#waiters.splice(0)) finish(false);
        this.#schedule.roundFailed();
      }
      await this.#describe().catch((error: unknown) => {
        this.#options.log.debug({ err: error }, 'could not describe the clone, trying again next round');
      });
    });
  }

  /** The number of commits is exact at the end of each round; until the next one `requestPush` adds to it. */
  async #describe(): Promise<void> {
    const { repositoryOpener, remote, followsOnly } = this.#options;
    const repository = await repositoryOpener.open();
    this.#unpushed = await countUnpushed(this.#toRemoteBranch(repository));
    const kept = await pruneRewrites(repository);
    if (followsOnly) return;
    const rewrites = new Map<string, string>();
    for (const rewrite of kept.slice(-maxRewrites)) {
      const known = this.#rewrites.get(rewrite.ref);
      const text = known ?? (await describeRewrite(repository, rewrite, repository.branch(), remote));
      rewrites.set(rewrite.ref, text);
    }
    this.#rewrites = rewrites;
  }

  /** Fetches, merges and pushes. Returns whether the remote has everything of this clone. */
  async #runRound(): Promise<boolean> {
    const repository = await this.#options.repositoryOpener.open();
    try {
      return await this.#exchange(repository);
    } catch (error) {
      if ((await removeStaleLocks(repository, this.#options.log)) === 0) throw error;
      await this.#fetch(repository);
      return await this.#exchange(repository);
    }
  }

  /** @param isLast whether it pushes in any case, and fetches only if another replica has pushed in between */
  async #exchange(repository: Repository, isLast = false): Promise<boolean> {
    const isFetchDue = !isLast && this.#schedule.isFetchDue;
    if (isFetchDue) await this.#fetch(repository);
    for (const work of this.#further) await work(this.#toRemote(repository), isFetchDue);
    if (this.#options.followsOnly) return true;
    const push = async (): Promise<boolean> => {
      if (!isLast && !this.#schedule.isPushAllowed)
        return (await listRefsToPush(this.#toRemoteBranch(repository))).length === 0;
      await this.#push(repository);
      return true;
    };
    return await pushWithRetries(push, async () => await this.#fetch(repository), this.#abort.signal);
  }

  /** Fetches and merges, and returns whether the remote had something new. */
  async #fetch(repository: Repository): Promise<boolean> {
    const before = await readKnownTips(repository);
    this.#schedule.fetchStarts();
    const remote = this.#toRemoteBranch(repository);
    const tips = await fetchRemote(remote);
    this.#schedule.fetchEnds();
    await this.#mergeFetched(repository, tips);
    this.#stateFetched = true;
    const droppedEdits = await integrate(repository, tips.branch, remote, this.#options);
    this.#droppedEdits = [...this.#droppedEdits, ...droppedEdits].slice(-maxDroppedEdits);
    const isNew = before.branch !== tips.branch || before.state !== tips.state;
    if (isNew) this.#options.onFetch?.();
    return isNew;
  }

  /** Merges the fetched state, unless it is that of another catalogue. */
  async #mergeFetched(repository: Repository, tips: RemoteTips): Promise<void> {
    if (!this.#options.followsOnly)
      await requireSameCatalogue(repository, tips.branch, this.#toRemoteBranch(repository));
    if (tips.state !== null) await mergeState(repository, tips.state, this.#readState);
  }

  readonly #readState = async (): Promise<void> => await this.#options.state.refresh();

  async #push(repository: Repository): Promise<void> {
    // A caller that comes during the push waits for the next one.
    const waiting = this.#waiters.length;
    if (waiting > 0) await this.#options.state.checkpoint();
    const remote = this.#toRemoteBranch(repository);
    const refs = await listRefsToPush(remote);
    if (refs.length > 0) {
      this.#schedule.pushStarts();
      await pushRefs(remote, refs);
      this.#options.log.debug({ refs }, 'pushed to the remote');
    }
    for (const finish of this.#waiters.splice(0, waiting)) finish(true);
  }

  #toRemote(repository: Repository): Remote {
    const { remote: address } = this.#options;
    return { repository, address, stallSeconds: maxStallSeconds, signal: this.#abort.signal };
  }

  #toRemoteBranch(repository: Repository): RemoteBranch {
    const { branch } = this.#options;
    return {
      ...this.#toRemote(repository),
      branch: branch === null ? repository.branch() : `refs/heads/${branch}`,
      baseRef: toBaseRef(repository),
    };
  }
}

/** The beginning of the fault of a clone that cannot fetch, merge or push commits. */
export const outOfStep = 'not in step with the remote';

/** Seconds that a response waits for a push: less than posting libraries wait for a response. */
const maxPushWaitSeconds = 8;

/** The number of edits that are named, the last ones. */
const maxDroppedEdits = 20;

/** The number of rewrites of the remote's branch that are named, the last ones. */
const maxRewrites = 20;

/** Seconds that a new clone waits for the remote before it serves without. */
const maxStartWaitSeconds = 30;

/** Seconds that a stop waits for the last push. */
const maxCloseWaitSeconds = 5;

/** The synchronisation of a clone with a remote. */
export interface OpenSync {
  /** Null without a remote. */
  readonly sync: Sync | null;
  /** The reason why this clone is not in step with its Git host; null if it is, or has no host. */
  readonly remoteNotice: string | null;
  health(): Health;
  close(): Promise<void>;
}

interface OpenSyncOptions
  extends
    Pick<Clone, 'repositoryOpener' | 'branch' | 'origin' | 'maintain'>,
    Pick<SyncOptions, 'committer' | 'state' | 'log'> {
  readonly config: {
    readonly remote: RemoteSettings | null;
    readonly readOnly: object | null;
    /** The age after which state history is pruned to one commit a day. */
    readonly stateDays: number;
    readonly dev: boolean;
    readonly isBaseUrlSet: boolean;
  };
}

/** Opens the synchronisation with a remote, and the Git maintenance of the clone, which prunes on the remote first. */
export function openSync(options: OpenSyncOptions): OpenSync {
  const { config, repositoryOpener, committer, branch, origin, state, log } = options;
  const { remote } = config;
  const followsOnly = config.readOnly !== null;
  const onFetch = (): void => maintenance.packAdded();
  const sync =
    remote && new Sync({ ...remote, repositoryOpener, committer, state, log, followsOnly, onFetch });
  if (sync) branch.onPublished((event) => sync.requestPush(event));
  const maintenance = options.maintain(async (repository) => {
    if (followsOnly) return 0;
    const since = Date.now() / 1000 - config.stateDays * 24 * 60 * 60;
    return await (sync ? sync.prune(repository, since) : pruneHistory(repository, since));
  });
  const remoteNotice = createRemoteNotice(config, origin);
  if (remoteNotice !== null) log.warn({}, remoteNotice);
  const close = async (): Promise<void> => {
    await sync?.close();
    await maintenance.close();
  };
  const health = (): Health => {
    const late = describeFailure(outOfStep, sync?.failure);
    const faults = listFaults(remoteNotice, late, ...(sync?.rewrites ?? []), ...(sync?.droppedEdits ?? []));
    return sync || remoteNotice !== null ? { remote: { ready: sync?.stateFetched !== false, faults } } : {};
  };
  return { sync, remoteNotice, health, close };
}

/**
 * Returns a sentence for the operator of a clone that is not kept in step with its Git host; null if it is, without a
 * host, while somebody edits the catalogue with BOTSHELF_DEV, and for a trial, which has no public address.
 */
export function createRemoteNotice(
  { remote, dev, isBaseUrlSet }: Pick<OpenSyncOptions['config'], 'remote' | 'dev' | 'isBaseUrlSet'>,
  origin: Clone['origin'],
): string | null {
  if (origin === null || remote !== null || dev || !isBaseUrlSet) return null;
  return (
    `the clone has the remote origin (${removeCredentials(origin.remote)}), but BOTSHELF_REMOTE is not set: ` +
    'merged pull requests do not arrive here and posts are not pushed; set BOTSHELF_REMOTE=origin, ' +
    'or run "git remote remove origin" if this clone is not meant to have a remote'
  );
}
