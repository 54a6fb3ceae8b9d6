import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { mainPage, pagePath, translation, writeFiles } from '../support/sample.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { eventually } from '../support/eventually.ts';
import { childrenOf, parseXml, textsOf } from '../support/xml.ts';

const baseUrl = 'https://bots.example.org';

describe('a crawler', () => {
  let service: TestService;
  before(async () => {
    const files = {
      [pagePath('7')]: mainPage({ name: 'Seven', category: 'music' }),
      [pagePath('7', 'fr')]: translation('Sept', 'Répond.'),
      [pagePath('7', 'pt-BR')]: translation('Sete', 'Responde.'),
      [pagePath('8', 'ar')]: mainPage({ name: 'قيثارة', description: '</script>]]>&', created: 1 }),
    };
    const env = { BOTSHELF_BASE_URL: baseUrl, BOTSHELF_SECURITY_CONTACT: 'security@example.org' };
    service = await startTestService(files, { env });
  });
  const get = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    await fetch(service.address + path, { headers });
  const text = async (path: string): Promise<string> => await (await get(path)).text();

  it('finds every page from robots.txt, each with the address and the languages that the sitemap has', async () => {
    const sitemap = /^Sitemap: (.+)$/m.exec(await text('/robots.txt'))?.[1] ?? '';
    const urls = childrenOf(parseXml(await text(sitemap.replace(baseUrl, ''))), 'url');
    strictEqual(urls.length, 3 + 2 + 4);
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

  it('reads the new bots, and a bot that is added later', async () => {
    const titles = async (): Promise<string[]> =>
      childrenOf(parseXml(await text('/feeds/new.atom')), 'entry').flatMap((entry) =>
        textsOf(entry, 'title'),
      );
    deepStrictEqual(await titles(), ['Seven', 'قيثارة']);
    writeFiles(service.root, { [pagePath('9')]: mainPage({ name: 'Nine', created: 1_700_000_000_001 }) });
    await eventually(async () => (await titles())[0] === 'Nine');
  });

  it('reads feeds, manifest and search in the language of the page that links to them', async () => {
    const head = await text('/categories/music?locale=de');
    const links = [...head.matchAll(/<link rel="(?:manifest|search|alternate)"[^>]*href="(\/[^"]+)"/g)];
    const [manifest = '', search = '', newBots = '', category = ''] = links.map(([, href]) => href);
    const { lang, description, start_url } = JSON.parse(await text(manifest)) as Record<string, unknown>;
    deepStrictEqual(
      [lang, description, start_url],
      ['de', 'Finde einen Bot für deinen Server', '/?locale=de'],
    );
    const [{ attributes } = { attributes: {} }] = childrenOf(parseXml(await text(search)), 'Url');
    deepStrictEqual(attributes, { type: 'text/html', template: `${baseUrl}/?q={searchTerms}&locale=de` });
    for (const path of [newBots, category]) {
      const feed = parseXml(await text(path));
      strictEqual(feed.attributes['xml:lang'], 'de', path);
      deepStrictEqual(textsOf(feed, 'id'), [baseUrl + path]);
    }
    match(await text('/categories/music'), /<link rel="manifest" href="\/site\.webmanifest"/);
    strictEqual(parseXml(await text('/feeds/new.atom?locale=xx')).attributes['xml:lang'], 'en');
  });

  it('gets a problem for a category that does not exist, and a person gets a page', async () => {
    const path = '/feeds/category/nothing.atom';
    strictEqual((await get(path)).headers.get('content-type'), 'application/problem+json');
    const page = await get(path, { Accept: 'text/html' });
    strictEqual(page.status, 404);
    match(await page.text(), /<h1>Not found<\/h1>/);
  });

  it('reads whom to tell about a vulnerability', async () => {
    match(await text('/.well-known/security.txt'), /^Contact: mailto:security@example\.org$/m);
  });

  it('is told that the result of a search is not to be listed', async () => {
    match(await text('/?q=seven'), /<meta name="robots" content="noindex"/);
    doesNotMatch(await text('/'), /noindex/);
  });
});
