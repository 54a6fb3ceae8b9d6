import type { BotId } from '../bot/id.ts';
import { isSameDigest, type Token, computeDigest } from '../bot/token.ts';
import type { StateStore } from '../counts/state-store.ts';
import { issueToken, revokeToken, type TokenChanger } from './token-changes.ts';
import type { TokenCheck, TokenInfo } from './tokens.ts';

/** The tokens of all bots as this clone has them: their digests are in the state. */
export class TokenStore {
  readonly #state: StateStore;
  readonly #lastUsed = new Map<BotId, number>();

  constructor(state: StateStore) {
    this.#state = state;
  }

  /** As `Tokens.checkToken`, as any process had committed it 5 ms ago. */
  async checkToken(id: BotId, token: Token): Promise<TokenCheck> {
    const reading = this.#state.follow();
    if (reading !== undefined) await reading;
    const digest = computeDigest(token);
    const current = this.#state.tokens.token(id)?.digest ?? null;
    if (current !== null && isSameDigest(current, digest)) {
      this.#lastUsed.set(id, Date.now());
      return 'valid';
    }
    return this.#state.tokens.holder(digest) === undefined ? 'unknown' : 'other bot';
  }

  /** As `Tokens.tokenInfo`, as any process had committed it 5 ms ago. */
  async tokenInfo(id: BotId): Promise<TokenInfo> {
    await this.#state.follow();
    const token = this.#state.tokens.token(id);
    if (token === undefined || token.digest === null) return { issuedAt: undefined, lastUsed: undefined };
    const uses = [this.#lastUsed.get(id), this.#state.latest(id)?.at].filter((at) => at !== undefined);
    const lastUsed = Math.max(...uses);
    return { issuedAt: token.at, lastUsed: lastUsed >= token.at ? lastUsed : undefined };
  }

  /** As `Tokens.issueToken`, in this clone. */
  async issueToken(id: BotId, by: TokenChanger): Promise<Token> {
    const token = await this.#state.write(async (committed) => await issueToken(committed, id, by));
    this.#lastUsed.delete(id);
    return token;
  }

  /** As `Tokens.revokeToken`, in this clone. */
  async revokeToken(id: BotId, by: TokenChanger): Promise<boolean> {
    const had = await this.#state.write(async (committed) => await revokeToken(committed, id, by));
    this.#lastUsed.delete(id);
    return had;
  }
}
