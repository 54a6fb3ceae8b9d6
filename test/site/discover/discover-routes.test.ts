import { defaultWords } from '../../support/category-words.ts';
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { Router } from '@koa/router';
import Koa from 'koa';
import sharp from 'sharp';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-index.ts';
import { BotLists } from '../../../src/catalogue/lists/bot-lists.ts';
import { BotSearch } from '../../../src/catalogue/search/bot-search.ts';
import { SortedIndexes } from '../../../src/catalogue/lists/sorted-indexes.ts';
import { createReportError, handleErrors } from '../../../src/http/problem-response.ts';
import { ResponseCache } from '../../../src/http/response-cache.ts';
import { type ListeningServer, listen } from '../../../src/http/server.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { addDiscoverRoutes } from '../../../src/site/discover/discover-routes.ts';
import { toSettings } from '../../../src/catalogue/settings/settings.ts';
import { testLanguages } from '../../support/languages.ts';
import { eventually } from '../../support/eventually.ts';
import { sampleBot } from '../../support/sample-bot.ts';
import { childrenOf, parseXml, textsOf } from '../../support/xml.ts';
import { noCounts } from '../../support/counts.ts';

const baseUrl = 'https://bots.example.org';

describe('what programs read beside the pages', () => {
  let server: ListeningServer;
  let bots: MutableBotIndex;
  const start = async (securityContact: string | null): Promise<void> => {
    bots = new MutableBotIndex();
    bots.set(sampleBot('7', { en: ['Seven', 'x'] }, { category: 'music', created: 1, authors: ['5'] }));
    bots.set(sampleBot('8', { en: ['Eight', 'x'] }, { category: 'fun', created: 2, authors: ['6'] }));
    bots.set(
      sampleBot('9', { en: ['Nine', 'x'] }, { category: 'fun', created: 3, authors: ['5'], nsfw: true }),
    );
    const lists = new BotLists(
      bots,
      new BotSearch(bots, () => {}, defaultWords),
      new SortedIndexes(bots, noCounts),
    );
    const router = new Router();
    const site = { baseUrl, languages: testLanguages, settings: toSettings() };
    addDiscoverRoutes(router, { bots, lists, site }, securityContact);
    const app = new Koa();
    app.silent = true;
    const responses = new ResponseCache();
    app.use((ctx, next) => responses.fill(ctx, next));
    app.use(handleErrors(createReportError(silentLog)));
    app.use(router.routes());
    server = await listen(
      app,
      { host: '127.0.0.1', port: 0, maxConnections: 100, log: silentLog },
      responses,
    );
  };
  beforeEach(async () => await start('mailto:security@example.org'));
  afterEach(async () => await server.close());

  const get = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    await fetch(`http://127.0.0.1:${server.port}${path}`, { headers });
  const titles = async (path: string): Promise<string[]> => {
    const root = parseXml(await (await get(path)).text());
    return childrenOf(root, 'entry').flatMap((entry) => textsOf(entry, 'title'));
  };

  const types = {
    '/robots.txt': 'text/plain; charset=utf-8',
    '/sitemap.xml': 'application/xml; charset=utf-8',
    '/site.webmanifest': 'application/manifest+json; charset=utf-8',
    '/opensearch.xml': 'application/opensearchdescription+xml',
    '/.well-known/security.txt': 'text/plain; charset=utf-8',
    '/favicon.ico': 'image/x-icon',
    '/apple-touch-icon.png': 'image/png',
    '/feeds/new.atom': 'application/atom+xml; charset=utf-8',
    '/feeds/category/music.atom': 'application/atom+xml; charset=utf-8',
    '/feeds/author/5.atom': 'application/atom+xml; charset=utf-8',
  };
  for (const [path, type] of Object.entries(types)) {
    it(`has an ETag and is not sent twice: ${path}`, async () => {
      const response = await get(path);
      strictEqual(response.status, 200);
      strictEqual(response.headers.get('content-type'), type);
      const etag = response.headers.get('etag') ?? '';
      match(etag, /^"[\w-]+"$/);
      strictEqual((await get(path, { 'If-None-Match': etag })).status, 304);
      strictEqual((await get(path)).headers.get('etag'), etag, 'the same from the response cache');
    });
  }

  it('has feeds of new bots and of categories without bots for adults, newest first', async () => {
    deepStrictEqual(await titles('/feeds/new.atom'), ['Eight', 'Seven']);
    deepStrictEqual(await titles('/feeds/category/fun.atom'), ['Eight']);
    deepStrictEqual(await titles('/feeds/category/news.atom'), []);
  });

  it('has a feed of all bots of an author', async () => {
    deepStrictEqual(await titles('/feeds/author/5.atom'), ['Nine', 'Seven']);
  });

  it('shows a new bot in the feeds', async () => {
    strictEqual((await titles('/feeds/new.atom')).length, 2);
    bots.set(sampleBot('10', { en: ['Ten', 'x'] }, { created: 4 }));
    await eventually(async () => (await titles('/feeds/new.atom'))[0] === 'Ten');
  });

  it('says clearly that there is no such feed or part', async () => {
    for (const [path, detail] of [
      ['/feeds/category/nothing.atom', /there is no category "nothing": the categories are education, /],
      ['/feeds/category/__proto__.atom', /there is no category "__proto__"/],
      ['/feeds/author/404.atom', /there is no bot by "404"/],
      [`/feeds/author/${'9'.repeat(300)}.atom`, /there is no bot by "9{60}"/],
      ['/sitemaps/1.xml.gz', /the sitemap has no part 1/],
      ['/sitemaps/-1.xml.gz', /the sitemap has no part -1/],
    ] as const) {
      const response = await get(path);
      strictEqual(response.status, 404, path);
      match(((await response.json()) as { detail: string }).detail, detail);
    }
  });

  it('names the sitemap in robots.txt and leaves pages open', async () => {
    const lines = (await (await get('/robots.txt')).text()).split('\n');
    ok(lines.includes('Sitemap: https://bots.example.org/sitemap.xml'));
    ok(lines.includes('Disallow: /api/'));
    ok(!lines.includes('Disallow: /'));
  });

  it('names icons in the manifest that are there, in the size it says', async () => {
    const manifest = (await (await get('/site.webmanifest')).json()) as {
      name: string;
      icons: { src: string; sizes: string }[];
    };
    strictEqual(manifest.name, 'Botshelf');
    deepStrictEqual(
      manifest.icons.map(({ sizes }) => sizes),
      ['any', '180x180', '512x512'],
    );
    const icon = await get('/apple-touch-icon.png', { 'Accept-Encoding': 'br, gzip' });
    strictEqual(icon.headers.get('content-encoding'), null, 'a PNG gains nothing from it');
    const touch = await sharp(Buffer.from(await icon.arrayBuffer())).metadata();
    deepStrictEqual([touch.width, touch.height, touch.hasAlpha], [180, 180, false]);
  });

  it('has pictures of three sizes in favicon.ico', async () => {
    const icon = Buffer.from(await (await get('/favicon.ico')).arrayBuffer());
    const edges: number[] = [];
    for (let i = 0; i < icon.readUInt16LE(4); i++) {
      const [size, offset] = [icon.readUInt32LE(14 + i * 16), icon.readUInt32LE(18 + i * 16)];
      const { width } = await sharp(icon.subarray(offset, offset + size)).metadata();
      edges.push(width);
      strictEqual(icon.readUInt8(6 + i * 16), width);
    }
    deepStrictEqual(edges, [16, 32, 48]);
  });

  it('describes the search for browsers', async () => {
    const root = parseXml(await (await get('/opensearch.xml')).text());
    strictEqual(root.namespace, 'http://a9.com/-/spec/opensearch/1.1/');
    deepStrictEqual(textsOf(root, 'ShortName'), ['Botshelf']);
    const [search] = childrenOf(root, 'Url');
    strictEqual(search?.attributes['template'], 'https://bots.example.org/?q={searchTerms}');
  });

  it('has a security.txt that has not expired and does not say so for longer than a year', async () => {
    const text = await (await get('/.well-known/security.txt')).text();
    match(text, /^Contact: mailto:security@example\.org$/m);
    match(text, /^Canonical: https:\/\/bots\.example\.org\/\.well-known\/security\.txt$/m);
    const expires = Date.parse(/^Expires: (.+)$/m.exec(text)?.[1] ?? '') - Date.now();
    const month = 30 * 24 * 60 * 60 * 1000;
    ok(expires > 4 * month && expires < 7 * month);
  });

  it('has no security.txt where no contact is configured', async () => {
    await server.close();
    await start(null);
    strictEqual((await get('/.well-known/security.txt')).status, 404);
  });
});
