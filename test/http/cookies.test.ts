import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { createCookie, readCookie, setCookie } from '../../src/http/cookies.ts';
import { serveHandler } from '../support/handler.ts';

describe('cookies', () => {
  it('are set for this host only, over https, out of reach of scripts, and deleted with null', async () => {
    const server = await serveHandler((ctx) => {
      setCookie(ctx, createCookie('botshelf', ''), { text: 'a.b', seconds: 60 });
      setCookie(ctx, createCookie('botshelf-login', ''), null);
      setCookie(ctx, createCookie('botshelf', '/shelf'), { text: 'a.b', seconds: 60 });
      ctx.body = 'text';
    });
    deepStrictEqual((await server.get()).headers['set-cookie'], [
      '__Host-botshelf=a.b; Path=/; Max-Age=60; Secure; HttpOnly; SameSite=Lax',
      '__Host-botshelf-login=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Lax',
      '__Secure-botshelf=a.b; Path=/shelf; Max-Age=60; Secure; HttpOnly; SameSite=Lax',
    ]);
    await server.close();
  });

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
    await server.close();
  });
});
