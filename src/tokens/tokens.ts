import { computeTimeAfter } from '../bot/clock.ts';
import type { BotId } from '../bot/id.ts';
import { createToken, type Token, type TokenDigest, computeDigest } from '../bot/token.ts';
import type { CommittedState, StateChange } from '../counts/state-ref.ts';
import type { State } from '../counts/state.ts';

/** The person or account that changes a token, for the subject of the commit, such as `account 190519304972664832`. */
export type TokenChanger = string;

/**
 * Issues a new token to a bot and ends the one it had. The new token's digest is committed when this resolves.
 * @throws what the state ref does when it cannot be read or written
 */
export async function issueToken(committed: CommittedState, id: BotId, by: TokenChanger): Promise<Token> {
  const token = createToken();
  const digest = computeDigest(token);
  const subject = formatSubject(`Issue a token to ${id}`, by);
  await committed.commit(() => createTokenChange(committed.state, id, digest), subject);
  return token;
}

/**
 * Revokes a bot's token. Returns whether it had one.
 * @throws what the state ref does when it cannot be read or written
 */
export async function revokeToken(committed: CommittedState, id: BotId, by: TokenChanger): Promise<boolean> {
  return (await revokeTokens(committed, [id], by)).length > 0;
}

/**
 * Revokes the tokens of bots in one commit. Returns the bots that had one.
 * @throws what the state ref does when it cannot be read or written
 */
export async function revokeTokens(
  committed: CommittedState,
  ids: readonly BotId[],
  by: TokenChanger,
): Promise<readonly BotId[]> {
  const what = ids.length === 1 ? `the token of ${ids[0]}` : `the tokens of ${ids.length} bots`;
  let revoked: readonly BotId[] = [];
  const plan = (): StateChange => {
    revoked = ids.filter((id) => committed.state.hasToken(id));
    return new Map(revoked.flatMap((id) => [...createTokenChange(committed.state, id, null)]));
  };
  await committed.commit(plan, formatSubject(`Revoke ${what}`, by));
  return revoked;
}

function formatSubject(change: string, by: TokenChanger): string {
  return `${change}, by ${by.replace(/[\p{Cc}\p{Cf}]/gu, ' ')}`;
}

function createTokenChange(state: State, id: BotId, digest: TokenDigest | null): StateChange {
  const known = state.token(id);
  const generation = (known?.generation ?? 0) + 1;
  return new Map([[id, { token: { digest, at: computeTimeAfter(known?.at), generation } }]]);
}

/** The tokens of all bots, of which each has one at most. */
export interface Tokens {
  /**
   * Returns whether `token` is the current token of a bot.
   * @param address of the client: few unknown tokens of one address group are looked up at the same time
   * @throws {BotshelfError} unavailable, when the tokens cannot be read
   */
  checkToken(id: BotId, token: Token, address: string): Promise<TokenCheck>;

  /**
   * Returns the bot with this current token, or undefined.
   * @param address as that of checkToken
   * @throws {BotshelfError} unavailable, when the tokens cannot be read
   */
  findHolder(token: Token, address: string): Promise<BotId | undefined>;

  /**
   * Returns the status of a bot's token.
   * @throws {BotshelfError} unavailable, when the tokens cannot be read
   */
  tokenInfo(id: BotId): Promise<TokenInfo>;

  /**
   * Issues a new token to a bot and ends the one it had. The token's digest is committed when this resolves.
   * @throws {BotshelfError} unavailable, when it cannot be committed
   */
  issueToken(id: BotId, by: TokenChanger): Promise<TokenChange<Token>>;

  /**
   * Revokes a bot's token. The result is whether it had one.
   * @throws {BotshelfError} unavailable, when that cannot be committed
   */
  revokeToken(id: BotId, by: TokenChanger): Promise<TokenChange<boolean>>;
}

/** Whether a token is valid for a bot, belongs to another bot, or is unknown. */
export type TokenCheck = 'valid' | 'other bot' | 'unknown';

/** The status of a bot's token. Times are milliseconds since the epoch. */
export interface TokenInfo {
  /** When it was issued; undefined when the bot has no token. */
  readonly issuedAt: number | undefined;
  /** When it was last used, as far as known: a restart forgets uses that changed no count. */
  readonly lastUsed: number | undefined;
}

/** The result of a change of a token, and whether it was pushed: not while the remote is unreachable. */
export interface TokenChange<T> {
  readonly result: T;
  readonly shared: boolean;
}
