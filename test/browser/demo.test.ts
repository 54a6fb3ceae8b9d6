import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { openBrowserPage } from '../support/browser.ts';
import { type DemoProcess, startDemo } from '../support/demo.ts';
import type { BotListElement } from '../../src/bot/schema-types.ts';
import { checkAtWidths, checkStillness, observeShifts } from '../support/page-checks.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/tools.ts';

/** Run in the page: has it load its lazy pictures as if it were scrolled to its end, and lists the pictures that do not load. */
const brokenPictures = `(async () => {
  const pictures = [...document.images].filter((picture) => picture.checkVisibility());
  for (const picture of pictures) picture.loading = 'eager';
  await Promise.all(pictures.map((picture) => picture.decode().catch(() => {})));
  return pictures.filter(({ naturalWidth }) => naturalWidth === 0).map(({ src }) => src);
})()`;

/** Run in the page before anything else: notes what moves, and what the largest thing painted is. */
const observers = `${observeShifts}
  new PerformanceObserver((list) => {
    globalThis.largest = list.getEntries().at(-1)?.element?.outerHTML;
  }).observe({ type: 'largest-contentful-paint', buffered: true });`;

/** Run in the page: scrolls to its end, so that lazy pictures load and what they move is noted. */
const scrollThrough = `(async () => {
  for (let y = 0; y < document.body.scrollHeight; y += 300) {
    scrollTo(0, y);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
})()`;

needs('chromium', describe)('the demo in a browser', function () {
  let demo: DemoProcess;
  let paths: readonly string[];
  before(async () => {
    demo = await startDemo();
    // After a first start, bots are read again to have the copies of their images named.
    let bots: Pick<BotListElement, 'id' | 'images' | 'cachedImages' | 'invite'>[] = [];
    await eventually(async () => {
      const response = await fetch(
        `${demo.address}/api/v2/bots?fields=id,images,cachedImages,invite&limit=100`,
      );
      bots = (await response.json()) as typeof bots;
      return bots.every(({ images, cachedImages }) => !images.avatar || cachedImages.avatar);
    });
    const withAll = bots.find(
      ({ invite, cachedImages }) => invite.includes('permissions=') && cachedImages.preview.length > 0,
    );
    paths = ['/', '/?sort=popular', `/bots/${withAll?.id}`];
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

  it('lets a visitor log in as the maintainer, at both names of this machine, without a script', async () => {
    for (const host of ['127.0.0.1', 'localhost']) {
      const address = demo.address.replace('127.0.0.1', host);
      const page = await openBrowserPage({ javaScriptEnabled: false });
      await page.goto(`${address}/login`);
      await page.getByRole('button', { name: 'Marge' }).click();
      strictEqual(await page.locator('form.account bdi').textContent(), 'Marge', host);
      const [cookie] = await page.context().cookies();
      deepStrictEqual([cookie?.name, cookie?.secure, cookie?.domain], ['__Host-botshelf', true, host]);
      await page.getByRole('button', { name: 'Log out' }).click();
      strictEqual(await page.getByRole('link', { name: 'Log in' }).count(), 1);
    }
  });

  it('has a page to log in that fits a phone, and axe finds nothing', async () => {
    const page = await openBrowserPage();
    await page.goto(`${demo.address}/login?locale=ar`);
    await checkAtWidths(page, 'the people of the demo', [1280, 320]);
  });

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
    const [first, ...others] = ['Growing this month', 'New on the shelf', 'Recently updated'];
    deepStrictEqual(headings, [first, 'Your first server', 'Game night', ...others]);
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

  async function openObserved(path: string, options: BrowserContextOptions): Promise<Page> {
    const page = await openBrowserPage({ baseURL: demo.address, ...options });
    await page.addInitScript(observers);
    await page.goto(path, { waitUntil: 'load' });
    return page;
  }

  for (const width of [390, 1280]) {
    it(`nothing moves, is drawn by a script or comes from elsewhere, ${width} pixels wide`, async () => {
      const viewport = { width, height: 900 };
      for (const path of paths) {
        const page = await openObserved('about:blank', { viewport });
        const others: string[] = [];
        page.on('request', (request) => {
          if (!request.url().startsWith(`${demo.address}/`)) others.push(request.url());
        });
        const response = await page.goto(path, { waitUntil: 'networkidle' });
        const html = (await response?.text()) ?? '';
        await eventually(async () => await page.evaluate<boolean>('globalThis.largest !== undefined'));
        const largest = await page.evaluate<string>('globalThis.largest');
        await page.evaluate(scrollThrough);
        // A line may wrap when its end arrives after its beginning: far below the 0.1 that people notice.
        await checkStillness(page, path, 0.02);
        deepStrictEqual(others, [], path);
        const without = await openObserved('about:blank', { viewport, javaScriptEnabled: false });
        await without.setContent(html);
        ok((await without.content()).includes(largest), `${path}: ${largest}`);
      }
    });
  }

  it('every example on the front page finds bots, in any language', async () => {
    for (const locale of ['en', 'de', 'ja', 'ar']) {
      const links = async (): Promise<string[]> => {
        const html = await (await fetch(`${demo.address}/?locale=${locale}`)).text();
        const list = /<ul class="examples">.*?<\/ul>/s.exec(html)?.[0] ?? '';
        return [...list.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'));
      };
      await eventually(async () => (await links()).length >= 3);
      if (locale === 'en') match(await (await fetch(`${demo.address}/?locale=en`)).text(), /<li>Try:</);
      for (const link of await links()) {
        const html = await (await fetch(`${demo.address}${link}`)).text();
        match(html, /class="card"/, link);
      }
    }
  });

  it('similar bots have the cards of lists, with their growth and when they were updated', async () => {
    const html = await (await fetch(`${demo.address}${paths[2]}?locale=en`)).text();
    const similar = /<section class="similar".*?<\/section>/s.exec(html)?.[0] ?? '';
    const cards = similar.match(/class="card"/g) ?? [];
    ok(cards.length > 0);
    strictEqual(similar.match(/>Updated <bdi>/g)?.length, cards.length);
    match(similar, /class="growth/);
  });

  it('the permissions stay beside a page on a wide screen, and a low window covers none of the column; they are printed', async () => {
    const path = paths[2] ?? '';
    const lengthen = "document.querySelector('.bot-body .prose').style.minHeight = '4000px'";
    const boxOf = async (page: Page, selector: string): Promise<{ y: number; height: number }> =>
      (await page.locator(selector).first().boundingBox()) ?? { y: Number.NaN, height: Number.NaN };
    const tall = await openObserved(path, { viewport: { width: 1280, height: 1600 } });
    const start = (await boxOf(tall, '.bot-body')).y;
    strictEqual((await boxOf(tall, '.side > .panel')).y, start);
    await tall.evaluate(lengthen);
    strictEqual((await boxOf(tall, '.side > .panel')).y, start);
    await tall.evaluate(`scrollTo(0, ${start + 500})`);
    strictEqual((await boxOf(tall, '.side > .panel')).y, 20);

    const low = await openObserved(path, { viewport: { width: 1280, height: 420 } });
    await low.evaluate(lengthen);
    await low.evaluate(`scrollTo(0, ${start + 2500})`);
    const { y, height } = await boxOf(low, '.side-panels');
    strictEqual(Math.round(y + height), 400);

    const phone = await openObserved(path, { viewport: { width: 390, height: 844 } });
    const order = ['.screenshots', '.prose', '.side > .panel', '.side-panels'];
    const tops = await Promise.all(order.map(async (selector) => (await boxOf(phone, selector)).y));
    deepStrictEqual(
      tops,
      tops.toSorted((a, b) => a - b),
    );
    await phone.emulateMedia({ media: 'print' });
    const isPrinted = async (selector: string): Promise<boolean> => await phone.locator(selector).isVisible();
    deepStrictEqual(await Promise.all(order.map(isPrinted)), [false, true, true, false]);
  });
});
