import type { Log } from '../lib/log.ts';
import type { FileChange } from './history.ts';

/** A change to the text of one file, as data: an `Editor` knows what it means. */
export interface FileEdit {
  /** Relative to the catalogue's folder. */
  readonly path: string;
}

/** Knows the files that are edited. Its functions are pure: they are called again when the branch has moved. */
export interface Editor<E extends FileEdit> {
  /**
   * Returns a file's text with an edit, the same text where it has the edit already; `text` is null if the file does
   * not exist. What it throws rejects this edit alone.
   */
  readonly edit: (text: string | null, edit: E) => string | null;
  /** Returns the message for a commit of these edits. */
  readonly describe: (edits: readonly E[]) => string;
}

/** A move of the branch to an existing commit, such as a merge. */
export interface BranchMove {
  readonly commit: string;
  /** Refs that move in the same transaction: ref → commit, null to delete it. */
  readonly refs: ReadonlyMap<string, string | null>;
  /** The new bytes by path, where they are in memory: then they are served at once. */
  readonly contents?: ReadonlyMap<string, Buffer>;
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
