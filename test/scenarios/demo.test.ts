import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { openBrowserPage } from '../support/browser.ts';
import { type DemoProcess, startDemo } from '../support/demo.ts';
import type { BotListElement } from '../../src/bot/schema-types.ts';
import { eventually } from '../support/eventually.ts';

/** Run in the page: has it load its lazy pictures as if it were scrolled to its end, and lists the pictures that do not load. */
const brokenPictures = `(async () => {
  const pictures = [...document.images].filter((picture) => picture.checkVisibility());
  for (const picture of pictures) picture.loading = 'eager';
  await Promise.all(pictures.map((picture) => picture.decode().catch(() => {})));
  return pictures.filter(({ naturalWidth }) => naturalWidth === 0).map(({ src }) => src);
})()`;

describe('the demo in a browser', function () {
  this.timeout(60_000);
  let demo: DemoProcess;
  before(async () => {
    demo = await startDemo();
    // After a first start, bots are read again to have the copies of their pictures named.
    await eventually(async () => {
      const response = await fetch(`${demo.address}/api/v2/bots?fields=images,cachedImages`);
      const bots = (await response.json()) as Pick<BotListElement, 'images' | 'cachedImages'>[];
      return bots.every(({ images, cachedImages }) => !images.avatar || cachedImages.avatar);
    });
  });

  async function open(path: string): Promise<{ page: Page; bytes: () => Promise<number>; others: string[] }> {
    const page = await openBrowserPage({
      baseURL: demo.address,
      viewport: { width: 390, height: 844 },
      deviceScaleFactor: 3,
    });
    const sizes: Promise<number>[] = [];
    const others: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(demo.address)) others.push(request.url());
    });
    page.on('requestfinished', (request) => {
      sizes.push(request.sizes().then((size) => size.responseBodySize + size.responseHeadersSize));
    });
    await page.goto(path);
    const bytes = async (): Promise<number> =>
      (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    return { page, bytes, others };
  }

  it('shows a list of 24 cards with their pictures in at most 120 KB on a phone', async () => {
    const { page, bytes, others } = await open('/?sort=popular');
    ok((await page.locator('.card img[loading=lazy]').count()) >= 12, 'those below the fold are lazy');
    deepStrictEqual(await page.evaluate(brokenPictures), []);
    strictEqual(await page.locator('.card').count(), 24);
    strictEqual(await page.locator('.card .avatar img').count(), 24);
    const total = await bytes();
    ok(total > 20_000 && total <= 120 * 1024, `${total} bytes`);
    deepStrictEqual(others, []);
  });

  it('shows a search, the largest categories and shelves on the front page, the first card high up', async () => {
    const { page, bytes } = await open('/');
    const headings = await page.getByRole('heading', { level: 2 }).allTextContents();
    deepStrictEqual(headings, ['Growing this month', 'New on the shelf', 'Recently updated']);
    strictEqual(await page.locator('.tiles a').count(), 6);
    const names = await page.locator('.card h3').allTextContents();
    strictEqual(new Set(names).size, names.length, 'no bot is shown twice');
    const banner = (await page.locator('.demo').boundingBox())?.height ?? 0;
    const top = (await page.locator('.card').first().boundingBox())?.y ?? Infinity;
    ok(top - banner < 500, `${top}`);
    strictEqual((await page.getByRole('searchbox').boundingBox())?.height, 52);
    deepStrictEqual(await page.evaluate(brokenPictures), []);
    ok((await bytes()) <= 120 * 1024);
    await page.getByRole('link', { name: /See all.*New on the shelf/ }).click();
    strictEqual(await page.getByRole('heading', { level: 1 }).textContent(), 'New on the shelf');
  });

  it('shows the pictures of every bot, and each has its size in the page', async () => {
    const response = await fetch(`${demo.address}/api/v2/bots?verified=true&fields=id`);
    const { page, others } = await open('/');
    for (const { id } of (await response.json()) as { readonly id: string }[]) {
      await page.goto(`/bots/${id}`);
      deepStrictEqual(await page.evaluate(brokenPictures), [], id);
      strictEqual(await page.locator('img:not([width]), img:not([height])').count(), 0, id);
    }
    deepStrictEqual(others, []);
  });
});
