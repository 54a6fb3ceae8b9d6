import type { Context } from 'koa';
import type { BotId } from '../../bot/id.ts';
import { parseToken } from '../../bot/token.ts';
import { toAddressGroup } from '../../lib/network-address.ts';
import type { Tokens } from '../../tokens/tokens.ts';
import { ProblemError } from '../problem.ts';
import type { RateLimit } from '../rate-limits.ts';

/** Why a token is refused. */
export type TokenRefusal = 'missing' | 'malformed' | 'unknown' | 'other-bot';

export interface AuthenticationOptions {
  readonly tokens: Pick<Tokens, 'checkToken'>;
  /** Limits refused tokens by address. */
  readonly badTokens: RateLimit;
  /** Returns how the owner of a bot gets its token, for messages. */
  readonly tokenAdvice: (id: BotId) => string;
  /** Called for each token that is refused. */
  readonly onRefusal: (ctx: Context, id: BotId, reason: TokenRefusal) => void;
}

/**
 * Checks that the request has the token of the bot. Only refused tokens count against the client's address, so that an
 * owner with a valid token is not limited by others at the same address.
 * @throws {ProblemError} no-token, bad-token, other-token or too-many-requests
 */
export async function authenticate(
  ctx: Context,
  id: BotId,
  { tokens, badTokens, tokenAdvice, onRefusal }: AuthenticationOptions,
): Promise<void> {
  const { authorization = '' } = ctx.headers;
  const text = authorization.trim().replace(/^bearer(?:\s+|$)/i, '');
  if (text === '') {
    onRefusal(ctx, id, 'missing');
    throw new ProblemError(
      'no-token',
      `send the bot's token in the Authorization header: ${tokenAdvice(id)}`,
      createChallenge(),
    );
  }
  const token = parseToken(text);
  const check = token === undefined ? 'unknown' : await tokens.checkToken(id, token, ctx.ip);
  if (check === 'valid') return;

  onRefusal(ctx, id, token === undefined ? 'malformed' : check === 'other bot' ? 'other-bot' : 'unknown');
  badTokens.count(
    ctx,
    toAddressGroup(ctx.ip),
    'too many invalid tokens come from your address, check what sends them',
  );
  if (check === 'other bot') {
    throw new ProblemError('other-token', `this token belongs to another bot: use the token of ${id}`);
  }
  const detail =
    token === undefined
      ? `this is not a complete token: send bsh_ and its 49 letters and digits, alone or after Bearer; ${tokenAdvice(id)}`
      : `this token is unknown or was revoked: ${tokenAdvice(id)}`;
  throw new ProblemError('bad-token', detail, createChallenge('error="invalid_token"'));
}

function createChallenge(parameter?: string): { headers: Record<string, string> } {
  return { headers: { 'WWW-Authenticate': `Bearer realm="botshelf"${parameter ? `, ${parameter}` : ''}` } };
}
