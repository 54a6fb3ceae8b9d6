import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { BotshelfError, messageOf } from '../../lib/errors.ts';
import { writeAtomically } from '../../lib/files.ts';
import { FailureLog, type FailureLogOptions } from '../../lib/retry.ts';
import { type BranchStep, listSteps } from '../history.ts';
import type { FileChange } from '../trees.ts';
import { findBranch, type Repository, type RepositoryOpener } from '../repository.ts';
import { readRef } from '../refs.ts';

/** A move of the branch. */
export interface BranchAdvance {
  readonly repository: Repository;
  /** The commit before the move, also one of an earlier run; undefined if that is not known. */
  readonly from: string | undefined;
  readonly to: string;
  /**
   * The commits along first parents that the history of `from` does not have, oldest first. Empty if `from` is not
   * known, or not in the history, because the branch was rewritten.
   */
  readonly steps: readonly BranchStep[];
  /** Aborted once the feed is closed. */
  readonly signal: AbortSignal;
}

/**
 * Follows the branch. A call is repeated after a crash or an error, so it must be idempotent. Consumers are
 * independent: one that fails or is slow does not delay the others.
 */
export interface BranchConsumer extends Omit<FailureLogOptions, 'log'> {
  /** Handles the commits since the last call. The first call after a start is made even without any. */
  handle(advance: BranchAdvance): Promise<void>;
}

/** The checked-out branch, or the state ref, is at a commit that this service has made or merged. */
export type CommitEvent =
  | {
      readonly ref: 'branch';
      readonly commit: string;
      readonly changes: readonly FileChange[];
      /** The new bytes by path of changes that owners posted; undefined if the commit was fetched. */
      readonly contents: ReadonlyMap<string, Buffer> | undefined;
    }
  | { readonly ref: 'state'; readonly commit: string };

export interface BranchFeedOptions {
  /** The file that stores the branch, and the last of its commits that all consumers have handled. */
  readonly file: string;
  readonly repositoryOpener: RepositoryOpener;
  /** Whether a person edits the catalogue in the clone, and may check out any branch. */
  readonly isEdited?: boolean;
  readonly log: FailureLogOptions['log'];
}

/**
 * Reports the moves of the branch that was checked out at the start, to each consumer in order and at least once. It
 * looks every two seconds, because people commit without notice, and on request. If another branch is checked out
 * later, `fault` says so: its files are then served, and posts are committed to it. Commits that this service makes or
 * merges also go to `publish`, which calls its listeners at once.
 */
export class BranchFeed {
  readonly #closing = new AbortController();
  /** Aborted once it is closed. */
  readonly signal = this.#closing.signal;
  readonly #options: BranchFeedOptions;
  readonly #followers = new Map<BranchConsumer, Follower>();
  readonly #otherBranch: FailureLog;
  #branch: string | undefined;
  /** The branch and the commit in the file. */
  #kept: Promise<string> | undefined;
  #reads = 0;
  readonly #listeners: ((event: CommitEvent) => unknown)[] = [];
  #handled: Promise<unknown> = Promise.resolve();

  constructor(options: BranchFeedOptions) {
    this.#options = options;
    const ended = 'the branch that the service began on is checked out again';
    this.#otherBranch = new FailureLog({ ...options, failed: String, ended });
  }

  /** Adds a consumer. The file is written once all of them have handled a commit. */
  add(consumer: BranchConsumer): void {
    const { log } = this.#options;
    const failures = new FailureLog({ log, failed: consumer.failed, ended: consumer.ended });
    this.#followers.set(consumer, { failures, at: undefined, read: 0, pause: new AbortController() });
  }

  /** Calls a consumer until the feed is closed. */
  start(consumer: BranchConsumer): void {
    const follower = this.#get(consumer);
    follower.following ??= this.#follow(consumer, follower);
  }

  /** Looks immediately, because the branch has moved. */
  lookNow(consumer: BranchConsumer): void {
    this.#get(consumer).pause.abort();
  }

  /** Calls a consumer if the branch has moved since its last call. @throws the errors of the consumer and Git */
  async look(consumer: BranchConsumer): Promise<void> {
    const follower = this.#get(consumer);
    const repository = await this.#options.repositoryOpener.open();
    this.#branch ??= findBranch(repository) ?? 'HEAD';
    const to = await readRef(repository, this.#branch);
    const read = ++this.#reads;
    if (to === null || to === follower.at) return;
    this.#kept ??= readFile(this.#options.file, 'utf8').catch(() => '');
    const [branch, kept] = (await this.#kept).split(' ');
    const from = follower.at ?? kept;
    const isSame = follower.at !== undefined || branch === this.#branch;
    const steps = isSame && from !== undefined ? await listSteps(repository, from, to) : [];
    await consumer.handle({ repository, from, to, steps, signal: this.signal });
    Object.assign(follower, { at: to, read });
    await this.#keep(this.#branch);
  }

  /** Calls `listener` with each later commit that is published. Its errors are logged and have no other effect. */
  onPublished(listener: (event: CommitEvent) => unknown): void {
    this.#listeners.push(listener);
  }

  /** Tells all listeners of a commit of this service, before the response to any of its changes is sent. */
  publish(event: CommitEvent): void {
    const work = this.#listeners.map(async (listener) => {
      try {
        await listener(event);
      } catch (error) {
        this.#options.log.error({ err: error, commit: event.commit }, 'a listener to commits failed');
      }
    });
    this.#handled = Promise.all([this.#handled, ...work]);
  }

  /** Resolves when the listeners have handled the commits so far, including their asynchronous work. */
  async handled(): Promise<void> {
    await this.#handled;
  }

  /** Returns a message if another branch is checked out than at the start, with the fix; null if it is the same. */
  fault(): string | null {
    const { repositoryOpener, isEdited = false } = this.#options;
    const branch = repositoryOpener.opened && findBranch(repositoryOpener.opened);
    if (isEdited || !branch || !this.#branch || ['HEAD', branch].includes(this.#branch)) return null;
    const [now = '', first = ''] = [branch, this.#branch].map((ref) => ref.replace('refs/heads/', ''));
    return (
      `the clone is on the branch ${now}, and the service began on ${first}: ` +
      `${now} is served now and gets the commits of posts; ${formatSwitch(now, first)}, or restart the service to keep ${now}`
    );
  }

  /** Ends all calls, and waits for those under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const consumer of this.#followers.keys()) this.lookNow(consumer);
    await Promise.all(Array.from(this.#followers.values(), async ({ following }) => await following));
  }

  #get(consumer: BranchConsumer): Follower {
    const follower = this.#followers.get(consumer);
    if (follower === undefined) throw new TypeError('the consumer was not added');
    return follower;
  }

  async #follow(consumer: BranchConsumer, follower: Follower): Promise<void> {
    while (!this.signal.aborted) {
      // Before the look, so that a move during it is seen.
      follower.pause = new AbortController();
      try {
        await this.look(consumer);
        follower.failures.end();
      } catch (error) {
        // A missing repository is reported by every write.
        const isThere = await this.#options.repositoryOpener.open().then(Boolean, () => false);
        if (isThere && !this.signal.aborted) follower.failures.add(error, messageOf(error));
      }
      const fault = this.fault();
      if (fault === null) this.#otherBranch.end();
      else this.#otherBranch.add(new BotshelfError('unavailable', fault), fault);
      if (this.signal.aborted) return;
      await sleep(lookMs, undefined, { signal: follower.pause.signal, ref: false }).catch(() => undefined);
    }
  }

  /** Saves the commit of the consumer that is furthest behind. */
  async #keep(branch: string): Promise<void> {
    const followers = [...this.#followers.values()].toSorted((a, b) => a.read - b.read);
    const place = `${branch} ${followers[0]?.at}`;
    if (followers[0]?.at === undefined || place === (await this.#kept)) return;
    // Steps that are not stored are handled again after the next start.
    await writeAtomically(this.#options.file, place, { fsync: 'content and name' }).then(
      () => (this.#kept = Promise.resolve(place)),
      () => undefined,
    );
  }
}

/** Returns the command that switches to a branch and merges another one into it. */
export function formatSwitch(from: string, to: string): string {
  return `run "git switch ${to} && git merge ${from}"`;
}

interface Follower {
  readonly failures: FailureLog;
  /** The last commit that its consumer has handled; undefined before the first call. */
  at: string | undefined;
  /** The number of the read of the branch that found the commit. */
  read: number;
  pause: AbortController;
  following?: Promise<void>;
}

/** Milliseconds between two looks. */
const lookMs = 2000;
