import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import sharp from 'sharp';
import { readCases } from '../../support/fixture-lines.ts';
import { collection, mainPage, pagePath, translation } from '../../support/sample.ts';
import { writeFiles } from '../../support/temp-folder.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { agePages } from '../../support/age-pages.ts';
import { eventually } from '../../support/eventually.ts';
import { childrenOf, parseXml, textsOf } from '../../support/xml.ts';

const baseUrl = 'https://bots.example.org';

describe('a program that reads what is beside the pages', () => {
  let service: TestService;
  before(async () => {
    const files = {
      [pagePath('7')]: mainPage({ name: 'Seven', category: 'music', authors: ['5'] }),
      [pagePath('7', 'fr')]: translation('Sept', 'Répond.'),
      [pagePath('7', 'pt-BR')]: translation('Sete', 'Responde.'),
      [pagePath('8', 'ar')]: mainPage({ name: 'قيثارة', description: '</script>]]>&', created: 1 }),
      [pagePath('9')]: mainPage({ name: 'Nine', authors: ['5'], created: 3, nsfw: true }),
      'collections/quiet.fr.md': collection({ title: 'Calmes', bots: ['8', '7', '9'] }),
      'collections/quiet.en.md': collection({ title: 'Quiet' }),
      'collections/one.en.md': collection({ bots: ['9', '8'] }),
    };
    const env = { BOTSHELF_BASE_URL: baseUrl, BOTSHELF_SECURITY_CONTACT: 'security@example.org' };
    service = await startTestService(files, { env });
  });
  const get = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    await fetch(service.address + path, { headers });
  const text = async (path: string): Promise<string> => await (await get(path)).text();

  it('finds every page from robots.txt, each with the address and the languages that the sitemap has @slow', async () => {
    const robots = await text('/robots.txt');
    match(robots, /^Disallow: \/api\/$/m);
    doesNotMatch(robots, /^Disallow: \/$/m);
    const sitemap = /^Sitemap: (.+)$/m.exec(robots)?.[1] ?? '';
    const urls = childrenOf(parseXml(await text(sitemap.replace(baseUrl, ''))), 'url');
    strictEqual(urls.length, 3 + 3 + 5 + 3 + 2);
    for (const url of urls) {
      const [address = ''] = textsOf(url, 'loc');
      const response = await get(address.replace(baseUrl, ''));
      strictEqual(response.status, 200, address);
      const page = await response.text();
      const languages = childrenOf(url, 'xhtml:link').map(
        ({ attributes }) => `hreflang="${attributes['hreflang']}" href="${attributes['href']}"`,
      );
      deepStrictEqual(
        [...page.matchAll(/<link rel="alternate" (hreflang="[^"]+" href="[^"]+")/g)].map(([, link]) => link),
        languages,
      );
      if (!/\/(?:add|docs)$/.test(address))
        ok(page.includes(`<link rel="canonical" href="${address}"`), address);
    }
  });

  it('finds the addresses of all feeds on a page, in its language', async () => {
    const page = await text('/feeds?locale=de');
    for (const path of ['new', 'category/music', 'collection/quiet'])
      ok(page.includes(`value="${baseUrl}/feeds/${path}.atom?locale=de"`), path);
    doesNotMatch(page, /\/(?:BOT|AUTHOR|COLLECTION)\b/);
    match(page, /href="\/feeds\/new\.atom\?locale=de"/);
  });

  it('is led to the feed of a list by a link beside it, and to what a feed is', async () => {
    for (const { input, expected } of readCases('followed-lists')) {
      const links = `<a href="/feeds/${expected[0]}.atom">Follow this list</a> <a class="muted" href="/feeds">`;
      ok((await text(input)).includes(links), input);
    }
  });

  it('reads feeds of new bots, of categories, of authors and of collections, newest first, and a bot that is added later', async () => {
    const titles = async (path: string): Promise<string[]> =>
      childrenOf(parseXml(await text(path)), 'entry').flatMap((entry) => textsOf(entry, 'title'));
    deepStrictEqual(await titles('/feeds/new.atom'), ['Seven', 'قيثارة'], 'none is for adults');
    deepStrictEqual(await titles('/feeds/category/fun.atom'), ['قيثارة']);
    deepStrictEqual(await titles('/feeds/category/news.atom'), []);
    deepStrictEqual(await titles('/feeds/author/5.atom'), ['Seven', 'Nine'], 'all of an author');
    deepStrictEqual(await titles('/feeds/collection/quiet.atom'), ['Seven', 'قيثارة']);
    match(await text('/feeds/collection/quiet.atom?locale=fr'), /<title>Calmes · /);
    writeFiles(service.root, { [pagePath('10')]: mainPage({ name: 'Ten', created: 1_700_000_000_001 }) });
    await eventually(async () => {
      agePages();
      strictEqual((await titles('/feeds/new.atom'))[0], 'Ten');
    });
    match(await text('/sitemap.xml'), new RegExp(`<loc>${baseUrl}/bots/10</loc>`));
  });

  it('reads feeds, manifest and search in the language of the page that links to them', async () => {
    const head = await text('/categories/music?locale=de');
    const links = [...head.matchAll(/<link rel="(?:manifest|search|alternate)"[^>]*href="(\/[^"]+)"/g)];
    const [manifest = '', search = '', newBots = '', category = ''] = links.map(([, href]) => href);
    const { lang, description, start_url } = JSON.parse(await text(manifest)) as Record<string, unknown>;
    const expected = ['de', 'Finde einen Bot für deinen Server', '/?locale=de'];
    deepStrictEqual([lang, description, start_url], expected);
    const openSearch = parseXml(await text(search));
    strictEqual(openSearch.namespace, 'http://a9.com/-/spec/opensearch/1.1/');
    const [{ attributes } = { attributes: {} }] = childrenOf(openSearch, 'Url');
    deepStrictEqual(attributes, { type: 'text/html', template: `${baseUrl}/?q={searchTerms}&locale=de` });
    for (const path of [newBots, category]) {
      const feed = parseXml(await text(path));
      strictEqual(feed.attributes['xml:lang'], 'de', path);
      deepStrictEqual(textsOf(feed, 'id'), [`urn:botshelf:feed:${path}`]);
    }
    match(await text('/categories/music'), /<link rel="manifest" href="\/site\.webmanifest"/);
    strictEqual(parseXml(await text('/feeds/new.atom?locale=xx')).attributes['xml:lang'], 'en');
  });

  for (const { input: path, expected } of readCases('content-types')) {
    it(`gets ${path} with an ETag, and not twice`, async () => {
      const response = await get(path);
      strictEqual(response.status, 200);
      strictEqual(response.headers.get('content-type'), expected[0]);
      const etag = response.headers.get('etag') ?? '';
      match(etag, /^"[\w-]+"$/);
      strictEqual((await get(path, { 'If-None-Match': etag })).status, 304);
      strictEqual((await get(path)).headers.get('etag'), etag, 'the same from the response cache');
      // Feed readers request other types of XML.
      for (const Accept of 'application/rss+xml text/xml image/webp application/atom+xml;type=feed'.split(
        ' ',
      ))
        strictEqual((await get(path, { Accept })).status, 200, Accept);
    });
  }

  it('is told that there is no such feed or part', async () => {
    for (const { input: path, expected } of readCases('feeds-not-found')) {
      const response = await get(path);
      strictEqual(response.status, 404, path);
      ok(((await response.json()) as { detail: string }).detail.startsWith(expected[0] ?? ''), path);
    }
  });

  it('reads a manifest with icons that are there, in the size it says', async () => {
    const manifest = await text('/site.webmanifest');
    match(manifest, /"name":"Botshelf"/);
    deepStrictEqual(manifest.match(/(?<="sizes":")[^"]+/g), ['any', '180x180', '512x512']);
    const icon = await get('/apple-touch-icon.png', { 'Accept-Encoding': 'br, gzip' });
    strictEqual(icon.headers.get('content-encoding'), null, 'a PNG gains nothing from it');
    const touch = await sharp(Buffer.from(await icon.arrayBuffer())).metadata();
    deepStrictEqual([touch.width, touch.height, touch.hasAlpha], [180, 180, false]);
  });

  it('gets pictures of three sizes in favicon.ico', async () => {
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

  it('reads a security.txt that has not expired and does not say so for longer than a year', async () => {
    const text = await (await get('/.well-known/security.txt')).text();
    match(text, /^Contact: mailto:security@example\.org$/m);
    match(text, /^Canonical: https:\/\/bots\.example\.org\/\.well-known\/security\.txt$/m);
    const expires = Date.parse(/^Expires: (.+)$/m.exec(text)?.[1] ?? '') - Date.now();
    const month = 30 * 24 * 60 * 60 * 1000;
    ok(expires > 4 * month && expires < 7 * month);
  });
});
