/**
 * Nothing can be written now, and nothing of what was asked is promised; reads go on. The message is a
 * sentence that says why and what the operator can do. Trying again later is right.
 */
export class WritesUnavailable extends Error {
  /** When to try again, in seconds. */
  readonly retryAfter: number;

  constructor(message: string, { retryAfter = 30, ...options }: ErrorOptions & { retryAfter?: number } = {}) {
    super(message, options);
    this.name = 'WritesUnavailable';
    this.retryAfter = retryAfter;
  }
}

/** The bot is another than the writer thought: somebody changed it since it was read. */
export class PreconditionFailed extends Error {
  /** Names the bot as it is now. */
  readonly digest: string;

  constructor(digest: string) {
    super('the bot has changed since it was read: read it again and decide anew');
    this.name = 'PreconditionFailed';
    this.digest = digest;
  }
}

/** A person is editing the bot's file in the clone of the service; what they have not committed is never touched. */
export class EditConflictError extends Error {
  /** When to try again, in seconds. */
  readonly retryAfter = 60;

  /** @param path relative to the top of the repository @param state a clause, such as "has uncommitted edits" */
  constructor(path: string, state: string) {
    super(
      `${path} ${state} in the service's clone: send the change again when a maintainer has committed them`,
    );
    this.name = 'EditConflictError';
  }
}
