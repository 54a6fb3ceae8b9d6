import { GitError } from '../git/process/git-error.ts';
import type { Log } from '../log.ts';
import { remoteMessage } from './remote-error.ts';

/** Why branch and state are not in step with the remote. */
export interface SyncFailure {
  /** The first failure since the last success. Milliseconds since the epoch. */
  readonly since: number;
  readonly message: string;
}

/** The present failure to sync. A failure is logged when it is of another kind than the last one, and when it ends. */
export class FailureLog {
  readonly #log: Log;
  #current: SyncFailure | null = null;
  #loggedKind: string | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  get current(): SyncFailure | null {
    return this.#current;
  }

  add(error: unknown): void {
    const message = remoteMessage(error);
    const kind = kindOf(error, message);
    if (this.#loggedKind !== kind) {
      this.#log.error(
        { err: error },
        `not in step with the remote: ${message}. Reads and writes go on, retrying in the background`,
      );
    }
    this.#loggedKind = kind;
    this.#current = { since: this.#current?.since ?? Date.now(), message };
  }

  end(): void {
    if (this.#current !== null)
      this.#log.info({ since: this.#current.since }, 'in step with the remote again');
    this.#current = null;
    this.#loggedKind = undefined;
  }
}

/** Returns what is the same at each retry: a message of git may have times and numbers that differ. */
function kindOf(error: unknown, message: string): string {
  if (!(error instanceof GitError)) return message;
  return error.command.includes(' push ') ? 'push' : 'fetch';
}
