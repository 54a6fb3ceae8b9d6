import { strictEqual } from 'node:assert/strict';
import Koa, { type Context } from 'koa';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { problemOf } from '../../src/http/problem-response.ts';
import { RateLimit } from '../../src/http/rate-limits.ts';

describe('a rate limit', () => {
  const request = new IncomingMessage(new Socket());
  const ctx: Context = new Koa().createContext(request, new ServerResponse(request));
  const statusOf = async (limit: RateLimit, key: string): Promise<number> =>
    await limit.count(ctx, key, 'wait').then(
      () => 200,
      (error: unknown) => problemOf(error).status,
    );

  it('lets so many through a minute, each key by itself', async () => {
    const limit = new RateLimit('posts', 2);
    strictEqual(await statusOf(limit, 'a'), 200);
    strictEqual(await statusOf(limit, 'a'), 200);
    strictEqual(ctx.response.get('RateLimit'), '"posts";r=0;t=60');
    strictEqual(await statusOf(limit, 'a'), 429);
    strictEqual(await statusOf(limit, 'b'), 200);
  });

  it('forgets the keys of longest ago where strangers come with more of them than memory is set aside for', async () => {
    const limit = new RateLimit('posts', 1);
    await statusOf(limit, 'first');
    for (let i = 0; i < 60_000; i++) await statusOf(limit, `address ${i}`);
    strictEqual(await statusOf(limit, 'address 59999'), 429);
    strictEqual(await statusOf(limit, 'first'), 200);
  });
});
