import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { BotIndex, IndexedBot } from '../../catalogue/store/bot-index.ts';
import { pathOf } from '../../catalogue/page/layout.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import type { BotId } from '../../bot/id.ts';
import type { UpdateValues } from '../../bot/schema-types.ts';
import { authenticate, type AuthenticationOptions } from './authentication.ts';
import type { RateLimit } from '../rate-limits.ts';
import { findKnownBot } from './read-routes.ts';
import { listEtags } from '../representation.ts';
import { type BodyRules, readText } from '../request-body.ts';
import { parseUpdate } from './update-body.ts';

/**
 * Applies an update, all or nothing, and makes it durable. Returns the commit of its content; null where no content
 * changed.
 * @param isExpected whether the bot is the one the client read
 * @throws {UnknownBotError} when the bot has gone since it was looked up
 * @throws {PreconditionFailedError} when `isExpected` returns false, or the bot changes before the update is made
 * @throws {WritesUnavailableError} when nothing can be written now, or the bot's file is faulty
 */
export type ApplyUpdate = (
  id: BotId,
  values: UpdateValues,
  isExpected?: (bot: IndexedBot) => boolean,
) => Promise<string | null>;

export interface UpdateRouteOptions extends AuthenticationOptions {
  readonly bots: BotIndex;
  readonly applyUpdate: ApplyUpdate;
  /** Returns the settings in force. */
  readonly settings: () => CatalogueSettings;
  /** Limits posts by bot. */
  readonly posts: RateLimit;
  /**
   * Resolves when the response may be sent, after the change is durable: true if the Git server has it. Null where the
   * operator does not require that.
   */
  readonly acknowledge: (() => Promise<boolean>) | null;
}

/** The path of an update. */
export const updatePath = '/api/v2/bots/:id';

/** The same path as clients spell it mostly. */
export const usualUpdatePath = /^\/api\/v2\/bots\/(\d+)$/;

/**
 * Adds the only write of the API: an owner posts a count or changes top-level keys. Returns what the route calls with the
 * ID in the path.
 */
export function addUpdateRoute(
  router: Router,
  options: UpdateRouteOptions,
): (ctx: Context, id: string) => Promise<void> {
  const { bots, applyUpdate, settings, posts, acknowledge } = options;
  const update = async (ctx: Context, id: string): Promise<void> => {
    const bot = findKnownBot(bots, id);
    await authenticate(ctx, bot.id, options);
    posts.count(ctx, bot.id, 'post less often, every half hour is plenty');
    const hasArrived = ctx.req.complete;
    const body = await readText(ctx, bodyRules);
    // The token may have ended while the body came.
    if (!hasArrived) await authenticate(ctx, findKnownBot(bots, id).id, options);
    const values = parseUpdate(
      body,
      settings().categories,
      () => `edit ${findMainPath(bot)} by pull request`,
    );
    const commit = await applyUpdate(bot.id, values, readExpectation(ctx));
    const isAcknowledged = acknowledge === null || (await acknowledge());
    ctx.status = isAcknowledged ? 200 : 202;
    ctx.res.setHeader('Cache-Control', 'no-store');
    ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8');
    ctx.body = JSON.stringify({ bot: values, commit, ...(!isAcknowledged && { note: savedHere }) });
  };
  router.post(updatePath, async (ctx) => await update(ctx, ctx.params['id'] ?? ''));
  return update;
}

const savedHere =
  'the change is saved; the Git server does not have it yet, it is pushed later: do not send it again';

/** More than any update needs. */
const bodyRules: BodyRules = {
  type: ['application/json', 'JSON'],
  limit: 64 * 1024,
  whenTooLarge: 'send only the keys that change',
};

/** Returns the condition in If-Match: whether a bot's ETag, in any coding, is in its list. */
function readExpectation(ctx: Context): ((bot: IndexedBot) => boolean) | undefined {
  const condition = ctx.headers['if-match']?.trim() ?? '';
  if (condition === '' || condition === '*') return undefined;
  const expected = condition.split(',').map((etag) => etag.trim());
  return ({ digest }) => listEtags(digest).some((etag) => expected.includes(etag));
}

function findMainPath({ id, files }: IndexedBot): string {
  const main = files.find((file) => file.main);
  return main ? pathOf(id, main.locale) : `the files of ${id}`;
}
