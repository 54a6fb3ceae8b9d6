import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { openBrowserPage } from '../support/browser.ts';
import { readPackageFile } from '../support/package-files.ts';
import { eventually } from '../support/eventually.ts';
import { startFaultyProxy } from '../support/faulty-proxy.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { repositoryIn, testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { type LocalService, startTestService } from '../support/service.ts';
import { issueTestToken } from '../support/token.ts';
import { needs } from '../support/tools.ts';

// docs.test.ts runs the shell commands of this document, and document-programs.test.ts its programs, too.
describe('docs/consumers.md', function () {
  const text = readPackageFile('docs/consumers.md');
  let service: LocalService;
  let root: string;

  beforeEach(async () => {
    root = testRepository({
      [pagePath('7')]: mainPage(),
      [pagePath('8')]: mainPage({ name: '<b>Lisa</b>' }),
    }).folder;
    service = await startTestService({}, { root });
  });

  const codes = (language: string): string[] =>
    [...text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'gm'))].map(([, code = '']) =>
      code.replaceAll('http://localhost:8080', service.address).replace('seconds = 10', 'seconds = 0.1'),
    );
  const post = async (id: string, count: number): Promise<void> => {
    strictEqual((await service.post(id, await issueTestToken(root, id), { count })).status, 200);
  };

  const open = async (html: string): Promise<Page> => {
    const site = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(html));
    const { port } = await listenOnLoopback(site);
    const page = await openBrowserPage();
    await page.goto(`http://127.0.0.1:${port}/`);
    return page;
  };

  needs('chromium', it)('has a page that shows changes as they come, also after a restart', async () => {
    const proxy = await startFaultyProxy(service.address);
    const page = await open((codes('html')[0] ?? '').replace(service.address, proxy.address));
    const { commit } = repositoryIn(root);
    let round = 0;
    await eventually(async () => {
      commit({ [pagePath('8')]: mainPage({ name: `Lisa ${round++}` }) });
      deepStrictEqual((await page.locator('li').allInnerTexts()).slice(0, 1), ['changed: 8']);
    });
    proxy.faults.push({ status: 502 }, { status: 503, headers: { 'Retry-After': '1' } });
    await service.stop();
    commit({ [pagePath('9')]: mainPage() });
    service = await startTestService({}, { root });
    proxy.target = service.address;
    await eventually(async () =>
      deepStrictEqual((await page.locator('li').allInnerTexts()).slice(0, 1), ['added: 9']),
    );
    deepStrictEqual(proxy.faults, []);
    await service.stop();
    const { git } = repositoryIn(root);
    git('checkout', '-q', '--orphan', 'anew');
    commit({ [pagePath('10')]: mainPage() });
    git('branch', '-M', 'main');
    service = await startTestService({}, { root });
    proxy.target = service.address;
    await eventually(async () => {
      commit({ [pagePath('10')]: mainPage({ name: `Bart ${round++}` }) });
      deepStrictEqual((await page.locator('li').allInnerTexts()).slice(0, 1), ['changed: 10']);
    });
  });

  needs('chromium', it)(
    'has a stream that a fetch-based event source of another site goes on with',
    async () => {
      const page = await open(`<script>
      let lastId = '', events = '';
      const connect = async () => {
        const headers = { Accept: 'text/event-stream', 'Cache-Control': 'no-cache', 'Content-Type': 'text/plain' };
        if (lastId !== '') headers['Last-Event-ID'] = lastId;
        const { body } = await fetch('${service.address}/api/v2/changes', { headers });
        const reader = body.pipeThrough(new TextDecoderStream()).getReader();
        while (!/^id: .*\\n\\n/m.test(events)) events += (await reader.read()).value;
        lastId = /^id: (.*)/m.exec(events)[1];
        await reader.cancel();
        const read = events;
        events = '';
        return read;
      };
    </script>`);
      match(await page.evaluate<string>('connect()'), /^id: [0-9a-f]{40}\n\n$/);
      repositoryIn(root).commit({ [pagePath('8')]: mainPage({ name: 'Lisa' }) });
      await eventually(async () =>
        match(await page.evaluate<string>('connect()'), /^event: changed\nid: .*\ndata: \{.*"bot":"8"/),
      );
    },
  );

  needs('chromium', it)('has a widget that shows names as text', async () => {
    await post('8', 6);
    const page = await open(codes('html')[1] ?? '');
    await eventually(async () =>
      deepStrictEqual(await page.locator('li').allInnerTexts(), ['<b>Lisa</b>', 'Homer']),
    );
    strictEqual(await page.locator('a').first().getAttribute('href'), `${service.address}/bots/8`);
  });
});
