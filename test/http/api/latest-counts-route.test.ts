import { deepStrictEqual, match, notStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Router } from '@koa/router';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-store.ts';
import { addLatestCountsRoute } from '../../../src/http/api/counts-routes.ts';
import { CurrentCache } from '../../../src/lib/current-cache.ts';
import { agePages } from '../../support/age-pages.ts';
import { serveHandler } from '../../support/handler.ts';
import { eventually } from '../../support/eventually.ts';
import { testRepository } from '../../support/repository.ts';
import { sampleBot } from '../../support/sample-bot.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { commitCounts } from '../../support/counts.ts';
import { issueTestToken } from '../../support/token.ts';

describe('GET /api/v2/counts', () => {
  let service: TestService;
  let root: string;
  const today = Math.floor(Date.now() / 1000 / 86_400) * 86_400;
  /** The counts of a commit are from 5 ms after its time. */
  const yesterday = (today - 86_400) * 1000 + 5;
  const iso = (time: number): string => new Date(time).toISOString();
  let token: string;
  const post = async (count: number): Promise<void> => {
    strictEqual((await service.post('9', token, { count })).status, 200);
  };

  before(async () => {
    const files = ['7', '8', '9'].map((id) => [pagePath(id), mainPage({ name: `Bot ${id}` })]);
    root = testRepository(Object.fromEntries(files)).folder;
    commitCounts(root, [
      { time: today - 86_400, counts: { 7: 70, 777: 4 } },
      { time: today - 86_399, counts: { 8: 80 } },
    ]);
    token = await issueTestToken(root, '9');
    service = await startTestService({}, { root });
  });

  it('returns the count of each listed bot that has one, and when it was reported', async () => {
    const { json, headers } = await service.request('/api/v2/counts');
    deepStrictEqual(json, {
      7: { count: 70, reportedAt: iso(yesterday) },
      8: { count: 80, reportedAt: iso(yesterday + 1000) },
    });
    strictEqual(headers.get('cache-control'), 'public, max-age=10');
    strictEqual(headers.get('access-control-allow-origin'), '*');
    match(headers.get('access-control-expose-headers') ?? '', /\bDate\b/);
  });

  it('returns a line a bot as CSV and NDJSON', async () => {
    const read = async (accept: string): Promise<string> => {
      const response = await fetch(`${service.address}/api/v2/counts`, { headers: { Accept: accept } });
      match(response.headers.get('content-type') ?? '', new RegExp(`^${accept}`));
      strictEqual(response.headers.get('vary'), 'Accept, Accept-Encoding');
      return await response.text();
    };
    const [first, second] = [iso(yesterday), iso(yesterday + 1000)];
    strictEqual(await read('text/csv'), `id,count,reportedAt\r\n7,70,${first}\r\n8,80,${second}\r\n`);
    strictEqual(
      await read('application/x-ndjson'),
      `{"id":"7","count":70,"reportedAt":"${first}"}\n{"id":"8","count":80,"reportedAt":"${second}"}\n`,
    );
  });

  it('are in a list that names them, whose ETag changes with each', async () => {
    const read = async (): Promise<Awaited<ReturnType<TestService['request']>>> =>
      await service.request('/api/v2/bots?fields=id,count&sort=-id');
    const { json, headers } = await read();
    deepStrictEqual(json, [
      { id: '9', count: null },
      { id: '8', count: 80 },
      { id: '7', count: 70 },
    ]);
    await post(4);
    // Lists with counts are made once a second at most.
    await eventually(async () => {
      const after = await read();
      deepStrictEqual(after.json[0], { id: '9', count: 4 });
      notStrictEqual(after.headers.get('etag'), headers.get('etag'));
    });
  });

  it('returns those that were reported later than a time', async () => {
    const since = async (time: string): Promise<string[]> =>
      Object.keys((await service.request(`/api/v2/counts?since=${time}`)).json as object);
    deepStrictEqual(await since(iso(yesterday)), ['8']);
    deepStrictEqual(await since(iso(yesterday - 1)), ['7', '8']);
    deepStrictEqual(await since('2100-01-01'), []);
  });

  it('has another ETag after each report, also of the same count', async () => {
    const read = async (etag: string): Promise<Awaited<ReturnType<TestService['request']>>> =>
      await service.request('/api/v2/counts', { headers: { 'If-None-Match': etag } });
    for (const reported of [5, 5, 6]) {
      const { headers } = await service.request('/api/v2/counts');
      const etag = headers.get('etag') ?? '';
      strictEqual((await read(etag)).status, 304);
      const start = Date.now();
      await post(reported);
      agePages();
      const { json } = await read(etag);
      strictEqual(json[9].count, reported);
      ok(Date.parse(json[9].reportedAt as string) >= start);
    }
  });

  it('is sent in pieces that fit together where there are many', async () => {
    const bots = new MutableBotIndex();
    const ids = Array.from({ length: 1200 }, (_, i) => String(i + 1));
    for (const id of ids) bots.set(sampleBot(id));
    const counts = { count: (id: string) => Number(id) * 1000, reportedAt: () => yesterday, reports: 1 };
    const router = new Router();
    addLatestCountsRoute(router, bots, counts, new CurrentCache(), () => ({ license: 'CC-BY-4.0' }));
    const routes = router.routes();
    const server = await serveHandler(async (ctx, next) => await routes(ctx as never, next));
    const expected = ids.map((id) => [id, { count: Number(id) * 1000, reportedAt: iso(yesterday) }]);
    for (const [coding, decode] of [
      ['identity', (body: Buffer) => body],
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      const { body, headers } = await server.send('GET', '/api/v2/counts', { 'Accept-Encoding': coding });
      strictEqual(headers.link, '<https://spdx.org/licenses/CC-BY-4.0.html>; rel="license"');
      deepStrictEqual(JSON.parse(decode(body).toString()), Object.fromEntries(expected));
    }
  });

  it('refuses other parameters, and what is no time', async () => {
    for (const query of ['from=2026-01-01', 'since=yesterday', 'since=2026-01-01&since=2026-01-02'])
      strictEqual((await service.request(`/api/v2/counts?${query}`)).status, 400, query);
  });
});
