import type { Router } from '@koa/router';
import { type BotChange, readBotChanges } from '../../catalogue/changes/bot-changes.ts';
import type { ReadonlyChanges } from '../../catalogue/changes/change-index.ts';
import type { ListParameter } from '../../catalogue/lists/parameters.ts';
import type { BotIndex } from '../../catalogue/store/bot-index.ts';
import type { StatedPermissions } from '../../bot/permissions.ts';
import { ProblemError } from '../problem.ts';
import { parseQuery, readParameters } from '../query.ts';
import { createDocument, readHeaders, send } from '../representation.ts';
import { findKnownBot } from './read-routes.ts';

/** Adds what changed in a bot, page by page. @param baseUrl the public address, without a slash at its end */
export function addChangesRoute(
  router: Router,
  bots: BotIndex,
  index: ReadonlyChanges,
  baseUrl: string,
): void {
  router.get('/api/v2/bots/:id/changes', async (ctx) => {
    const bot = findKnownBot(bots, ctx.params['id'] ?? '');
    const { values, errors } = readParameters(parseQuery(ctx), changeParameters, null);
    if (errors.length > 0) throw ProblemError.ofErrors('bad-query', errors);
    ensureComplete(index);
    const stamp = index.stamp(bot.id);
    const page = await readBotChanges(index, bot.id, values['after'] as string | undefined);
    const body = Buffer.from(JSON.stringify(page.changes.map(toRecord)));
    const next = page.next && { Link: `<${baseUrl}${ctx.path}?after=${page.next}>; rel="next"` };
    const current = (): boolean => bots.get(bot.id) === bot && index.stamp(bot.id) === stamp;
    const headers = { ...readHeaders, ...next };
    await send(ctx, { ...createDocument('application/json', body), headers, current });
  });
}

/** @throws {ProblemError} starting, until all of the history was read */
export function ensureComplete(index: ReadonlyChanges): void {
  if (index.isComplete) return;
  throw new ProblemError('starting', 'the history is still being read: try again in a few minutes', {
    headers: { 'Retry-After': '60' },
  });
}

/** The parameters of GET /api/v2/bots/:id/changes. */
export const changeParameters: ReadonlyMap<string, ListParameter<unknown, null>> = new Map([
  [
    'after',
    {
      parse: ([text]) => text,
      description: 'Where the next page begins. Follow the `Link` header and you need not look at it.',
      schema: { type: 'string' },
    },
  ],
]);

function toRecord({ commit, time, by, isNewBot, pages, invite }: BotChange): object {
  return {
    commit,
    at: new Date(time).toISOString(),
    by,
    newBot: isNewBot,
    otherBot: invite.isOtherBot,
    permissions: { added: listPermissionNames(invite.added), removed: listPermissionNames(invite.removed) },
    pages: pages.map(({ locale, state, fields }) => ({ locale, state, fields })),
  };
}

function listPermissionNames({ groups, unknownBits }: StatedPermissions): string[] {
  return [...groups.flatMap(({ permissions }) => permissions), ...unknownBits.map((bit) => `bit ${bit}`)];
}
