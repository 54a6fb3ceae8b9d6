import { PassThrough } from 'node:stream';
import type { Router } from '@koa/router';
import type { BotId } from '../../bot/id.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';

/**
 * Sends open pages a server-sent event when a bot is edited: `change`, with the bot's ID as data. For editing the
 * catalogue on one's own machine; off on a public site.
 */
export class LivePreview {
  readonly #streams = new Set<PassThrough>();

  constructor(store: Catalogue['store']) {
    const shown = new Map<BotId, string>();
    store.on('read', (id) => {
      const state = JSON.stringify([store.bots.get(id)?.digest, store.faultsOf(id)]);
      if (shown.get(id) === state) return;
      shown.set(id, state);
      for (const stream of this.#streams) stream.write(`event: change\ndata: ${id}\n\n`);
    });
  }

  addRoute(router: Router): void {
    router.get('/live', (ctx) => {
      const stream = new PassThrough();
      this.#streams.add(stream);
      stream.once('close', () => this.#streams.delete(stream));
      stream.write('retry: 500\n\n');
      // No timeout, because nothing is sent while nobody edits.
      ctx.req.setTimeout(0);
      ctx.set('Cache-Control', 'no-store');
      ctx.type = 'text/event-stream';
      ctx.body = stream;
    });
  }

  /** Ends all streams, so that the server can close. */
  close(): void {
    for (const stream of this.#streams) stream.end();
  }
}
