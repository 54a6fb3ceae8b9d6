import type { BotId } from './id.ts';

export interface WritesUnavailableErrorOptions extends ErrorOptions {
  /** When to try again, in seconds. */
  readonly retryAfter?: number;
  /** What an owner is told instead of the message. */
  readonly forOwners?: string;
}

/**
 * Nothing can be written now, and nothing of what was asked is promised; reads go on. The message is a
 * sentence that says why and what the operator can do. Trying again later is right.
 */
export class WritesUnavailableError extends Error {
  /** When to try again, in seconds. */
  readonly retryAfter: number;
  /**
   * What an owner is told, without a word about the server's folders: the message itself, unless it has a cause, whose
   * words may name any.
   */
  readonly forOwners: string;

  constructor(message: string, options: WritesUnavailableErrorOptions = {}) {
    const { retryAfter = 30, forOwners = 'cause' in options ? untold : message, ...rest } = options;
    super(message, rest);
    this.name = 'WritesUnavailableError';
    this.retryAfter = retryAfter;
    this.forOwners = forOwners;
  }
}

const untold = 'changes cannot be saved now: try again later. The log of the service says why';

/** For owners, where the disk is full. */
export const diskFullForOwners = 'the disk is full: try again later, changes can be saved once there is room';

/** There is no such bot, or not any more. */
export class UnknownBotError extends Error {
  constructor(id: BotId) {
    super(`there is no bot ${id}: GET /api/v2/bots lists those there are`);
    this.name = 'UnknownBotError';
  }
}

/** The bot is another than the writer thought: somebody changed it since it was read. */
export class PreconditionFailedError extends Error {
  /** Names the bot as it is now. */
  readonly digest: string;

  constructor(digest: string) {
    super('the bot has changed since it was read: read it again and decide anew');
    this.name = 'PreconditionFailedError';
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
