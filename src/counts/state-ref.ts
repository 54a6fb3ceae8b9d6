/** The files of a state in Git, `<ab>/<cd>.json` → text, and their commit. */
export interface StateTree {
  /** The commit at the tip; null while the ref does not exist. */
  readonly commit: string | null;
  readonly files: ReadonlyMap<string, string>;
}

/**
 * Where the state is committed: `refs/botshelf/state` of the catalogue's repository, implemented by git-state-ref.ts.
 * Only the tip is read. Each commit has the one before as its parent.
 */
export interface StateRef {
  /**
   * Returns the files at the tip; none while the ref does not exist.
   * @param known a commit that was read before: files that are the same in it may be left out
   */
  read(known?: string): Promise<StateTree>;

  /**
   * Commits `files` (path → whole new text) on top of `onto`, durably. Returns the new commit; `onto` where the tree
   * would be the same, without a commit.
   * @throws {RefConflictError} when the tip is not `onto`: read, merge and retry
   */
  commit(onto: string | null, files: ReadonlyMap<string, string>, subject: string): Promise<string | null>;

  /** Returns the commit at the tip; null while the ref does not exist. Cheaper than `read`. */
  tip(): Promise<string | null>;

  /**
   * Returns a text that changes whenever the tip may have moved. It costs a stat or two, starts no process and never
   * throws.
   */
  peek(): string;
}
