import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserContextOptions, chromium as driver, type Page } from 'playwright-core';
import { cleanUp, cleanUpAfterFile } from './cleanup.ts';
import type { LoginSite } from './login-site.ts';

/**
 * The Chromium of the run, started at its first use: the one that CHROMIUM_PATH names, else
 * the one that the tests bring.
 * @throws when there is none that starts
 */
export async function testBrowser(): Promise<Browser> {
  if (browser === undefined) {
    browser = launch();
    cleanUpAfterFile(async () => {
      const running = await browser;
      browser = undefined;
      await running?.close();
    });
  }
  return await browser;
}

/** Opens an empty page of a browser without cookies or a cache. It closes when the test is over. */
export async function openBrowserPage(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await (await testBrowser()).newContext(options);
  cleanUp(async () => await context.close());
  return await context.newPage();
}

/** Opens a page of a site in a browser that is logged in there. */
export async function openLoggedIn(
  site: LoginSite,
  account: string,
  path: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const { visitor } = await site.loggedIn(account, path);
  const page = await openBrowserPage({ baseURL: site.baseUrl, ...options });
  const cookies = [...(visitor.cookies.get(new URL(site.baseUrl).host) ?? [])];
  await page
    .context()
    .addCookies(
      cookies.map(([name, value]) => ({ name, value, domain: 'localhost', path: '/', secure: true })),
    );
  await page.goto(path);
  return page;
}

/** Logs in on the page of the provider, and consents. */
export async function logIn(page: Page, account: string): Promise<void> {
  await page.fill('[name=login]', account);
  await page.fill('[name=password]', 'any');
  await page.click('[type=submit]');
  await page.click('[type=submit]');
}

let browser: Promise<Browser> | undefined;

async function launch(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM_PATH'] ?? (await chromium.executablePath());
  // Not chromium.args: they would turn off the browser's own rules about what a page may do.
  return await driver.launch({ executablePath, args: ['--no-sandbox'] });
}
