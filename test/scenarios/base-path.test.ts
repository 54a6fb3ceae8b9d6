import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { eventually } from '../support/eventually.ts';
import { startProvider } from '../support/login-provider.ts';
import { author, loginEnv } from '../support/login-site.ts';
import { freePort } from '../support/loopback.ts';
import { keepImages } from '../support/images.ts';
import { testRepository } from '../support/repository.ts';
import { collection, mainPage, pagePath, translation } from '../support/sample.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { issueTestToken, updateRequest } from '../support/token.ts';
import { actionOf, type Page, Visitor } from '../support/visitor.ts';

const images = {
  avatar: 'https://pictures.example.org/avatar.png',
  cover: 'https://pictures.example.org/cover.png',
  preview: ['https://pictures.example.org/1.png'],
};
const files = {
  'collections/all.en.md': collection({ bots: ['7', '100', '101'] }),
  [pagePath('7')]: mainPage({ name: 'Seven', authors: [author], images }, `![cover](${images.cover})`),
  [pagePath('7', 'fr')]: translation('Sept', 'Répond.'),
  [pagePath('8')]: mainPage({ name: 'Eight', nsfw: true, images }),
  ...Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [pagePath(String(i + 100)), mainPage({ name: `Filler ${i}` })]),
  ),
};

describe('a service whose public address has a path', function () {
  let service: TestService;
  let origin: string;
  let baseUrl: string;
  let token: string;
  before(async () => {
    const port = await freePort();
    origin = `http://localhost:${port}`;
    baseUrl = `${origin}/shelf`;
    const provider = await startProvider(baseUrl);
    const root = testRepository(files).folder;
    await keepImages(root, images, { width: 600, height: 300 });
    token = await issueTestToken(root, '8');
    const env = {
      PORT: String(port),
      BOTSHELF_BASE_URL: `${baseUrl}/`,
      BOTSHELF_IMAGES: 'on',
      BOTSHELF_SECURITY_CONTACT: 'security@example.org',
      ...loginEnv(provider.settings),
    };
    service = await startTestService({}, { root, env });
    await eventually(async () => (await service.request('/api/v2/bots/7')).json.cachedImages.avatar !== null);
  });

  const loggedIn = async (): Promise<Visitor> => {
    const visitor = new Visitor();
    const page = await visitor.logIn(await visitor.go(`${baseUrl}/login?to=/shelf/my-bots`), author);
    strictEqual(page.url.href, `${baseUrl}/my-bots`);
    return visitor;
  };

  /** Returns what a page refers to in the service, and checks that all of it is below the path. */
  const referencesOf = ({ url, headers, text }: Page): URL[] => {
    const links = [...(headers.get('link') ?? '').matchAll(/<([^>]+)>/g)].map(([, link = '']) => link);
    const addresses = [...links, ...addressesIn(text, headers.get('content-type') ?? '', origin)];
    const targets = addresses
      .filter((address) => !address.startsWith('#') && URL.canParse(address, url))
      .map((address) => new URL(address, url))
      .filter((target) => target.origin === origin && target.pathname !== '/.well-known/security.txt');
    for (const { pathname, href } of targets)
      ok(`${pathname}/`.startsWith('/shelf/'), `${url.href} refers to ${href}`);
    return targets;
  };

  /** Visits one page of each kind that can be reached from these. Returns their paths with * for names and numbers, and a parameter. */
  const crawl = async (starts: readonly string[]): Promise<string[]> => {
    const kinds = new Set<string>();
    const waiting = starts.map((path) => new URL(baseUrl + path));
    for (let url = waiting.shift(); url; url = waiting.shift()) {
      const kind = kindOf(url);
      if (kinds.has(kind) || isNoPage.test(url.href)) continue;
      kinds.add(kind);
      const page = await new Visitor().go(url, { headers: { Accept: 'text/html,*/*' } });
      ok(page.status === 200 || url.pathname.includes('nothing'), `${url.href}: ${page.status}`);
      waiting.push(...referencesOf(page));
    }
    return [...kinds];
  };
  /** What is not for reading: buttons, patterns of addresses, samples. */
  const isNoPage =
    /\/(?:login|logout|file|revoke|commands|stats|pages\/en)\b|\{|%7B|\*|\/bots\/ID|\/(?:BOT|AUTHOR|COLLECTION)\.atom|&amp;|limit=0|since=0|\/bots\/(?:1|190519304972663312)\b|\/(?:api|hooks|proposals)\/$/;
  const kindOf = ({ pathname, searchParams }: URL): string => {
    const [name = ''] = [...searchParams.keys()].filter((key) => key !== 'locale').toSorted();
    const path = pathname.replaceAll(
      /(?<=\/)\d+(?=\/|$)|(?<=categor(?:ies|y)\/)\w+|(?<=authors?\/)\d+/g,
      '*',
    );
    return `${path.replaceAll(/(?<=\.)[\w-]{10}(?=\.)|[0-9a-f]{64}/g, '*')} ${name}`.trim();
  };

  it('refers to no address outside of it, on any page or in any file @slow', async () => {
    const starts = ['/', '/?nsfw=true&sort=name', '/?page=2', '/bots/8', '/bots/7?locale=fr', '/nothing'];
    const files = ['/robots.txt', '/sitemap.xml', '/.well-known/security.txt', '/api/v2/bots?limit=2'];
    const kinds = await crawl([...starts, ...files, '/api/v2/bots/7', '/api/nothing']);
    const expected =
      '/ /add /api/openapi.json /api/v2/bots/* /appdata/*.webp /appdata/*.128.webp /apple-touch-icon.png /assets/add.*.js /assets/copy.*.js /assets/icon-512.*.png /assets/icon.*.svg /assets/site.*.css /authors/* /bots/* /bots/*/edit /bots/*/report /bots/*/token /bots/*/translate /categories/* /collections /collections/all /docs /favicon.ico /feeds/category/*.atom /feeds/collection/all.atom /feeds/new.atom /opensearch.xml /site.webmanifest';
    for (const path of expected.split(' ')) ok(kinds.includes(`/shelf${path}`), `${path} was not visited`);
    ok(kinds.includes('/shelf/api/v2/bots after'), 'the Link header was not followed');
  });

  it('refers to no other address on pages after a login, on a form that was sent and with a new token @slow', async () => {
    const visitor = await loggedIn();
    for (const path of ['/', '/bots/7', '/bots/7/edit', '/bots/7/token', '/my-bots']) {
      const page = await visitor.go(baseUrl + path);
      match(page.text, /action="\/shelf\/logout"/, path);
      ok(referencesOf(page).length > 0, path);
    }
    const form = await visitor.go(`${baseUrl}/add?locale=de`);
    strictEqual(/<form class="add" method="post" action="([^"]*)"/.exec(form.text)?.[1], '/shelf/add');
    const sent = await visitor.press(form, '/shelf/add', { id: '9', name: 'Nine' });
    const issued = await visitor.press(await visitor.go(`${baseUrl}/bots/7/token`), '/shelf/bots/7/token');
    ok(issued.text.includes(`curl ${baseUrl}/api/v2/bots/7 `));
    match(issued.text, /value="bsh_/);
    for (const page of [sent, issued]) ok(referencesOf(page).length > 0);
  });

  it('has the same bytes where the proxy has removed the path, and no page twice in the response cache @slow', async () => {
    const paths = '/ /?q=seven /bots/7 /docs /api/v2/bots /api/v1/bots /sitemap.xml /robots.txt'.split(' ');
    for (const path of paths) {
      const [kept, removed] = await Promise.all([fetch(baseUrl + path), fetch(origin + path)]);
      deepStrictEqual([kept.status, removed.status], [200, 200], path);
      strictEqual(await kept.text(), await removed.text(), path);
    }
    const hits = async (): Promise<number> => {
      const metrics = await (await fetch(`${origin}/metrics`)).text();
      return Number(/^botshelf_http_repeated_responses_total\{[^}]*200[^}]*\} (\d+)/m.exec(metrics)?.[1]);
    };
    const before = await hits();
    for (const address of [baseUrl, origin]) await (await fetch(`${address}/api/v2/bots/101`)).text();
    strictEqual((await hits()) - before, 1);
  });

  it('has its list of all bots where an address ends before the id of a bot, or its front page at its own', async () => {
    const env = { BOTSHELF_BASE_URL: 'https://example.org/bots' };
    const { address } = await startTestService({ [pagePath('7')]: mainPage() }, { env });
    for (const [url, location] of [
      [`${baseUrl}/bots`, '/shelf/?sort=popular'],
      [`${baseUrl}/bots/`, '/shelf/?sort=popular'],
      [`${origin}/bots`, '/shelf/?sort=popular'],
      [`${address}/bots`, '/bots/'],
    ] as const) {
      const { status, headers } = await fetch(url, { redirect: 'manual' });
      deepStrictEqual([status, headers.get('location')], [301, location], url);
    }
    strictEqual((await fetch(`${address}/bots/`)).status, 200);
  });

  it('has no probes below its path, so that a rule of a proxy for their paths keeps them private', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      strictEqual((await fetch(origin + path)).status, 200, path);
      strictEqual((await fetch(baseUrl + path)).status, 404, path);
    }
  });

  it('has cookies for it alone, and leads back to it after logging in and out', async () => {
    const begun = await fetch(`${baseUrl}/login`, {
      redirect: 'manual',
      headers: { Referer: `${baseUrl}/bots/7` },
    });
    match(
      begun.headers.getSetCookie().join(),
      /^__Secure-botshelf-login=[^;]+; Path=\/shelf; .*Secure; HttpOnly; SameSite=Lax$/,
    );
    const authorise = new URL(begun.headers.get('location') ?? '');
    strictEqual(authorise.searchParams.get('redirect_uri'), `${baseUrl}/login/callback`);
    const visitor = await loggedIn();
    deepStrictEqual([...(visitor.cookies.get(new URL(origin).host)?.keys() ?? [])], ['__Secure-botshelf']);
    const front = await visitor.go(`${baseUrl}/?locale=de`);
    strictEqual(
      actionOf({ ...front, text: front.text.replaceAll(/<form class="search"/g, '') }),
      '/shelf/logout',
    );
    const out = await fetch(`${baseUrl}/logout?locale=de`, {
      method: 'POST',
      redirect: 'manual',
      headers: { Origin: origin },
    });
    strictEqual(out.headers.get('location'), '/shelf/');
    match(out.headers.getSetCookie().join(), /^__Secure-botshelf=; Path=\/shelf; Max-Age=0;/);
    const elsewhere = await new Visitor().go(`${baseUrl}/login?to=/bots/7`, { redirect: 'manual' });
    strictEqual(elsewhere.status, 200);
  });

  it('responds 200 to posts and 422 to faulty ones, below its path and without it', async () => {
    for (const [i, prefix] of ['/shelf', ''].entries()) {
      const address = `${prefix}/api/v2/bots/8`;
      const website = `https://example.org/${i}`;
      strictEqual((await service.request(address, updateRequest(token, { website }))).status, 200, address);
      strictEqual(((await (await fetch(origin + address)).json()) as { website: string }).website, website);
      strictEqual((await service.request(address, updateRequest(token, { count: 'many' }))).status, 422);
    }
    const { json: document } = await service.request('/api/openapi.json');
    deepStrictEqual(document.servers, [{ url: baseUrl }]);
    const { json: refused } = await service.request('/api/v2/bots/8', { method: 'POST' });
    match(refused.detail, new RegExp(`log in at ${baseUrl}/bots/8/token to issue one`));
    const detailOf = async (path: string): Promise<string> => (await service.request(path)).json.detail;
    strictEqual(
      await detailOf('/api/v2/bots/404'),
      'there is no bot 404: GET /shelf/api/v2/bots lists all bots',
    );
    strictEqual(
      await detailOf('/shelf/api/nothing'),
      'there is nothing at "/shelf/api/nothing": the lists of bots are at /shelf/api/v2/bots and /shelf/api/v1/bots',
    );
    strictEqual(
      await detailOf('/sitemaps/9.xml.gz'),
      `the sitemap has no part 9: read ${baseUrl}/sitemap.xml`,
    );
  });
});

/**
 * Returns what a document of a site refers to, as it is written there: in attributes, JSON, styles, scripts and robots.txt,
 * and every address that begins with `origin`, wherever it is.
 */
function addressesIn(text: string, type: string, origin: string): string[] {
  const whole = text.split(/[\s"'<>)\\]+/).filter((word) => word.startsWith(origin));
  const [, pattern] = patterns.find(([known]) => type.includes(known)) ?? [];
  const found = pattern ? [...text.replaceAll('&amp;', '&').matchAll(pattern)] : [];
  // The attribute srcset has several addresses, each with a size.
  const listed = found.flatMap(([, , list = '']) =>
    list.split(/\s+/).filter((part) => /^(?:\/|http)/.test(part)),
  );
  return [...whole, ...listed, ...found.flatMap(([, one, , address = one]) => address ?? [])];
}

const patterns: readonly (readonly [type: string, pattern: RegExp])[] = [
  ['html', /\s(?:href|src|action|formaction)="([^"]*)"|[=:]"((?:\/|https?:)[^"]*)"|url\(["']?([^"')]+)/g],
  ['json', /(?<!\\)"(\/[^"]*)"(?!\s*:)/g],
  ['css', /url\(["']?([^"')]+)/g],
  ['javascript', /["'`](\/[\w/.-]+)["'`]/g],
  ['plain', /^\w+: (\/.*)$/gm],
];
