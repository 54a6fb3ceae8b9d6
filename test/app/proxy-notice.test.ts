import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { createProxyNotice } from '../../src/app/health.ts';
import { serveHandler } from '../support/handler.ts';
import { recordedLog } from '../support/recorded-log.ts';

describe('the notice of a proxy', () => {
  const unset = /^requests come through a proxy \((.+)\), but BOTSHELF_BASE_URL is not set/;
  const untrusted =
    /^a request has X-Forwarded-For, but BOTSHELF_TRUST_PROXY is off: if your proxy sent it, .+; set it to on if so/;
  const set = { baseUrl: 'https://bots.example.org', isBaseUrlSet: true, trustProxy: true };
  const cases = [
    ...['X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Forwarded-For', 'Forwarded', 'Via'].map(
      (name) =>
        [`of ${name}, where no public address is set`, { isBaseUrlSet: false }, name, [unset]] as const,
    ),
    ['of X-Forwarded-For, where it is not trusted', { trustProxy: false }, 'X-Forwarded-For', [untrusted]],
    ['of both', { isBaseUrlSet: false, trustProxy: false }, 'X-Forwarded-For', [unset, untrusted]],
    ['of no other header, where it is not trusted', { trustProxy: false }, 'Via', []],
    ['of none, where all is set', {}, 'X-Forwarded-For', []],
  ] as const;

  for (const [title, config, name, expected] of cases)
    it(`comes with the first request, once, and leaves the service ready: ${title}`, async () => {
      const log = recordedLog();
      const notice = createProxyNotice({ ...set, ...config }, log);
      const server = await serveHandler(
        async (ctx, next) => {
          notice.check(ctx);
          await next();
        },
        (ctx) => (ctx.body = 'text'),
      );
      await server.get({ Host: 'bots.example.org' });
      deepStrictEqual(notice.health()['address'], { ready: true, faults: [] });
      for (const value of ['1.1 proxy', 'b']) strictEqual((await server.get({ [name]: value })).status, 200);
      const { ready, faults = [] } = notice.health()['address'] ?? {};
      strictEqual(ready, true);
      deepStrictEqual(
        log.lines,
        faults.map((fault) => `warn: ${fault}`),
      );
      strictEqual(faults.length, expected.length);
      for (const [i, pattern] of expected.entries()) match(faults[i] ?? '', pattern);
      if (expected[0] === unset) strictEqual(unset.exec(faults[0] ?? '')?.[1], name);
    });
});
