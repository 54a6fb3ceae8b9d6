import { strictEqual } from 'node:assert/strict';
import Koa, { type Context } from 'koa';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { toProblem } from '../../src/http/problem.ts';
import { RateLimit } from '../../src/http/limits.ts';

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
