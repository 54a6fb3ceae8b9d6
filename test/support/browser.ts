import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserContextOptions, chromium as driver, type Page } from 'playwright-core';
import { cleanUp, cleanUpAtEnd } from './cleanup.ts';
import type { LoginSite } from './login-site.ts';

/**
 * The Chromium of the run, started at its first use: the one that CHROMIUM_PATH names, else the one that the tests
 * bring.
 * @throws if no browser starts
 */
async function testBrowser(): Promise<Browser> {
  if (browser === undefined) {
    browser = launch();
    cleanUpAtEnd(async () => {
      const running = await browser;
      browser = undefined;
      idle.length = 0;
      await running?.close();
    });
  }
  return await browser;
}

/**
 * Opens an empty page of a browser without cookies or a cache. A later test with the same options gets the page again, cleared,
 * because a new window costs more CPU than most tests.
 */
export async function openBrowserPage(options: BrowserContextOptions = {}): Promise<Page> {
  const key = JSON.stringify(options);
  const index = idle.findIndex((one) => one.key === key);
  const [known] = index < 0 ? [] : idle.splice(index, 1);
  const page = known?.page ?? (await openWindow(options));
  cleanUp(async () => {
    try {
      await clear(page, options);
    } catch {
      // The page crashed, or was on its way to another page.
      return await page.context().close();
    }
    idle.push({ key, page });
    if (idle.length > maxIdle) await idle.shift()?.page.context().close();
  });
  return page;
}

async function openWindow(options: BrowserContextOptions): Promise<Page> {
  const context = await (await testBrowser()).newContext(options);
  // A little less than a test's own limit, because half a minute is short on a busy machine.
  context.setDefaultTimeout(100_000);
  return await context.newPage();
}

async function clear(page: Page, { viewport }: BrowserContextOptions): Promise<void> {
  for (const event of ['console', 'dialog', 'pageerror', 'request', 'requestfinished'])
    page.removeAllListeners(event);
  await page.goto('about:blank');
  await page.context().clearCookies();
  const session = await page.context().newCDPSession(page);
  await session.send('Network.clearBrowserCache');
  await session.detach();
  await page.emulateMedia({ colorScheme: null, forcedColors: null, media: null });
  await page.setViewportSize(viewport ?? { width: 1280, height: 720 });
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
/** The pages that no test has open, the latest last. */
const idle: { readonly key: string; readonly page: Page }[] = [];
const maxIdle = 3;

/** Playwright's own, because Chromium takes only the last list, and the address bar's pop-up, which takes two seconds of CPU for each window. */
const disabledFeatures = `
  AvoidUnnecessaryBeforeUnloadCheckSync DestroyProfileOnBrowserClose HttpsUpgrades HttpsFirstBalancedModeAutoEnable MediaRouter
  PaintHolding ThirdPartyStoragePartitioning AvoidCorsURLLoaderRestartOnRedirect OptimizationHints
  NetworkTimeServiceQuerying AimEnabled WebUIOmniboxPopup WebUIOmniboxAimPopup
`;

async function launch(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM_PATH'] ?? (await chromium.executablePath());
  // Not chromium.args: they would turn off the browser's own rules about what a page may do.
  const args = ['--no-sandbox', `--disable-features=${disabledFeatures.trim().split(/\s+/).join()}`];
  return await driver.launch({ executablePath, args });
}
