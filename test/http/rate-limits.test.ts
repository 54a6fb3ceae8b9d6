import { strictEqual } from 'node:assert/strict';
import { once } from 'node:events';
import Koa, { type Context } from 'koa';
import { IncomingMessage, ServerResponse } from 'node:http';
import { connect, Socket } from 'node:net';
import { toProblem } from '../../src/http/problem.ts';
import { ClientPlaces, RateLimit } from '../../src/http/limits.ts';
import { eventually } from '../support/eventually.ts';
import { serveHandler } from '../support/handler.ts';

describe('a rate limit', () => {
  const request = new IncomingMessage(new Socket());
  const ctx: Context = new Koa().createContext(request, new ServerResponse(request));
  const statusOf = (limit: RateLimit, key: string): number => {
    try {
      limit.count(ctx, key, 'wait');
      return 200;
    } catch (error) {
      return toProblem(error).status;
    }
  };

  it('drops the oldest keys when there are more than its memory bound', () => {
    const limit = new RateLimit('posts', 1);
    statusOf(limit, 'first');
    for (let i = 0; i < 60_000; i++) statusOf(limit, `address ${i}`);
    strictEqual(statusOf(limit, 'address 59999'), 429);
    strictEqual(statusOf(limit, 'first'), 200);
  });
});

describe('the place of a response', () => {
  it('is left to others by a client that goes before the response begins', async () => {
    const places = new ClientPlaces({ what: 'exports', max: 1, maxPerClient: 1 });
    let left = 0;
    const server = await serveHandler(async (ctx) => {
      if (ctx.path === '/left') await once(ctx.res, 'close');
      places.take(ctx);
      if (ctx.path === '/left') left++;
      ctx.body = 'taken';
    });
    const client = connect(server.port, '127.0.0.1');
    client.end('GET /left HTTP/1.1\r\nHost: x\r\n\r\n', () => client.destroy());
    await eventually(() => left === 1);
    strictEqual((await server.get()).status, 200);
  });
});
