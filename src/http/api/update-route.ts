import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { BotId } from '../../bot/id.ts';
import type { BotIndex, IndexedBot } from '../../catalogue/index/bot-index.ts';
import { pathOf } from '../../catalogue/page/layout.ts';
import type { Tokens } from '../../state/tokens.ts';
import type { Updates } from '../../owners/updates.ts';
import { authenticate } from './authentication.ts';
import type { RateLimit } from '../rate-limits.ts';
import { knownBot } from './read-routes.ts';
import { etagsOf } from '../representation.ts';
import { type BodyRules, readText } from '../request-body.ts';
import { parseUpdate } from './update-body.ts';

export interface UpdateRouteOptions {
  readonly bots: BotIndex;
  readonly updates: Updates;
  readonly tokens: Pick<Tokens, 'checkToken'>;
  /** Posts by bot. */
  readonly posts: RateLimit;
  /** Refused tokens by address. */
  readonly badTokens: RateLimit;
  /** How the owner of a bot gets its token. */
  readonly tokenAdvice: (id: BotId) => string;
  /**
   * Resolves when the answer may be sent, once the change is durable: with whether it is wherever the operator wants it
   * to be before that.
   */
  readonly acknowledge: () => Promise<boolean>;
}

/** The one write of the interface: an owner posts a count or changes top-level keys. */
export function addUpdateRoute(router: Router, options: UpdateRouteOptions): void {
  const { bots, updates, tokens, posts, badTokens, tokenAdvice, acknowledge } = options;
  router.post('/api/v2/bots/:id', async (ctx) => {
    const bot = knownBot(bots, ctx.params['id'] ?? '');
    await authenticate(ctx, bot.id, tokens, badTokens, () => tokenAdvice(bot.id));
    await posts.count(ctx, bot.id, 'post less often, every half hour is plenty');
    const values = parseUpdate(
      await readText(ctx, bodyRules),
      () => `edit ${mainPathOf(bot)} by pull request`,
    );
    const commit = await updates.apply(bot.id, values, expectation(ctx));
    const isEverywhere = await acknowledge();
    ctx.set('Cache-Control', 'no-store');
    ctx.status = isEverywhere ? 200 : 202;
    ctx.body = { bot: values, commit, ...(!isEverywhere && { note: savedHere }) };
  });
}

const savedHere =
  'the change is saved, but the Git server does not have it yet and gets it later: nothing needs to be sent again';

/** More than any update needs. */
const bodyRules: BodyRules = {
  type: ['application/json', 'JSON'],
  limit: 64 * 1024,
  whenTooLarge: 'send only the keys that change',
};

/** What If-Match says: true for a bot whose ETag, in any coding, is among those listed. */
function expectation(ctx: Context): ((bot: IndexedBot) => boolean) | undefined {
  const condition = ctx.get('If-Match').trim();
  if (condition === '' || condition === '*') return undefined;
  const expected = condition.split(',').map((etag) => etag.trim());
  return ({ digest }) => etagsOf(digest).some((etag) => expected.includes(etag));
}

function mainPathOf({ id, files }: IndexedBot): string {
  const main = files.find((file) => file.main);
  return main ? pathOf(id, main.locale) : `the files of ${id}`;
}
