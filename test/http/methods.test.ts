import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { Router } from '@koa/router';
import { handleUnrouted } from '../../src/http/middleware.ts';
import { serveHandler, type TestServer } from '../support/handler.ts';

describe('a request that no route handles', () => {
  let server: TestServer;
  before(async () => {
    const router = new Router();
    router.get('/read', (ctx) => (ctx.body = 'text'));
    router.post('/write', (ctx) => (ctx.body = 'text'));
    const routes = router.routes();
    server = await serveHandler(
      async (ctx, next) => await routes(ctx as never, next),
      handleUnrouted([router], 'read /read'),
    );
  });

  it('is a 404 where there is nothing', async () => {
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const { status, body } = await server.send(method, '/nothing');
      strictEqual(status, 404);
      match(body.toString(), /there is nothing at \\"\/nothing\\": read \/read/);
    }
  });

  it('is a 405 with the methods of the path', async () => {
    for (const [method, path, allow] of [
      ['POST', '/read', 'GET, HEAD, OPTIONS'],
      ['DELETE', '/read', 'GET, HEAD, OPTIONS'],
      ['GET', '/write', 'OPTIONS, POST'],
    ] as const) {
      const { status, headers } = await server.send(method, path);
      deepStrictEqual([status, headers.allow], [405, allow]);
    }
  });
});
