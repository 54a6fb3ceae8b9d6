import type { Router } from '@koa/router';
import type { Context, Next } from 'koa';
import { UnknownBotError } from '../../bot/errors.ts';
import { parseBotId } from '../../bot/id.ts';
import type { BotIndex, IndexedBot } from '../../catalogue/store/bot-index.ts';
import type { BotLists } from '../../catalogue/lists/bot-lists.ts';
import type { List } from '../../catalogue/lists/json-list.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import type { Current } from '../../lib/current-cache.ts';
import { toAddressGroup } from '../../lib/network-address.ts';
import { formatCursor, parseListQuery } from './list-query.ts';
import { ProblemError } from '../problem.ts';
import { parseQuery } from '../query.ts';
import { readHeaders, send } from '../representation.ts';

/**
 * Adds the reads of both versions: v1 lists the markdown files, v2 lists the bots, and both return one bot.
 * @param baseUrl the public address, without a slash at its end
 * @param settings returns those in force
 */
export function addReadRoutes(
  router: Router,
  bots: BotIndex,
  lists: BotLists,
  baseUrl: string,
  settings: () => CatalogueSettings,
): void {
  router.get('/api/v1/bots', refuseQuery, async (ctx) => {
    await sendList(ctx, await lists.files(toAddressGroup(ctx.ip)), baseUrl);
  });
  router.get('/api/v2/bots', async (ctx) => {
    const inForce = settings();
    const list = await lists.elements(parseListQuery(parseQuery(ctx), inForce), toAddressGroup(ctx.ip));
    const current = (): boolean => list.current() && settings() === inForce;
    await sendList(ctx, { ...list, current }, baseUrl);
  });
  router.get(['/api/v1/bots/:id', '/api/v2/bots/:id'], refuseQuery, async (ctx) => {
    const bot = findKnownBot(bots, ctx.params['id'] ?? '');
    const current = (): boolean => bots.get(bot.id) === bot;
    await send(ctx, { type: 'application/json', digest: bot.digest, body: bot.record, current });
  });
}

/**
 * Returns the bot that a path names.
 * @throws {ProblemError} unknown-bot, when the text is no id
 * @throws {UnknownBotError}
 */
export function findKnownBot(bots: Pick<BotIndex, 'get'>, text: string): IndexedBot {
  const id = parseBotId(text);
  if (id === undefined) {
    throw new ProblemError(
      'unknown-bot',
      `${JSON.stringify(text.slice(0, 60))} is not a bot ID: use 1 to 20 digits`,
    );
  }
  const bot = bots.get(id);
  if (bot === undefined) throw new UnknownBotError(id);
  return bot;
}

async function sendList(ctx: Context, list: List & Current, baseUrl: string): Promise<void> {
  const { digest, body, total, next, corrected, current } = list;
  const headers: Record<string, string> = { ...readHeaders, 'X-Total-Count': String(total) };
  if (corrected !== undefined) headers['X-Searched-For'] = encodeURIComponent(corrected);
  if (next) {
    const params = parseQuery(ctx);
    params.set('after', formatCursor(next));
    headers['Link'] = `<${baseUrl}${ctx.path}?${params.toString()}>; rel="next"`;
  }
  await send(ctx, { type: 'application/json', digest, body, headers, current });
}

/** Refuses every parameter, for an address that takes none. @throws {ProblemError} bad-query */
export async function refuseQuery(ctx: Context, next: Next): Promise<void> {
  const [name] = parseQuery(ctx).keys();
  if (name !== undefined) {
    const detail = 'this address takes no parameters: leave it out';
    throw ProblemError.ofErrors('bad-query', [{ pointer: `?${name.slice(0, 50)}`, detail }]);
  }
  await next();
}
