import type { Log } from '../lib/log.ts';
import type { FileChange } from './diff.ts';

/** The checked-out branch, or the state ref, is at a commit that this service has made or merged. */
export type CommitEvent =
  | {
      readonly ref: 'branch';
      readonly commit: string;
      readonly changes: readonly FileChange[];
      /** The new bytes by path of changes that owners posted; undefined where the commit was fetched. */
      readonly contents: ReadonlyMap<string, Buffer> | undefined;
    }
  | { readonly ref: 'state'; readonly commit: string };

export type CommitListener = (event: CommitEvent) => void;

/** Notifies every subscriber of each commit, before the response to any of its changes is sent. */
export class CommitEvents {
  readonly #listeners: CommitListener[] = [];
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Calls `listener` for each later commit. An error of a listener is logged and has no other effect. */
  subscribe(listener: CommitListener): void {
    this.#listeners.push(listener);
  }

  publish(event: CommitEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#log.error({ err: error, commit: event.commit }, 'a subscriber to commits failed');
      }
    }
  }
}
