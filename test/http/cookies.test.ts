import { strictEqual } from 'node:assert/strict';
import { createCookie, readCookie } from '../../src/http/cookies.ts';
import { serveHandler } from '../support/handler.ts';

describe('cookies', () => {
  it('are read by their whole name', async () => {
    const server = await serveHandler(
      (ctx) => (ctx.body = { text: readCookie(ctx, createCookie('botshelf', '')) ?? null }),
    );
    for (const [cookie, text] of [
      ['__Host-botshelf=a.b; other=c', 'a.b'],
      ['__Host-botshelf-login=a.b', null],
      ['x__Host-botshelf=a.b', null],
    ] as const)
      strictEqual((await server.get({ Cookie: cookie })).body.toString(), JSON.stringify({ text }));
  });
});
