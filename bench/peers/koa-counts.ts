import { Router } from '@koa/router';
import Koa from 'koa';
import getRawBody from 'raw-body';
import type { BotId } from '../../src/bot/id.ts';
import { silentLog } from '../../src/lib/log.ts';
import { Journal } from '../../src/counts/journal.ts';

/** The least that Koa, its router and the journal cost: neither token nor validation, no limits, no metrics. */
const journal = new Journal({
  folder: process.argv[2] ?? '',
  log: silentLog,
  onDurable: () => {},
});
const router = new Router();
router.get('/flushes', (ctx) => {
  ctx.body = journal.writes;
});
router.post('/api/v2/bots/:id', async (ctx) => {
  const { bot } = JSON.parse(await getRawBody(ctx.req, 'utf8')) as { bot: { count: number } };
  await journal.append({ id: ctx.params['id'] as BotId, count: bot.count, countedAt: Date.now() });
  ctx.body = { bot, commit: null };
});
new Koa().use(router.routes()).listen(Number(process.env['PORT']), '127.0.0.1');
