import { deepStrictEqual, strictEqual } from 'node:assert/strict';
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

  it('of a client is that of an address, of a /64, and four times that of a /48', () => {
    const limit = new RateLimit('logins', 2);
    const times = (ips: readonly string[]): number =>
      ips.filter((ip) => {
        try {
          limit.countClient(Object.create(ctx, { ip: { value: ip } }) as Context, 'wait');
          return true;
        } catch {
          return false;
        }
      }).length;
    const many = (make: (i: number) => string): string[] => Array.from({ length: 50 }, (_, i) => make(i));
    deepStrictEqual(
      [
        times(many(() => '192.0.2.1')),
        times(many((i) => `2001:db8:1:1::${i}`)),
        times(many(() => '2001:db8:1:2::1')),
        times(many((i) => `2001:db8:2:${i}::1`)),
        times(many((i) => `2001:db8:${i + 3}::1`)),
      ],
      [2, 2, 2, 8, 50],
    );
  });
});

describe('the place of a response', () => {
  it('is one of a few of a client, of a quarter of its network, and of all', () => {
    const places = new ClientPlaces({ what: 'exports', max: 8, maxPerClient: 1 });
    const take = (ip: string): boolean => {
      try {
        places.take({ ip, res: new ServerResponse(new IncomingMessage(new Socket())) });
        return true;
      } catch {
        return false;
      }
    };
    const ofSite = Array.from({ length: 1000 }, (_, i) => `2001:db8:1:${i.toString(16)}::1`);
    strictEqual(ofSite.filter((ip) => take(ip)).length, 2);
    for (const ip of ['192.0.2.1', '2001:db8:2::1']) deepStrictEqual([take(ip), take(ip)], [true, false]);
    strictEqual(take('2001:db8:2::2'), false);
    strictEqual(Array.from({ length: 9 }, (_, i) => `198.51.100.${i}`).filter((ip) => take(ip)).length, 4);
  });

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
