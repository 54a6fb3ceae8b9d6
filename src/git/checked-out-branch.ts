import { WritesUnavailableError } from '../bot/errors.ts';
import type { Log } from '../lib/log.ts';
import { BranchFollower } from './branch-follower.ts';
import { findBranch, type RepositoryOpener } from './repository.ts';

/**
 * Notices that a person checked out another branch in the clone while the service runs: its files are served and posts are
 * committed to it, unlike anyone expects.
 */
export class CheckedOutBranch extends BranchFollower {
  readonly #repositoryOpener: RepositoryOpener;
  #first: string | undefined;

  constructor(repositoryOpener: RepositoryOpener, log: Log) {
    super({
      repositoryOpener,
      log,
      failed: String,
      ended: 'the branch that the service began on is checked out again',
    });
    this.#repositoryOpener = repositoryOpener;
  }

  /** Returns that another branch is checked out than at the first call, and what to do; null if it is the same. */
  fault(): string | null {
    const { opened } = this.#repositoryOpener;
    const branch = opened && findBranch(opened)?.replace('refs/heads/', '');
    this.#first ??= branch;
    if (branch === undefined || this.#first === undefined || branch === this.#first) return null;
    return (
      `the clone is on the branch ${branch}, and the service began on ${this.#first}: ` +
      `${branch} is served now and gets the commits of posts; ${formatSwitch(branch, this.#first)}, or restart the service to keep ${branch}`
    );
  }

  override async look(): Promise<void> {
    await this.#repositoryOpener.open();
    const fault = this.fault();
    if (fault !== null) throw new WritesUnavailableError(fault);
  }
}

/** Returns the command that switches to a branch and merges another one into it. */
export function formatSwitch(from: string, to: string): string {
  return `run "git switch ${to} && git merge ${from}"`;
}
