import chromium from '@sparticuz/chromium';
import { type Browser, chromium as driver } from 'playwright-core';

/**
 * The Chromium of the test file, started at its first use: the one that CHROMIUM_PATH names, else
 * the one that the tests bring. It ends with the file's tests.
 * @throws when there is none that starts
 */
export async function testBrowser(): Promise<Browser> {
  browser ??= launch();
  return await browser;
}

let browser: Promise<Browser> | undefined;

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
