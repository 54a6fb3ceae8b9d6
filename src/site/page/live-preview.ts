import { PassThrough } from 'node:stream';
import type { Router } from '@koa/router';
import type { BotId } from '../../bot/id.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';

/**
 * Sends open pages a server-sent event when a bot is edited: `change`, with the bot's ID as data. For editing the
 * catalogue on one's own machine; off on a public site.
 * @returns a function that ends all streams, so that the server can close
 */
export function addLivePreview(router: Router, store: Catalogue['store']): () => void {
  const streams = new Set<PassThrough>();
  const shown = new Map<BotId, string>();
  store.on('read', (id) => {
    const state = JSON.stringify([store.bots.get(id)?.digest, store.faultsOf(id)]);
    if (shown.get(id) === state) return;
    shown.set(id, state);
    for (const stream of streams) stream.write(`event: change\ndata: ${id}\n\n`);
  });
  router.get('/live', (ctx) => {
    const stream = new PassThrough();
    streams.add(stream);
    stream.once('close', () => streams.delete(stream));
    stream.write('retry: 500\n\n');
    // No timeout, because nothing is sent while nobody edits.
    ctx.req.setTimeout(0);
    ctx.set('Cache-Control', 'no-store');
    ctx.type = 'text/event-stream';
    ctx.body = stream;
  });
  return () => {
    for (const stream of streams) stream.end();
  };
}
