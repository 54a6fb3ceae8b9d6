import type { BotId } from './id.ts';

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

/** There is no such bot, or not any more. */
export class UnknownBot extends Error {
  constructor(id: BotId) {
    super(`there is no bot ${id}: GET /api/v2/bots lists those there are`);
    this.name = 'UnknownBot';
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
