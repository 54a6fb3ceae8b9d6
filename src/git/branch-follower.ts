import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../lib/errors.ts';
import { FailureLog, type FailureLogOptions } from '../lib/failure-log.ts';
import type { RepositoryOpener } from './repository.ts';

export interface BranchFollowerOptions extends FailureLogOptions {
  readonly repositoryOpener: RepositoryOpener;
}

/** Looks at the branch every two seconds, as people commit without telling the service, and when it is told. */
export abstract class BranchFollower {
  readonly #repositoryOpener: RepositoryOpener;
  readonly #failures: FailureLog;
  readonly #closing = new AbortController();
  #pause = new AbortController();
  #following: Promise<void> | undefined;

  constructor(options: BranchFollowerOptions) {
    this.#repositoryOpener = options.repositoryOpener;
    this.#failures = new FailureLog(options);
  }

  /** Does what is to be done once the branch has moved. What it throws is logged, and the next look tries again. */
  abstract look(): Promise<void>;

  /** Aborted once it is closed. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** Follows the branch until it is closed. */
  start(): void {
    this.#following ??= this.#follow();
  }

  /** Looks at once, as the branch has moved. */
  lookNow(): void {
    this.#pause.abort();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#pause.abort();
    await this.#following;
  }

  async #follow(): Promise<void> {
    while (!this.signal.aborted) {
      // Before the look, so that a move during it is seen.
      this.#pause = new AbortController();
      try {
        await this.look();
        this.#failures.end();
      } catch (error) {
        // A missing repository is reported by all that writes.
        const isThere = await this.#repositoryOpener.open().then(Boolean, () => false);
        if (isThere && !this.signal.aborted) this.#failures.add(error, messageOf(error));
      }
      if (this.signal.aborted) return;
      await sleep(followMs, undefined, { signal: this.#pause.signal, ref: false }).catch(() => undefined);
    }
  }
}

/** Milliseconds between two looks. */
const followMs = 2000;
