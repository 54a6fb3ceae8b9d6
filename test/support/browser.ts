import chromium from '@sparticuz/chromium';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium as driver,
  type Page,
} from 'playwright-core';

/**
 * The Chromium of the test file, started at its first use: the one that CHROMIUM_PATH names, else
 * the one that the tests bring. It ends with the file's tests.
 * @throws when there is none that starts
 */
export async function testBrowser(): Promise<Browser> {
  browser ??= launch();
  return await browser;
}

/** Opens an empty page of a browser without cookies or a cache. It closes when the test is over. */
export async function openBrowserPage(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await (await testBrowser()).newContext(options);
  contexts.push(context);
  return await context.newPage();
}

let browser: Promise<Browser> | undefined;
const contexts: BrowserContext[] = [];

afterEach('close the pages', async () => {
  await Promise.all(contexts.splice(0).map(async (context) => await context.close()));
});

after('stop the browser', async () => {
  const running = await browser;
  browser = undefined;
  await running?.close();
});

async function launch(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM_PATH'] ?? (await chromium.executablePath());
  // Not chromium.args: they would turn off the browser's own rules about what a page may do.
  return await driver.launch({ executablePath, args: ['--no-sandbox'] });
}
