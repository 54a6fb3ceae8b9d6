import { PassThrough } from 'node:stream';
import type { Router } from '@koa/router';
import type { BotId } from '../bot/id.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';

/**
 * Tells open pages which bot was edited, as server-sent events: `change` with the bot's id as its data. For who
 * edits the catalogue on a machine of their own; a public site goes without.
 */
export class LivePreview {
  readonly #streams = new Set<PassThrough>();

  constructor(catalogue: Pick<Catalogue, 'bots' | 'faultsOf' | 'onLook'>) {
    const shown = new Map<BotId, string>();
    catalogue.onLook((id) => {
      const state = JSON.stringify([catalogue.bots.get(id)?.digest, catalogue.faultsOf(id)]);
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
      // Nothing is sent for as long as nobody edits.
      ctx.req.setTimeout(0);
      ctx.set('Cache-Control', 'no-store');
      ctx.type = 'text/event-stream';
      ctx.body = stream;
    });
  }

  /** Ends what is open, so that the server can close. */
  close(): void {
    for (const stream of this.#streams) stream.end();
  }
}
