import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { send } from '../../src/http/representation.ts';
import { serveHandler, type TestServer } from '../support/handler.ts';

describe('the response cache', () => {
  let server: TestServer;
  /** The number of responses that the application computed. */
  let computed: number;
  let current: boolean;
  beforeEach(async () => {
    [computed, current] = [0, true];
    server = await serveHandler(async (ctx) => {
      computed++;
      await send(ctx, {
        type: 'text/html',
        digest: `d${computed}`,
        body: Buffer.from(`${computed}`),
        current: () => current,
      });
    });
  });

  const text = async (
    headers: Readonly<Record<string, string>> = {},
    path = '/',
    method = 'GET',
  ): Promise<string> => (await server.send(method, path, headers)).body.toString();

  it('sends the same response again while it is current, and computes the next one', async () => {
    deepStrictEqual([await text(), await text()], ['1', '1']);
    current = false;
    strictEqual(await text(), '2');
  });

  it('keeps a response for each header that it depends on', async () => {
    const keys = [{}, { Accept: 'text/html' }, { 'Accept-Language': 'fr' }, { 'Accept-Encoding': 'gzip' }];
    for (const headers of [...keys, ...keys]) await text(headers);
    strictEqual(computed, keys.length);
    await text({ 'User-Agent': 'x', Referer: 'y' });
    strictEqual(computed, keys.length);
  });

  it('ignores the language below /api/, where responses do not depend on it', async () => {
    for (const language of ['fr', 'de']) await text({ 'Accept-Language': language }, '/api/v2/bots');
    strictEqual(computed, 1);
  });

  it('sends a 304 for the stored ETag, and leaves every other condition to the application', async () => {
    await text();
    strictEqual((await server.get({ 'If-None-Match': '"d1"' })).status, 304);
    strictEqual(computed, 1);
    await server.get({ 'If-None-Match': '"d0", "d1"' });
    strictEqual(computed, 2);
  });

  it('leaves requests with a cookie, and all but GET, to the application', async () => {
    await text();
    await text({ Cookie: 'a=b' });
    await text({}, '/', 'HEAD');
    strictEqual(computed, 3);
  });

  it('keeps no response to an address, or to headers, that are very long', async () => {
    for (let round = 0; round < 2; round++) {
      await text({}, `/${'a'.repeat(1000)}`);
      await text({ Accept: `text/html, ${'x'.repeat(1000)}` });
    }
    strictEqual(computed, 4);
  });
});
