import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type BrowserContextOptions, chromium } from 'playwright-core';
import sharp from 'sharp';

/** Takes the pictures of docs/pictures/ from a demo, with the Chromium that CHROMIUM_PATH names. */
const viewport = { width: 1280, height: 900 };
const gatehouse = '/bots/695052603633849935';

const demo = spawn(process.execPath, [pathOf('dist/src/main.js'), 'demo'], {
  env: { ...process.env, PORT: '0' },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  const baseURL = await readAddress();
  await take('front', '/', { baseURL });
  await take('front-dark', '/', { baseURL, colorScheme: 'dark' });
  await take('bot', gatehouse, { baseURL });
  await take('review', '/review', { baseURL }, 'Marge');
} finally {
  await browser.close();
  demo.kill();
}

async function readAddress(): Promise<string> {
  for await (const line of createInterface({ input: demo.stdout })) {
    const address = /ready at (http:\S+)/.exec(line)?.[1];
    if (address !== undefined) return address;
  }
  throw new Error('the demo ended before it was ready');
}

/** @param person who is logged in, by the name in the demo */
async function take(
  name: string,
  path: string,
  options: BrowserContextOptions,
  person?: string,
): Promise<void> {
  const context = await browser.newContext({ ...options, viewport });
  const page = await context.newPage();
  if (person !== undefined) {
    await page.goto(`/login?to=${path}`);
    await page.getByRole('button', { name: person }).click();
  }
  await page.goto(path, { waitUntil: 'networkidle' });
  // The face of the titles is there from the second page on.
  await page.reload({ waitUntil: 'networkidle' });
  // What says that this is a demo is no part of what one gets.
  await page.evaluate("document.querySelector('.demo')?.remove()");
  const picture = await sharp(await page.screenshot())
    .png({ palette: true, compressionLevel: 9 })
    .toBuffer();
  writeFileSync(pathOf(`docs/pictures/${name}.png`), picture);
  await context.close();
}

function pathOf(path: string): string {
  return fileURLToPath(new URL(path, import.meta.resolve('#package')));
}
