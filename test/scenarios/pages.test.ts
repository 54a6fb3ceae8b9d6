import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { brotliCompressSync } from 'node:zlib';
import { mainPage, pagePath, translation } from '../support/sample.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { testRepository } from '../support/repository.ts';
import { parseXml, textsOf } from '../support/xml.ts';

const homer = '190519304972663312';

const files: Record<string, string> = {
  [pagePath(homer)]: mainPage({
    codehost: { owner: 'springfield', repo: 'homer' },
    support: 'https://example.org/help',
  }),
  [pagePath(homer, 'fr')]: translation('Homère', 'Répond aux questions sur les beignets.', 'Bonjour.'),
  [pagePath('7')]: mainPage({ name: 'Seven\uFFFF', category: 'music', nsfw: true }),
  [pagePath('8', 'ar-EG')]: mainPage({ name: 'قيثارة', description: 'بوت' }, 'مرحبا'),
  [pagePath('9')]: mainPage(
    {
      name: '\u202Eevil\u2066 <b>',
      description: '<script>alert(1)</script>"\'',
      trigger: { prefix: ['<i>'] },
    },
    '<img src=x onerror=alert(1)>',
  ),
};
for (let i = 100; i < 130; i++)
  files[pagePath(String(i))] = mainPage({ name: `Filler ${i}`, category: 'games' });

describe('pages', () => {
  let service: TestService;
  before(async () => {
    const repository = testRepository(files);
    repository.git('remote', 'add', 'origin', 'https://user:secret@github.com/example/catalogue.git');
    service = await startTestService({}, { root: repository.folder });
    service.expectLog(/BOTSHELF_REMOTE is not set/);
  });
  const browserAccept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const get = async (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
    await fetch(service.address + path, { method, headers: { Accept: browserAccept, ...headers } });
  const html = async (path: string, headers: Record<string, string> = {}): Promise<string> =>
    await (await get(path, headers)).text();
  const names = (page: string): string[] =>
    [...page.replaceAll(/<\/?mark>/g, '').matchAll(/<h[23]><a [^>]*>([^<]*)<\/a>/g)].map(
      ([, name]) => name ?? '',
    );

  describe('every page', () => {
    for (const path of ['/', '/categories/games', `/bots/${homer}`, '/add', '/docs', '/nothing'])
      it(`${path} has a strict policy and what that allows, one h1, a language, sizes for pictures, and less than 25 KB`, async () => {
        const response = await get(path);
        const policy = response.headers.get('content-security-policy') ?? '';
        match(policy, /default-src 'none'/);
        match(policy, /frame-ancestors 'none'/);
        doesNotMatch(policy, /unsafe|\*|data:/);
        strictEqual(response.headers.get('x-content-type-options'), 'nosniff');
        strictEqual(response.headers.get('access-control-allow-origin'), null);
        const text = await response.text();
        doesNotMatch(
          text,
          / style=| on[a-z]+=|<style|<script(?! type="module" src="\/assets\/| type="application\/ld\+json">)/,
        );
        const [[, stylesheet = ''] = [], ...others] = [...text.matchAll(/rel="stylesheet" href="([^"]+)"/g)];
        match(stylesheet, /^\/assets\/site\.[^"]+\.css$/);
        strictEqual(others.length, 0);
        strictEqual(text.match(/<h1[ >]/g)?.length, 1);
        match(text, /^<!doctype html>\n<html lang="en" dir="ltr">/);
        for (const [image] of text.matchAll(/<img [^>]*>/g)) match(image, /width="\d+" height="\d+"/);
        const css = await get(stylesheet);
        strictEqual(css.status, 200);
        match(css.headers.get('cache-control') ?? '', /immutable/);
        ok(brotliCompressSync(text).length + brotliCompressSync(await css.arrayBuffer()).length < 25_000);
      });

    it('is compressed, has an ETag and answers 304', async () => {
      const response = await get('/', { 'Accept-Encoding': 'br' });
      strictEqual(response.headers.get('content-encoding'), 'br');
      const etag = response.headers.get('etag') ?? '';
      strictEqual((await get('/', { 'Accept-Encoding': 'br', 'If-None-Match': etag })).status, 304);
      const head = await get('/', {}, 'HEAD');
      strictEqual(head.status, 200);
      strictEqual(await head.text(), '');
    });

    it('is compressed if it is a form or an error too, which no cache keeps', async () => {
      for (const [path, title] of [
        ['/add', /<h1>Add a bot/],
        ['/nothing', /<title>That shelf is empty/],
      ] as const) {
        const plain = await get(path, { 'Accept-Encoding': 'identity' });
        strictEqual(plain.headers.get('content-encoding'), null);
        match(await plain.text(), title);
        for (const coding of ['br', 'gzip']) {
          const response = await get(path, { 'Accept-Encoding': coding });
          const { headers } = response;
          deepStrictEqual([headers.get('content-encoding'), headers.get('etag')], [coding, null]);
          const text = await response.text();
          match(text, title);
          match(text, /<\/html>\n$/);
        }
        const head = await get(path, { 'Accept-Encoding': 'br' }, 'HEAD');
        deepStrictEqual([head.headers.get('content-encoding'), await head.text()], ['br', '']);
      }
    });
  });

  describe('the front page', () => {
    it('has shelves of bots that are not for adults, without those that have too few', async () => {
      const text = await html('/');
      deepStrictEqual(
        [...text.matchAll(/<h2 [^>]*>([^<]*)/g)].map(([, heading]) => heading),
        ['New on the shelf', 'Recently updated'],
      );
      strictEqual(new Set(names(text)).size, 6);
      ok(!text.includes('Seven'));
      match(text, /33 bots in 3 languages/);
      doesNotMatch(text, /name="sort"/);
    });

    it('lists all bots that are not for adults, by servers, with numbered pages', async () => {
      const text = await html('/?sort=popular');
      strictEqual(names(text).length, 24);
      ok(!text.includes('Seven'));
      match(text, /rel="next" href="\/\?page=2"/);
      const second = await html('/?page=2');
      strictEqual(names(second).length, 9);
      match(second, /rel="prev" href="\/\?sort=popular"/);
      match(second, /<a href="\/\?page=2" aria-current="page">2<\/a>/);
      strictEqual((await get('/?page=3')).status, 404);
    });

    it('lists bots for adults on request, says how many it hides, and shows a bot in the language of the reader', async () => {
      deepStrictEqual(names(await html('/?nsfw=true&q=seven')), ['Seven\uFFFF']);
      match(await html('/?q=seven'), /href="\/\?q=seven&amp;nsfw=true">1 hidden 18\+ result</);
      for (const [path, headers] of [
        ['/?sort=name&locale=fr&language=fr', {}],
        ['/?q=beignets', { 'Accept-Language': 'fr-CA, en;q=0.5' }],
        ['/?q=beignets&locale=fr', {}],
      ] as const)
        deepStrictEqual(names(await html(path, headers)), ['Homère'], path);
    });

    it('searches, and says how many there are; sorts', async () => {
      const sorted = await html('/?sort=name');
      deepStrictEqual(names(sorted).slice(0, 2), ['Filler 100', 'Filler 101']);
      match(sorted, /href="\/\?sort=name" aria-current="true">Name</);
      const text = await html('/?q=beignets');
      deepStrictEqual(names(text), ['Homer'], 'in the language of the reader, although another one matches');
      match(text, /<h1>1 bot for “beignets”<\/h1>/);
    });

    it('counts the bots of each category that fit the words', async () => {
      match(
        await html('/?q=homer+filler'),
        /href="\/categories\/games\?q=homer\+filler">Games <small>30<\/small>/,
      );
    });

    it('narrows a list by source, verification, activity and language, with links that turn each on and off', async () => {
      const text = await html('/?source=open');
      deepStrictEqual(names(text), ['Homer']);
      match(text, /href="\/\?sort=popular" aria-current="true">Open source<span aria-hidden="true">✕</);
      match(text, /Hidden by the filters: 32\..*<a href="\/\?sort=popular">Show all</);
      match(text, /href="\/\?source=open&amp;verified=true">Verified</);
      deepStrictEqual(names(await html('/?language=ar-EG')), ['قيثارة']);
      const arabic = await html('/?q=homer&language=ar-EG');
      match(
        arabic,
        /<h1>No bots match “homer”, in Arabic<[^]*Language: Arabic<[^]*hreflang="pt-BR">português</,
      );
      match(await html('/compare?bots=7,8'), /<td[^>]*>(?:<[^>]*>)*Arabic</);
      for (const filter of ['verified=true', 'active=7d'])
        match(await html(`/?${filter}`), /<svg class="drawing"/);
      const empty = await html('/?q=homer&verified=true');
      match(empty, /<p [^>]*>Without “<bdi>Verified<\/bdi>”: <bdi>31 bots<\/bdi><\/p>/);
      match(empty, /<a class="button" href="\/\?q=homer">Drop “Verified” \(31 bots\)</);
      match(empty, /<h2 id="nearest">Nearest/);
    });

    it('names the bots nearest to words that find nothing', async () => {
      for (const [q, name] of [
        ['fillerstation', /^Filler/],
        ['qqqqqqqqq beignezz', /^Hom/],
      ] as const) {
        const text = await html(`/?q=${q}`);
        match(text, /<h1>No bots match[^]*<h2 id="nearest">Nearest/, q);
        match(names(text)[0] ?? '', name);
        doesNotMatch(text, /comes near/);
      }
    });

    it('has nothing to narrow or sort where nothing was found, but the largest bots and the way back from a filter', async () => {
      const text = await html('/?q=zzzzzz');
      match(text, /<h1>No bots match[^]*No bot comes near it either[^]*<h2 id="nearest">Most servers/);
      strictEqual(names(text).length, 3);
      doesNotMatch(text, /class="sort"|source=open/);
      match(
        await html('/?q=zzzzzz&source=open'),
        /href="\/\?q=zzzzzz[^"]*" aria-current="true">Open source</,
      );
    });

    it('has a page of all categories, in the order that most people need them', async () => {
      const paths = [
        ...(await html('/categories')).matchAll(/<a class="cat [^"]*" href="(\/categories\/\w+)"/g),
      ];
      deepStrictEqual(
        paths.map(([, path]) => path),
        ['/categories/games', '/categories/fun'],
      );
    });

    it('responds 200 to a malformed query', async () => {
      const mangled = 'sort=x page=0 page=-1 q=%00 locale=zz q=a&q=b nsfw=maybe =&&&'.split(' ');
      for (const query of [...mangled, `q=${'x'.repeat(2000)}`])
        strictEqual((await get(`/?${query}`)).status, 200, query);
    });
  });

  describe("a bot's page", () => {
    it('shows what there is to know, with links to its file and the history', async () => {
      const text = await html(`/bots/${homer}`);
      for (const part of [
        '<h1><span lang="en" dir="ltr">Homer</span></h1>',
        'href="https://example.org/invite"',
        'href="https://example.org/help"',
        'href="https://github.com/springfield/homer"',
        `href="/bots/${homer}/edit"`,
        `href="/bots/${homer}/changes"`,
        `href="/bots/${homer}?locale=fr"`,
        `rel="canonical" href="https://bots.example.org/bots/${homer}"`,
        'November 14, 2023',
        `href="/bots/${homer}/token"`,
      ]) {
        ok(text.includes(part), `${part} is missing`);
      }
      ok(!text.includes('secret'));
    });

    it('is written from right to left where its language is, as text, without bidi controls in names', async () => {
      match(await html('/bots/8'), /<div class="prose" lang="ar-EG" dir="rtl">/);
      const text = await html('/bots/9');
      match(text, /<h1><span lang="en" dir="ltr">evil &lt;b><\/span><\/h1>/);
      doesNotMatch(text, /<script>alert|<img src=x|<i>|[\u202A-\u202E\u2066-\u2069]/);
    });

    it('has a badge for other sites, with the name where no count is known', async () => {
      const badge = await get('/bots/9/badge.svg');
      strictEqual(badge.headers.get('content-type'), 'image/svg+xml; charset=utf-8');
      deepStrictEqual(textsOf(parseXml(await badge.text()), 'title'), ['Botshelf: evil <b>']);
      deepStrictEqual(textsOf(parseXml(await html('/bots/7/badge.svg')), 'title'), ['Botshelf: Seven']);
      strictEqual(badge.headers.get('cache-control'), 'no-cache');
      strictEqual(badge.headers.get('vary'), 'Accept-Encoding');
      const etag = badge.headers.get('etag') ?? '';
      strictEqual((await get('/bots/9/badge.svg', { 'If-None-Match': etag })).status, 304);
      strictEqual((await get('/bots/404404/badge.svg')).status, 404);
      const { status, json } = await service.request('/bots/7/card.png');
      strictEqual(status, 404, 'without pictures, a card names the badge');
      match(json.detail, /use \/bots\/7\/badge\.svg/);
    });
  });

  describe('the address of a bot without its id', () => {
    it('redirects for good to the list of all bots, or to that of its words and filters', async () => {
      for (const method of ['GET', 'HEAD'])
        for (const [path, location] of [
          ['/bots', '/?sort=popular'],
          ['/bots/', '/?sort=popular'],
          ['/bots/?locale=de', '/?sort=popular'],
          ['/bots?q=free+music&verified=true', '/?q=free+music&verified=true'],
        ] as const) {
          const init = { method, redirect: 'manual' } as const;
          const { status, headers } = await fetch(service.address + path, init);
          deepStrictEqual([status, headers.get('location')], [301, location], `${method} ${path}`);
        }
    });
  });

  describe('an unknown address', () => {
    it('responds 404 to a browser with a page that has a search', async () => {
      for (const path of '/nothing /bots/404404 /bots/x /categories/x /categories/constructor /assets/x.css /.well-known/security.txt'.split(
        ' ',
      )) {
        const response = await get(path);
        strictEqual(response.status, 404, path);
        match(response.headers.get('content-type') ?? '', /text\/html/);
        match(response.headers.get('cache-control') ?? '', /no-store/);
        match(await response.text(), /role="search"/);
      }
    });

    it('responds 404 with a problem to other clients, and to all below /api', async () => {
      for (const [path, accept] of [
        ['/nothing', '*/*'],
        ['/bots/404404', 'application/json'],
        ['/api/nothing', browserAccept],
        ['/appdata/x.webp', browserAccept],
      ]) {
        const response = await get(path ?? '', { Accept: accept ?? '' });
        strictEqual(response.status, 404);
        strictEqual(response.headers.get('content-type'), 'application/problem+json');
      }
    });
  });
});
