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

  it('open the routes that links lead to', () => {
    match(pages.get('/docs/bots') ?? '', /<h\d id="page-[^]*?<details open[^>]*>/);
    doesNotMatch(pages.get('/docs/bots') ?? '', /<details>\s*<summary><code>/);
  });
});
