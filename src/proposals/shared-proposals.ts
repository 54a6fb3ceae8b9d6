import { setTimeout as sleep } from 'node:timers/promises';
import { removeLeftovers } from '../git/leftovers.ts';
import { readRef, updateRefs } from '../git/refs.ts';
import type { Log } from '../lib/log.ts';
import { type Failure, FailureLog } from '../lib/retry.ts';
import { pushWithRetries, fetchRefs, pushRemote, type Remote, describeRemoteError } from '../sync/remote.ts';
import type { RemoteWork, Sync } from '../sync/sync.ts';
import { fetchSpecs, listKnownRefs, type MovedRef, toKnownRef } from './proposal-refs.ts';
import { type Proposal, notShared } from './proposal.ts';
import type { Proposals, RemoteProposals } from './proposals.ts';

/**
 * Shares the proposals of a service with its other machines. In each round of the sync, the remote's proposals are
 * fetched, merged with ours (`mergeRefs`), and pushed if they differ. A remote that refuses them still receives the
 * branch and the state.
 */
export class SharedProposals implements RemoteProposals {
  readonly #proposals: Proposals;
  readonly #sync: Pick<Sync, 'run' | 'addToRounds'>;
  readonly #log: Log;
  readonly #failures: FailureLog;
  /** Work that was requested and has not begun. */
  readonly #waiting = new Map<RemoteWork, Promise<void>>();
  /** Version → when a machine claimed it at the remote for a decision. */
  readonly #taken = new Map<string, number>();

  constructor(proposals: Proposals, sync: Pick<Sync, 'run' | 'addToRounds'>, log: Log) {
    this.#proposals = proposals;
    this.#sync = sync;
    this.#log = log;
    this.#failures = new FailureLog({
      log,
      failed: (message) => `${notShared}: ${message}. They are safe in this clone, retrying in each round`,
      ended: 'proposals are shared with the other machines again',
    });
    sync.addToRounds(this.#exchange);
  }

  /** Why the last round could not share the proposals, for operators; null if it did. */
  get failure(): Failure | null {
    return this.#failures.current;
  }

  async fetchProposals(): Promise<void> {
    await this.#runSoon(this.#fetch);
  }

  async pushProposals(claimed?: string): Promise<void> {
    if (claimed !== undefined) this.#taken.delete(claimed);
    await this.#runSoon(this.#push);
  }

  async claimProposal({ ref, version }: Proposal): Promise<boolean> {
    let isClaimed = true;
    await this.#sync.run(async (remote) => {
      const { repository } = remote;
      if ((await readRef(repository, toKnownRef(ref))) !== version) await this.#push(remote);
      try {
        await pushMoves(remote, [{ ref, commit: null, lease: version }]);
      } catch (error) {
        await this.#fetch(remote);
        if ((await readRef(repository, toKnownRef(ref))) === version) throw error;
        isClaimed = false;
      }
    });
    if (isClaimed) this.#taken.set(version, performance.now());
    return isClaimed;
  }

  isClaimed(version: string): boolean {
    return performance.now() - (this.#taken.get(version) ?? -maxDecidingMs) < maxDecidingMs;
  }

  async waitForDecision({ ref, version }: Proposal): Promise<void> {
    while (this.isClaimed(version)) {
      await sleep(pollMs);
      await this.#sync.run(async (remote) => {
        await this.#fetch(remote);
        if ((await readRef(remote.repository, ref)) !== version) this.#taken.delete(version);
      });
    }
  }

  readonly #exchange = async (remote: Remote, isFetchDue: boolean): Promise<void> => {
    try {
      if (isFetchDue) await this.#fetchRefs(remote);
      await this.#push(remote);
      this.#failures.end();
    } catch (error) {
      await removeLeftovers(remote.repository, error, this.#log).catch(() => undefined);
      if (!remote.signal.aborted) this.#failures.add(error, describeRemoteError(error));
    }
    // Runs after the round; a failure is retried in the next one.
    void this.#proposals.closeAccepted().catch(() => undefined);
  };

  readonly #fetch = async (remote: Remote): Promise<void> => {
    await this.#fetchRefs(remote);
    await this.#proposals.mergeFetched();
  };

  readonly #push = async (remote: Remote): Promise<void> => {
    const push = async (): Promise<void> => {
      const all = await this.#proposals.mergeFetched();
      const moves = all.filter(({ commit, lease }) => lease !== '' || !this.isClaimed(commit ?? ''));
      for (let i = 0; i < moves.length; i += maxRefsPerPush)
        await pushMoves(remote, moves.slice(i, i + maxRefsPerPush));
    };
    await pushWithRetries(push, async () => await this.#fetchRefs(remote), remote.signal);
  };

  /** Returns whether the remote has changed. */
  async #fetchRefs(remote: Remote): Promise<boolean> {
    const before = await listKnownRefs(remote.repository);
    await fetchRefs(remote, fetchSpecs);
    const after = await listKnownRefs(remote.repository);
    for (const version of this.#taken.keys()) if (!this.isClaimed(version)) this.#taken.delete(version);
    for (const [ref, version] of before) if (!after.has(ref)) this.#taken.set(version, performance.now());
    return after.size !== before.size || [...after].some(([ref, version]) => before.get(ref) !== version);
  }

  /** Runs `work` between two rounds, once for all requests made before it begins. */
  async #runSoon(work: RemoteWork): Promise<void> {
    let soon = this.#waiting.get(work);
    if (soon === undefined) {
      soon = this.#sync.run(async (...args) => {
        this.#waiting.delete(work);
        await work(...args);
      });
      this.#waiting.set(work, soon);
      void soon.catch(() => this.#waiting.delete(work));
    }
    await soon;
  }
}

async function pushMoves(remote: Remote, moves: readonly MovedRef[]): Promise<void> {
  await pushRemote(remote, moves);
  const known = moves.map(
    ({ ref, commit, lease }) => [toKnownRef(ref), { from: lease || null, to: commit }] as const,
  );
  await updateRefs(remote.repository, new Map(known));
}

/** Milliseconds in which a machine decides, unless it has crashed. Less than a decision waits for the remote. */
const maxDecidingMs = 3000;
const pollMs = 200;

/** Keeps the command line below its maximum length. */
const maxRefsPerPush = 500;
