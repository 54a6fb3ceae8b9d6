import type { Context } from 'koa';
import type { BotId } from '../../bot/id.ts';
import { parseToken } from '../../bot/token.ts';
import { addressGroup } from '../../network-address.ts';
import type { Tokens } from '../../state/tokens.ts';
import { ProblemError } from '../problem.ts';
import type { RateLimit } from '../rate-limits.ts';

/**
 * Lets the owner of the bot pass. Only a refused token is counted against the address it came from: whoever
 * has a valid one is not kept out by a neighbour.
 * @throws {ProblemError} no-token, bad-token, other-token or too-many-requests
 */
export async function authenticate(
  ctx: Context,
  id: BotId,
  tokens: Pick<Tokens, 'checkToken'>,
  badTokens: RateLimit,
  tokenAdvice: () => string,
): Promise<void> {
  const text = ctx
    .get('Authorization')
    .trim()
    .replace(/^bearer\s+/i, '');
  if (text === '')
    throw new ProblemError(
      'no-token',
      `send the bot's token in the Authorization header: ${tokenAdvice()}`,
      challenge(),
    );
  const token = parseToken(text);
  const check = token === undefined ? 'unknown' : await tokens.checkToken(id, token);
  if (check === 'valid') return;

  await badTokens.count(
    ctx,
    addressGroup(ctx.ip),
    'too many refused tokens came from your address, look at what sends them',
  );
  if (check === 'other bot') {
    throw new ProblemError(
      'other-token',
      `this token is for another bot than ${id}: use the one of this bot`,
    );
  }
  const detail =
    token === undefined
      ? `this is no token, or not all of one: a token is bsh_ and 49 letters and digits; ${tokenAdvice()}`
      : `this token is not valid any more, or never was: ${tokenAdvice()}`;
  throw new ProblemError('bad-token', detail, challenge('error="invalid_token"'));
}

function challenge(parameter?: string): { headers: Record<string, string> } {
  return { headers: { 'WWW-Authenticate': `Bearer realm="botshelf"${parameter ? `, ${parameter}` : ''}` } };
}
