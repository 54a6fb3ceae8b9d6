/** The files of a state as they stand in Git, `<ab>/<cd>.json` → text, and the commit they are of. */
export interface StateTree {
  /** The commit at the tip, null while the ref does not exist. */
  readonly commit: string | null;
  readonly files: ReadonlyMap<string, string>;
}

/**
 * Where states are kept for good: `refs/botshelf/state` of the catalogue's repository, implemented by
 * state/ref/git-state-ref.ts. Only the tip is ever read; every commit has the one before as its parent.
 */
export interface StateRef {
  /**
   * Every file at the tip; no files and no commit while the ref does not exist. Given a commit that was read before,
   * it may leave out the files that are still as they were in that.
   */
  read(known?: string): Promise<StateTree>;

  /**
   * Replaces `files` (path → whole new text) on top of `onto`, durably, and gives the new commit's id;
   * gives `onto` back, and commits nothing, where the tree would stay as it is.
   * @throws {StateConflictError} when the tip is not `onto`: read, merge and try again.
   */
  commit(onto: string | null, files: ReadonlyMap<string, string>, subject: string): Promise<string | null>;

  /** The commit at the tip, null while the ref does not exist: what tells a move of our own from another's. Cheap. */
  tip(): Promise<string | null>;

  /**
   * A mark that differs once the tip may have moved, whoever moved it. It costs a stat or two, starts no
   * process, and never throws.
   */
  peek(): string;
}

/** The tip of the state ref is another than the one the commit was made for. */
export class StateConflictError extends Error {
  constructor() {
    super('the state ref has moved since it was read');
    this.name = 'StateConflictError';
  }
}
