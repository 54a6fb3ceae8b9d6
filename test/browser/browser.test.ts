import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { openBrowserPage } from '../support/browser.ts';
import { cleanUp } from '../support/cleanup.ts';
import { eventually } from '../support/eventually.ts';
import { checkAtWidths, checkInDark, checkStillness, observeShifts } from '../support/page-checks.ts';
import { testRepository } from '../support/repository.ts';
import { keepImages } from '../support/images.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { writeFiles } from '../support/temp-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { files, homer, paths, pictures } from '../support/showcase.ts';
import { needs } from '../support/tools.ts';

needs('chromium', describe)('in a browser', function () {
  let service: TestService;
  before(async () => {
    const root = testRepository(files).folder;
    await keepImages(root, pictures, { width: 300, height: 100 });
    service = await startTestService({}, { root, env: { BOTSHELF_IMAGES: 'on' } });
  });

  /** A page, and what went wrong on it: faults, breaches of the policy, requests that leave the origin. */
  async function open(
    options: BrowserContextOptions = {},
    address = service.address,
  ): Promise<{ page: Page; wrongs: string[] }> {
    const page = await openBrowserPage({ baseURL: address, locale: 'en-US', ...options });
    const script = await page.addInitScript(observeShifts);
    cleanUp(async () => await script.dispose());
    const wrongs: string[] = [];
    page.on('pageerror', (error) => wrongs.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !/status of 404/.test(message.text())) wrongs.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(address)) wrongs.push(request.url());
    });
    return { page, wrongs };
  }

  it('a visitor finds a bot by search and reads it in French', async () => {
    const { page, wrongs } = await open();
    await page.goto('/');
    await page.getByLabel('Search bots').fill('doughnut');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('link', { name: 'Homer' }).click();
    await page.locator('.bot-facts summary').click();
    await page.locator('.bot-facts').getByRole('link', { name: 'français' }).click();
    strictEqual(await page.getByRole('heading', { level: 1 }).textContent(), 'Homère');
    strictEqual(
      await page.locator('[lang=fr].prose').textContent(),
      '\nLes beignets\nBonjour.\n'.trimStart(),
    );
    deepStrictEqual(wrongs, []);
  });

  it('everything is reached with the keyboard only', async () => {
    const { page } = await open();
    await page.goto('/');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    const focused = async (): Promise<string> =>
      await page.evaluate<string>('(document.activeElement.textContent || document.activeElement.id).trim()');
    await page.keyboard.press('Tab');
    strictEqual(await focused(), 'q');
    await page.keyboard.type('doughnut');
    await page.keyboard.press('Enter');
    await page.waitForURL(/q=doughnut/);
    for (let i = 0; i < 60 && (await focused()) !== 'Homer'; i++) await page.keyboard.press('Tab');
    strictEqual(
      await page.evaluate("getComputedStyle(document.activeElement, '::after').outlineStyle"),
      'solid',
    );
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/bots\//);
    for (let i = 0; i < 60 && (await focused()) !== 'Add to server'; i++) await page.keyboard.press('Tab');
    strictEqual(await focused(), 'Add to server');
  });

  it('the form for a new bot says what is wrong with a field once it is left', async () => {
    const { page, wrongs } = await open();
    await page.goto('/add');
    await page.getByLabel('Bot ID').fill('123456789012345678');
    await page.getByLabel('Invite').fill('http://example.org');
    await page.getByLabel('Invite').blur();
    await eventually(async () =>
      match((await page.locator('#fault-invite').textContent()) ?? '', /https:\/\//),
    );
    strictEqual(await page.locator('#fault-name').textContent(), '');
    strictEqual(await page.locator('#path').textContent(), 'bots/678/123456789012345678.en.md');
    await page.getByLabel('Invite').fill('https://example.org');
    await eventually(async () => strictEqual(await page.locator('#fault-invite').textContent(), ''));
    // The pages of this file share what their browser keeps.
    await page.evaluate('localStorage.clear()');
    deepStrictEqual(wrongs, []);
  });

  it('every page loads from its origin only, stays still and fits the screen, and axe finds nothing', async function () {
    this.timeout(120_000);
    const { page, wrongs } = await open();
    for (const path of paths) {
      await page.goto(path);
      await checkStillness(page, path);
      await checkAtWidths(page, path, [1280, 320, 390]);
      if (['/bots/8', '/bots/11'].includes(path)) await checkInDark(page, path);
    }
    deepStrictEqual(wrongs, []);
  });

  it('the pictures of a page move nothing when they load', async () => {
    const { page, wrongs } = await open();
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto('/bots/13', { waitUntil: 'load' });
      const picturesOfPage = await page.locator('.prose img').all();
      const sizes = async (): Promise<unknown> =>
        await page.evaluate(
          "[...document.querySelectorAll('.prose img')].map(({ width, height }) => [width, height])",
        );
      const before = await sizes();
      for (const picture of picturesOfPage) await picture.scrollIntoViewIfNeeded();
      const loaded =
        "[...document.images].filter((image) => image.naturalWidth > 0 && image.closest('.prose'))";
      await eventually(async () => strictEqual(await page.evaluate(`${loaded}.length`), 9));
      deepStrictEqual(await sizes(), before);
      await checkStillness(page, `${width} pixels wide`);
      strictEqual(await page.getByRole('link', { name: 'a badge' }).count(), 1);
      deepStrictEqual(wrongs, []);
    }
  });

  it('a bot without screenshots has its text and its permissions beside each other, at the same height', async () => {
    const { page } = await open();
    await page.goto('/bots/12');
    const top = async (selector: string): Promise<number> =>
      (await page.locator(selector).first().boundingBox())?.y ?? Number.NaN;
    const [text, side] = [await top('.prose'), await top('.bot-body > .ingredients')];
    ok(Math.abs(text - side) < 2, `${text} ${side}`);
  });

  it('screenshots open whole, and links lead from one to the next without a script', async () => {
    const { page } = await open({ javaScriptEnabled: false });
    await page.goto('/bots/10');
    await page.locator('.screenshots li a').first().click();
    const shown = page.locator('.opened:visible');
    strictEqual(await shown.getAttribute('id'), 'screenshot-0');
    strictEqual(await shown.getByRole('link', { name: 'Previous' }).count(), 0);
    await shown.getByRole('link', { name: 'Next' }).click();
    strictEqual(await shown.getAttribute('id'), 'screenshot-1');
    await shown.getByRole('link', { name: 'Previous' }).click();
    strictEqual(await shown.getAttribute('id'), 'screenshot-0');
    await shown.getByRole('link', { name: 'Close' }).click();
    strictEqual(await shown.count(), 0);
  });

  it('the button that adds a bot stays on the screen of a phone', async () => {
    const { page } = await open();
    await page.setViewportSize({ width: 390, height: 700 });
    await page.goto(`/bots/${homer}`);
    for (const y of [0, 100_000]) {
      await page.evaluate(`scrollTo(0, ${y})`);
      const box = await page.getByRole('link', { name: 'Add to server' }).boundingBox();
      ok(box && box.y > 600 && box.y + box.height <= 700, JSON.stringify(box));
    }
  });

  it('the label has its frame, and what can do harm its sign, in forced colours too', async () => {
    const { page } = await open();
    await page.emulateMedia({ forcedColors: 'active' });
    await page.goto('/bots/8');
    const edges = `['.ingredients', '.ingredients dl .harm .sign'].map((selector) => {
      const { borderTopStyle, borderTopWidth } = getComputedStyle(document.querySelector(selector));
      return borderTopStyle + ' ' + borderTopWidth;
    })`;
    deepStrictEqual(await page.evaluate(edges), ['solid 3px', 'solid 2px']);
    strictEqual(await page.locator('.ingredients dl .harm .sign').textContent(), '!');
    strictEqual(await page.locator('#signs .sign').textContent(), '!');
  });

  it('an avatar that is not square is cut to a square, not squeezed into one', async () => {
    const { page } = await open();
    for (const path of ['/bots/10', '/?q=gallery']) {
      await page.goto(path);
      const box = await page.locator('.avatar img').first().boundingBox();
      ok(box && box.width === box.height && box.width >= 56, `${path} ${JSON.stringify(box)}`);
      const fit = "getComputedStyle(document.querySelector('.avatar img')).objectFit";
      strictEqual(await page.evaluate(fit), 'cover');
    }
  });

  describe('while its files are edited', () => {
    let live: TestService;
    before(async () => {
      live = await startTestService({}, { root: testRepository(files).folder, env: { BOTSHELF_DEV: 'on' } });
    });

    it('an open page follows them, and shows what is wrong with them', async () => {
      live.expectLog(/190519304972663312\.en\.md.*a file breaks a rule/);
      const { page, wrongs } = await open({}, live.address);
      await page.goto(`/bots/${homer}`);
      const heading = async (name: string): Promise<void> =>
        await page.getByRole('heading', { level: 1, name }).waitFor({ timeout: 15_000 });
      writeFiles(live.root, { [pagePath(homer)]: mainPage({ name: 'Marge' }) });
      await heading('Marge');
      writeFiles(live.root, { [pagePath(homer)]: mainPage({ name: 'Bart', invite: 'no' }) });
      const alert = page.getByRole('alert');
      await alert.waitFor({ timeout: 15_000 });
      match((await alert.textContent()) ?? '', /190519304972663312\.en\.md:\d+:\d+.*https/);
      await heading('Marge');
      writeFiles(live.root, { [pagePath(homer)]: mainPage({ name: 'Bart' }) });
      await heading('Bart');
      strictEqual(await alert.count(), 0);
      deepStrictEqual(wrongs, []);
    });

    it('a bot that was never right has its faults in place of its page', async () => {
      const { page } = await open({}, live.address);
      live.expectLog(/55\.en\.md.*a file breaks a rule/);
      writeFiles(live.root, { [pagePath('55')]: '---\n{}\n---\n' });
      await eventually(async () => {
        await page.goto('/bots/55');
        match((await page.getByRole('alert').textContent({ timeout: 2000 })) ?? '', /"name" is missing/);
      });
    });

    it('a public site has nothing of it', async () => {
      const { page } = await open();
      strictEqual((await page.goto('/live'))?.status(), 404);
      await page.goto('/');
      ok(!(await page.content()).includes('live.'));
    });
  });
});
