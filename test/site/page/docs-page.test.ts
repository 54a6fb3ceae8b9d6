import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { docsPaths } from '../../../src/site/page/docs-page.ts';
import { testRepository } from '../../support/repository.ts';
import { commandsPath, mainPage, pagePath } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';

describe('the pages of the documents, of a list without the bots of the samples', () => {
  let service: TestService;
  const pages = new Map<string, string>();
  before(async () => {
    const files = {
      [pagePath('7')]: mainPage({ nsfw: true }),
      [pagePath('6')]: mainPage(),
      [pagePath('8')]: mainPage(),
      [commandsPath('8')]: '{"commands": []}',
    };
    service = await startTestService({}, { root: testRepository(files).folder });
    for (const path of docsPaths) {
      const response = await fetch(service.address + path, { headers: { Accept: 'text/html' } });
      strictEqual(response.status, 200);
      pages.set(path, await response.text());
    }
  });

  it('are HTML, without Markdown that was not rendered', () => {
    for (const [path, html] of pages) {
      const prose = html.replace(/[^]*<main/, '').replaceAll(/<(pre|code)\b[^]*?<\/\1>/g, '');
      const texts = prose.replaceAll(/<[^>]*>/g, '\n');
      doesNotMatch(texts, /\]\(|\*\*|`|^#{1,6} /m, path);
    }
  });

  it('have requests for a bot of the list that is not for adults, which succeed', async () => {
    const requests = [...pages].flatMap(([path, html]) =>
      path === '/docs/errors'
        ? []
        : [...html.replaceAll(/<[^>]*>/g, '').matchAll(/^\$ curl (?:(\S+)|'(\S+)')$/gm)].map(
            ([, a, b = a]) => b ?? '',
          ),
    );
    ok(requests.some((url) => url.endsWith('/api/v2/bots/8')));
    const failed: string[] = [];
    for (const url of new Set(requests.filter((url) => !url.includes('limit=0')))) {
      const { pathname, search } = new URL(url.replaceAll('&amp;', '&').replaceAll("'", ''));
      const { status } = await fetch(service.address + pathname + search);
      if (status !== 200) failed.push(`${pathname} ${status}`);
    }
    deepStrictEqual(failed, []);
  });

  it('list the routes in a table, and have each route open', () => {
    const api = pages.get('/docs') ?? '';
    match(
      api,
      /<table class="routes">[^]*?<strong>GET<\/strong> <code>\/api\/v2\/bots<\/code><\/td>\s*<td><a href=/,
    );
    for (const [path, html] of pages)
      doesNotMatch(html.split('<footer')[0]?.split('</nav>').at(-1) ?? '', /<details/, path);
  });

  it('have each code in a box with a title, and name their example', () => {
    const api = pages.get('/docs') ?? '';
    match(
      api,
      /<div class="code"><header><span><a [^>]*>Read one bot<\/a>, by an id from the list<\/span><\/header>\n<pre /,
    );
    match(pages.get('/docs/bots') ?? '', /<header><span>Post the commands<\/span><\/header>\n<pre /);
    match(api, /<p class="whole">The examples use <a href="\/bots\/8">/);
  });

  it('are also Markdown, about the same bot', async () => {
    for (const path of docsPaths) {
      const response = await fetch(`${service.address}${path}.md`);
      strictEqual(response.headers.get('content-type'), 'text/markdown; charset=utf-8');
      const text = await response.text();
      match(text, /^# \S/);
      doesNotMatch(text, /<details>|190519304972663312|localhost:8080/);
      match(pages.get(path) ?? '', new RegExp(`<a href="${path}\\.md">`));
    }
  });
});
