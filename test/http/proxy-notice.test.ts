import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { ProxyNotice } from '../../src/http/middleware.ts';
import { serveHandler } from '../support/handler.ts';
import { recordedLog } from '../support/recorded-log.ts';

describe('the notice of a proxy', () => {
  it('comes with the first request that has a header of a proxy, once', async () => {
    for (const name of ['X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Forwarded-For', 'Forwarded', 'Via']) {
      const log = recordedLog();
      const notice = new ProxyNotice('http://localhost:8080', log);
      const server = await serveHandler(
        async (ctx, next) => {
          notice.check(ctx);
          await next();
        },
        (ctx) => (ctx.body = 'text'),
      );
      await server.get({ Host: 'bots.example.org' });
      const faults = (): readonly string[] | undefined => notice.health()['address']?.faults;
      deepStrictEqual(faults(), []);
      for (const value of ['1.1 proxy', 'b']) strictEqual((await server.get({ [name]: value })).status, 200);
      deepStrictEqual(log.lines, [`warn: ${faults()?.[0]}`]);
      match(faults()?.[0] ?? '', new RegExp(`\\(${name}\\), but BOTSHELF_BASE_URL is not set`));
    }
  });
});
