import type { BotId } from '../bot/id.ts';
import type { Token } from '../bot/token.ts';
import type { TokenChanger } from './token-changes.ts';

/** The tokens of all bots, of which each has one at most. */
export interface Tokens {
  /**
   * Returns whether `token` is the current token of a bot.
   * @param address where it is from: few unknown tokens of one address group are looked up at the same time
   * @throws {WritesUnavailableError} when the tokens cannot be read
   */
  checkToken(id: BotId, token: Token, address: string): Promise<TokenCheck>;

  /**
   * Returns what is known of a bot's token.
   * @throws {WritesUnavailableError} when the tokens cannot be read
   */
  tokenInfo(id: BotId): Promise<TokenInfo>;

  /**
   * Issues a new token to a bot and ends the one it had. The token's digest is committed when this resolves.
   * @throws {WritesUnavailableError} when it cannot be committed
   */
  issueToken(id: BotId, by: TokenChanger): Promise<TokenChange<Token>>;

  /**
   * Revokes a bot's token. The result is whether it had one.
   * @throws {WritesUnavailableError} when that cannot be committed
   */
  revokeToken(id: BotId, by: TokenChanger): Promise<TokenChange<boolean>>;
}

/** Whether a token is valid for a bot, is the token of another bot, or of none. */
export type TokenCheck = 'valid' | 'other bot' | 'unknown';

/** What is known of a bot's token. Times are milliseconds since the epoch. */
export interface TokenInfo {
  /** When it was issued; undefined when the bot has no token. */
  readonly issuedAt: number | undefined;
  /** When it was last used, as far as known: a restart forgets uses that changed no count. */
  readonly lastUsed: number | undefined;
}

/** The result of a change of a token, and whether the other machines have it: they do not while the remote is away. */
export interface TokenChange<T> {
  readonly result: T;
  readonly shared: boolean;
}
