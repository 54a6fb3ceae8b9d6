import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { BotListElement } from '../../src/bot/schema-types.ts';
import { testBrowser } from '../support/browser.ts';
import { type DemoProcess, startDemo } from '../support/demo.ts';
import { eventually } from '../support/eventually.ts';

/** Run in the page before anything else: notes how far things move, and what the largest thing painted is. */
const observers = `
  globalThis.shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) globalThis.shift += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
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

describe('the budgets of pages, with the demo', function () {
  this.timeout(60_000);
  let demo: DemoProcess;
  let browser: Browser;
  let paths: readonly string[];
  before(async () => {
    [demo, browser] = await Promise.all([startDemo(), testBrowser()]);
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

  async function open(path: string, options: BrowserContextOptions): Promise<Page> {
    const context = await browser.newContext({ baseURL: demo.address, ...options });
    const page = await context.newPage();
    await page.addInitScript(observers);
    await page.goto(path, { waitUntil: 'load' });
    return page;
  }

  for (const width of [390, 1280]) {
    it(`nothing moves, is drawn by a script or comes from elsewhere, ${width} pixels wide`, async () => {
      const viewport = { width, height: 900 };
      for (const path of paths) {
        const page = await open('about:blank', { viewport });
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
        const shift = await page.evaluate<number>('globalThis.shift');
        ok(shift < 0.001, `${path}: ${shift}`);
        deepStrictEqual(others, [], path);
        await page.context().close();
        const without = await open('about:blank', { viewport, javaScriptEnabled: false });
        await without.setContent(html);
        ok((await without.content()).includes(largest), `${path}: ${largest}`);
        await without.context().close();
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
    const tall = await open(path, { viewport: { width: 1280, height: 1600 } });
    const start = (await boxOf(tall, '.bot-body')).y;
    strictEqual((await boxOf(tall, '.side > .panel')).y, start);
    await tall.evaluate(lengthen);
    strictEqual((await boxOf(tall, '.side > .panel')).y, start);
    await tall.evaluate(`scrollTo(0, ${start + 500})`);
    strictEqual((await boxOf(tall, '.side > .panel')).y, 20);
    await tall.context().close();

    const low = await open(path, { viewport: { width: 1280, height: 420 } });
    await low.evaluate(lengthen);
    await low.evaluate(`scrollTo(0, ${start + 2500})`);
    const { y, height } = await boxOf(low, '.side-panels');
    strictEqual(Math.round(y + height), 400);
    await low.context().close();

    const phone = await open(path, { viewport: { width: 390, height: 844 } });
    const order = ['.screenshots', '.side > .panel', '.prose', '.side-panels'];
    const tops = await Promise.all(order.map(async (selector) => (await boxOf(phone, selector)).y));
    deepStrictEqual(
      tops,
      tops.toSorted((a, b) => a - b),
    );
    await phone.emulateMedia({ media: 'print' });
    const isPrinted = async (selector: string): Promise<boolean> => await phone.locator(selector).isVisible();
    deepStrictEqual(await Promise.all(order.map(isPrinted)), [false, true, true, false]);
    await phone.context().close();
  });
});
