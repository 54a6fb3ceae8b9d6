import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { openBrowserPage } from '../support/browser.ts';
import { axeViolations, excessWidth } from '../support/page-checks.ts';
import { testRepository } from '../support/repository.ts';
import { mainPage, pagePath, translation } from '../support/sample.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { needs } from '../support/tools.ts';

const homer = '190519304972663312';
const files: Record<string, string> = {
  [pagePath(homer)]: mainPage(
    { verified: true, invite: 'https://discord.com/oauth2/authorize?client_id=1&scope=bot&permissions=9' },
    '# Homer\n\nAsk him.\n\n## Commands\n\n- `!a`\n',
  ),
  [pagePath(homer, 'fr')]: translation('Homère', 'Répond aux questions sur les beignets.', 'Bonjour.'),
  [pagePath('8', 'ar')]: mainPage({ name: 'قيثارة', description: 'بوت', category: 'music' }, 'مرحبا'),
};
const other = { description: 'Keeps score.', category: 'games' };
for (let i = 20; i < 24; i++)
  files[pagePath(String(i), 'ar')] = mainPage({ name: `بوت ${i}`, description: 'بوت', category: 'music' });
files[pagePath('9')] = mainPage({ ...other, name: 'Pager', category: 'notifications' });
for (let i = 100; i < 130; i++) files[pagePath(String(i))] = mainPage({ ...other, name: `Filler ${i}` });

/** Run in the page: the Latin words of the texts and attributes that are not marked as being in another language. */
const latinWords = `[...document.querySelectorAll('body *')]
  .filter((node) => node.closest('[lang]') === document.documentElement && !node.closest('code, kbd, pre, bdi'))
  .flatMap((node) => [
    ...[...node.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data),
    ...['aria-label', 'alt', 'title'].map((name) => node.getAttribute(name) ?? ''),
  ])
  .flatMap((text) => text.match(/[a-z]{3,}/gi) ?? [])`;

/** Names, which stay in every language. */
const names = 'Botshelf JSON API OpenAPI GitHub Git Markdown HTML URL everyone BAN'.split(' ');

/** Run in the page: the names of categories that take more lines than they have words. */
const brokenLabels = `[...document.querySelectorAll('.labels a, .shelves h2')]
  .map((label) => label.firstChild)
  .filter((node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
    return lines.size > node.textContent.split(/[ \\u00AD-]/).length;
  })
  .map((node) => node.textContent)`;

needs('chromium', describe)('the pages in the language of their reader', function () {
  let service: TestService;
  before(async () => {
    service = await startTestService({}, { root: testRepository(files).folder });
  });

  async function open(options: BrowserContextOptions): Promise<Page> {
    return await openBrowserPage({ baseURL: service.address, ...options });
  }
  const language = async (page: Page): Promise<unknown> =>
    await page.evaluate('[document.documentElement.lang, getComputedStyle(document.body).direction]');

  it('a reader of Arabic finds a bot on a phone, from right to left', async () => {
    const page = await open({ locale: 'ar', viewport: { width: 390, height: 900 } });
    await page.goto('/');
    deepStrictEqual(await language(page), ['ar', 'rtl']);
    const middle = async (name: string): Promise<number> => {
      const box = await page.locator(name).boundingBox();
      return box === null ? Number.NaN : box.x + box.width / 2;
    };
    ok((await middle('a.brand')) > 195, 'the brand is on the right');
    await page.getByLabel('البحث عن بوتات').fill('doughnut');
    await page.getByRole('button', { name: 'بحث' }).click();
    await page.getByRole('link', { name: 'Homer' }).click();
    const heading = page.locator('h1 [lang]');
    deepStrictEqual(
      [await heading.textContent(), await heading.getAttribute('lang'), await heading.getAttribute('dir')],
      ['Homer', 'en', 'ltr'],
    );
    strictEqual(await page.getByRole('link', { name: 'إضافة إلى الخادم' }).count(), 1);
    await page.goto('/bots/8');
    strictEqual(await page.locator('.prose').getAttribute('dir'), 'rtl');
  });

  it('the front page shows bots in the languages of its reader, and one other with its language', async () => {
    const shelvesFor = async (accepted: string, query = ''): Promise<string[][]> => {
      const response = await fetch(`${service.address}/${query}`, {
        headers: { 'Accept-Language': accepted },
      });
      const shelves = (await response.text()).split('<section class="shelf"').slice(1);
      return shelves.map((shelf) =>
        shelf
          .split('<article')
          .slice(1)
          .map((card) => `${/<h3><a [^>]*lang="(\w+)"/.exec(card)?.[1]}${/الإنجليزية/.exec(card)?.[0] ?? ''}`),
      );
    };
    const other = 'enالإنجليزية';
    for (const [accepted, query, shelf] of [
      ['ar-EG,ar;q=0.9', '', [other, 'ar', 'ar']],
      ['en-US', '?locale=ar', [other, 'ar', 'ar']],
      ['en-GB,ar;q=0', '', ['en', 'en', 'en']],
    ] as const)
      deepStrictEqual(await shelvesFor(accepted, query), [shelf, shelf]);
  });

  it('a page in another language than that of its reader leads to its translation', async () => {
    const page = await open({ locale: 'ar' });
    await page.goto(`/bots/${homer}`);
    match((await page.locator('.bot > p').textContent()) ?? '', /^لغة هذه الصفحة: الإنجليزية\./);
    await page.getByRole('link', { name: 'ترجمها إلى العربية' }).click();
    strictEqual(new URL(page.url()).pathname, `/bots/${homer}/translate`);
    for (const path of ['/bots/8', `/bots/${homer}?locale=fr`]) {
      await page.goto(path);
      strictEqual(await page.locator('.bot > p').count(), 0, path);
    }
  });

  it('every page in Arabic fits a phone, has no text in English but names, and axe finds nothing', async () => {
    const page = await open({ locale: 'ar', viewport: { width: 390, height: 900 } });
    const paths = '/ /?q=12345 /categories/music /bots/8 /bots/8/edit /bots/8/translate /add /docs /nothing';
    for (const path of [...paths.split(' '), `/bots/${homer}`]) {
      await page.goto(path);
      deepStrictEqual(await language(page), ['ar', 'rtl'], path);
      ok((await excessWidth(page)) <= 0, path);
      const words = await page.evaluate<string[]>(latinWords);
      deepStrictEqual(
        words.filter((word) => !names.includes(word)),
        [],
        path,
      );
      if (path === `/bots/${homer}`) deepStrictEqual(await axeViolations(page), [], path);
    }
  });

  it('no name of a category breaks within a word, however long it is', async () => {
    const page = await open({ locale: 'de' });
    for (const [path, names] of [
      ['/', '.labels a'],
      ['/categories', '.shelves h2'],
    ] as const) {
      await page.goto(path);
      strictEqual(await page.locator(names, { hasText: 'Benachrichtigungen' }).count(), 1);
      for (const width of [1280, 800, 390]) {
        await page.setViewportSize({ width, height: 900 });
        deepStrictEqual(await page.evaluate(brokenLabels), [], `${width}`);
        ok((await excessWidth(page)) <= 0, `${width}`);
      }
    }
  });

  it('a visitor chooses Japanese without JavaScript, and stays in it', async () => {
    const page = await open({ locale: 'en-US', javaScriptEnabled: false });
    await page.goto('/?q=filler');
    await page.locator('.up summary').click();
    await page.getByRole('link', { name: '日本語' }).click();
    match(await page.title(), /「filler」の検索結果: 30件のボット/);
    await page.getByLabel('ボットを検索').fill('doughnut');
    await page.getByRole('button', { name: '検索' }).click();
    await page.getByRole('link', { name: 'Homer' }).click();
    await page.getByRole('link', { name: 'サーバーに追加' }).waitFor();
    await page.getByRole('link', { name: 'ボットを追加' }).click();
    await page.getByLabel('ボットID').fill('x');
    await page.getByRole('button', { name: '確認' }).click();
    deepStrictEqual(await language(page), ['ja', 'ltr']);
    strictEqual(await page.getByLabel('ボットID').inputValue(), 'x');
    await page.goto('/nothing?locale=ja');
    strictEqual(await page.getByRole('heading', { level: 1 }).textContent(), 'この棚は空です');
    await page.locator('.up summary').click();
    await page.getByRole('link', { name: 'English' }).click();
    strictEqual(await page.getByRole('heading', { level: 1 }).textContent(), 'That shelf is empty');
  });
});
