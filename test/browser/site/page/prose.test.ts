import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { openBrowserPage } from '../../../support/browser.ts';
import { eventually } from '../../../support/eventually.ts';
import { hostileHtml } from '../../../support/hostile-html.ts';
import { testRepository } from '../../../support/repository.ts';
import { mainPage, pagePath } from '../../../support/sample.ts';
import { startTestService, type TestService } from '../../../support/service.ts';
import { needs } from '../../../support/tools.ts';

const hostile = Object.entries(hostileHtml).map(([name, text], i) => ({ name, text, id: String(1000 + i) }));
const details = '<details><summary>Commands</summary>\n\n- `!a`\n\n</details>';

needs('chromium', describe)('a hostile page in a browser', function () {
  this.timeout(120_000);
  let service: TestService;
  before(async () => {
    const files = hostile.map(({ text, id }) => {
      const page = text.replaceAll('\0', '');
      return [pagePath(id), mainPage({}, `${page}\n\n<div>\n${page}\n</div>\n`)];
    });
    const { folder } = testRepository({
      ...(Object.fromEntries(files) as Record<string, string>),
      [pagePath('1')]: mainPage({}, details),
    });
    service = await startTestService({}, { root: folder });
  });

  /** A page, and what happens on it that may not: a script that runs, a breach of the policy, a foreign request. */
  async function open(options: BrowserContextOptions = {}): Promise<{ page: Page; wrongs: string[] }> {
    const page = await openBrowserPage({ baseURL: service.address, locale: 'en-US', ...options });
    const wrongs: string[] = [];
    page.on('dialog', (dialog) => {
      wrongs.push(`a script has run: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('pageerror', (error) => wrongs.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') wrongs.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(service.address)) wrongs.push(request.url());
    });
    return { page, wrongs };
  }

  it('runs no script, loads nothing and stays in its place, even without a policy', async () => {
    const { page, wrongs } = await open({ bypassCSP: true });
    const places =
      "[...document.querySelectorAll('main > *, .bot > *')].map((node) => node.className).join()";
    const expected = 'wall,wide,bot-facts six,bot-body,quiet-row';
    await page.goto('/bots/1');
    strictEqual(await page.evaluate(places), expected);
    // All of them in one document: parsed by the browser as their own pages are, each where the one before it ends.
    const mains = hostile.map(async ({ id }) => {
      const html = await (await fetch(`${service.address}/bots/${id}`)).text();
      return html.slice(html.indexOf('<main'), html.lastIndexOf('</main>') + 7);
    });
    const body = (await Promise.all(mains)).join('');
    await page.setContent(`<!doctype html><base href="${service.address}"><body>${body}`);
    const each =
      "[...document.body.children].map((main) => [...main.querySelectorAll(':scope > *, .bot > *')].map((node) => node.className).join())";
    const found = await page.evaluate<string[]>(each);
    for (const [i, { name }] of hostile.entries()) strictEqual(found[i], expected, name);
    strictEqual(found.length, hostile.length);
    deepStrictEqual(wrongs, []);
  });

  it('runs no script in the preview of the form for a new bot', async () => {
    const { page, wrongs } = await open({ bypassCSP: true });
    await page.clock.install();
    await page.goto('/add');
    for (const { name, text } of hostile.filter(({ name }) => /mutation|event handler/.test(name))) {
      await page.locator('#page').fill(`${text.replaceAll('\0', '')}\n\n`);
      await page.evaluate("document.getElementById('outcome').replaceChildren()");
      // The form waits for a pause in the typing.
      await page.clock.fastForward(1000);
      await page.locator('#outcome > details').waitFor();
      deepStrictEqual(wrongs, [], name);
    }
  });

  it('is shown in the form for a new bot while it is written', async () => {
    const { page, wrongs } = await open();
    await page.goto('/add');
    await page.locator('#page').fill('## Use\n\n<center>:tada: <b>now</b></center>');
    await eventually(async () =>
      strictEqual(await page.locator('#outcome .prose .middle b').textContent({ timeout: 500 }), 'now'),
    );
    deepStrictEqual(wrongs, []);
  });

  it('unfolds its details without JavaScript', async () => {
    const { page } = await open({ javaScriptEnabled: false });
    await page.goto('/bots/1');
    const item = page.getByRole('listitem').filter({ hasText: '!a' });
    strictEqual(await item.isVisible(), false);
    await page.getByText('Commands', { exact: true }).click();
    strictEqual(await item.isVisible(), true);
  });
});
