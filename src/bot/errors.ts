import { ExplainedError } from '../lib/errors.ts';
import type { BotId } from './id.ts';

export interface WritesUnavailableErrorOptions extends ErrorOptions {
  /** When to try again, in seconds. */
  readonly retryAfter?: number;
  /** The message for owners, where it differs. */
  readonly forOwners?: string;
}

/**
 * Nothing can be written now, and nothing of the request is saved; reads go on. The message says why and what the
 * operator can do. The request can be retried later.
 */
export class WritesUnavailableError extends ExplainedError {
  /** When to try again, in seconds. */
  readonly retryAfter: number;
  /** The message for owners. It never names the server's folders: with a cause, whose message may, it is a general one. */
  readonly forOwners: string;

  constructor(message: string, options: WritesUnavailableErrorOptions = {}) {
    const { retryAfter = 30, forOwners = 'cause' in options ? generalMessage : message, ...rest } = options;
    super(message, rest);
    this.name = 'WritesUnavailableError';
    this.retryAfter = retryAfter;
    this.forOwners = forOwners;
  }
}

const generalMessage =
  'changes cannot be saved now: try again later. The reason is in the log of the service';

export const diskFullForOwners = 'the disk is full: try again later, changes can be saved once there is room';

/** There is no such bot, or it was removed. */
export class UnknownBotError extends Error {
  readonly id: BotId;

  constructor(id: BotId) {
    super(`there is no bot ${id}`);
    this.name = 'UnknownBotError';
    this.id = id;
  }
}

/** The bot was changed since the caller read it. */
export class PreconditionFailedError extends Error {
  /** The digest of the bot's current version. */
  readonly digest: string;

  constructor(digest: string) {
    super(
      'the bot has changed since it was read: read it again, then send the update again if it still applies',
    );
    this.name = 'PreconditionFailedError';
    this.digest = digest;
  }
}

/** A person is editing the bot's file in the clone of the service. Their uncommitted edits are never touched. */
export class EditConflictError extends Error {
  /** When to try again, in seconds. */
  readonly retryAfter = 60;

  /** @param path relative to the top of the repository @param state a clause such as "has uncommitted edits" */
  constructor(path: string, state: string) {
    super(
      `${path} ${state} in the service's clone: send the change again when a maintainer has committed them`,
    );
    this.name = 'EditConflictError';
  }
}
