import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { parseToken } from '../../../../src/bot/token.ts';
import { author, openLoginSite, type LoginSite, stranger } from '../../../support/login-site.ts';
import { logIn, openBrowserPage, openLoggedIn } from '../../../support/browser.ts';
import { checkAtWidths } from '../../../support/page-checks.ts';
import { needs } from '../../../support/tools.ts';

needs('chromium', describe)('the page of a bot’s token, in a browser', function () {
  /** Each test has a bot of its own. */
  const bots = Array.from({ length: 8 }, (_, i) => String(1001 + i));
  let site: LoginSite;
  let id: string;
  let tokenPath: string;

  before(async () => {
    site = await openLoginSite({ bots });
  });

  beforeEach(() => {
    id = bots.shift() ?? '';
    tokenPath = `/bots/${id}/token`;
  });

  const post = async (token: string, count: number): Promise<number> =>
    (await site.service.post(id, token, { count })).status;

  it('gives an author without JavaScript a token that posts, until it is replaced or revoked', async () => {
    const page = await openBrowserPage({ javaScriptEnabled: false });
    await page.goto(site.baseUrl + tokenPath);
    await page.getByRole('link', { name: /Log in with/ }).click();
    await logIn(page, author);
    await page.waitForURL(site.baseUrl + tokenPath);
    await page.getByRole('button', { name: 'Issue a token' }).click();
    const field = page.getByLabel('Token', { exact: true });
    const token = await field.inputValue();
    ok(parseToken(token));
    strictEqual(await field.isEditable(), false);
    strictEqual(await page.getByRole('button', { name: 'Copy' }).isVisible(), false);
    strictEqual(await post(token, 156), 200);
    await page.getByRole('link', { name: 'Homer' }).click();
    await page.getByText('156', { exact: true }).waitFor();

    await page.getByRole('link', { name: 'Manage' }).click();
    ok(!(await page.content()).includes(token));
    await page.getByText('Replace or revoke the token').click();
    await page.getByRole('button', { name: 'Regenerate' }).click();
    const second = await page.getByLabel('Token', { exact: true }).inputValue();
    strictEqual(await post(token, 157), 401);
    strictEqual(await post(second, 157), 200);

    await page.getByText('Replace or revoke the token').click();
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('The token is revoked').waitFor();
    strictEqual(await post(second, 158), 401);

    await page.locator('.account summary').click();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.goto(site.baseUrl + tokenPath);
    ok(await page.getByRole('link', { name: /Log in with/ }).isVisible());
  });

  it('starts the login with a link, because Chromium applies form-action to redirects after a form', async () => {
    const page = await openBrowserPage();
    const answer = await page.goto(site.baseUrl + tokenPath);
    match(answer?.headers()['content-security-policy'] ?? '', /form-action 'self'/);
    strictEqual(await page.locator('form[action^="/login"]').count(), 0);
    await page.getByRole('link', { name: /Log in with/ }).click();
    await page.waitForURL((url) => url.origin === site.provider.issuer);
  });

  it('copies the token at a press of the button, and /docs, which is folded on a phone, a command without its output', async () => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const page = await openLoggedIn(site, author, tokenPath, { permissions });
    await page.getByRole('button', { name: 'Issue a token' }).click();
    const token = await page.getByLabel('Token', { exact: true }).inputValue();
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied.').waitFor();
    strictEqual(await page.evaluate('navigator.clipboard.readText()'), token);

    await page.goto(`${site.baseUrl}/docs`);
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied.' }).waitFor();
    match(
      await page.evaluate<string>('navigator.clipboard.readText()'),
      new RegExp(`^curl '${site.baseUrl}/api/v2/bots\\?[^\n]*'$`),
    );

    const isVisible = async (selector: string): Promise<boolean> =>
      await page.locator(selector).first().isVisible();
    ok(await isVisible('.rail ul'), 'a list next to the text');
    await page.setViewportSize({ width: 390, height: 800 });
    ok(!(await isVisible('.rail ul')), 'folded on a phone');
    await page.locator('.rail summary').click();
    ok(await isVisible('.rail ul'));
    await page.goto(`${site.baseUrl}/docs/bots`);
    ok(await isVisible('.prose table'), 'each route is open, as links lead to it');
  });

  it('shows an account that is no author only how to use another account', async () => {
    const page = await openLoggedIn(site, stranger, tokenPath);
    await page.getByText('Only the authors of Homer can get its token').waitFor();
    strictEqual(await page.locator('main button').count(), 0);

    await page.getByRole('link', { name: 'Log in with another account' }).click();
    await logIn(page, author);
    await page.getByRole('button', { name: 'Issue a token' }).waitFor();
  });

  it('needs no mouse, and keeps to the accessibility rules, to its policy and to its origin', async () => {
    const page = await openBrowserPage({ viewport: { width: 390, height: 800 } });
    const wrongs: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' && page.url().startsWith(site.baseUrl)) wrongs.push(message.text());
    });
    page.on('request', (request) => {
      const ours = page.url().startsWith(site.baseUrl) && !request.isNavigationRequest();
      if (ours && !request.url().startsWith(site.baseUrl)) wrongs.push(request.url());
    });
    await page.goto(site.baseUrl + tokenPath);
    await tabTo(page, /Log in with/);
    await page.keyboard.press('Enter');
    await page.locator('[name=login]:focus').waitFor();
    await page.keyboard.type(author);
    await page.keyboard.press('Tab');
    await page.locator('[name=password]:focus').waitFor();
    await page.keyboard.type('any');
    await page.keyboard.press('Enter');
    await page.getByText('Continue').waitFor();
    await tabTo(page, /Continue/);
    await page.keyboard.press('Enter');
    await page.waitForURL(site.baseUrl + tokenPath);
    await tabTo(page, /Issue a token/);
    await page.keyboard.press('Enter');
    const field = page.getByLabel('Token', { exact: true });
    await field.waitFor();
    strictEqual(await page.evaluate('document.activeElement.id'), 'token');
    strictEqual(await page.evaluate('getSelection().toString()'), await field.inputValue());
    await tabTo(page, /Replace or revoke the token/);
    await page.keyboard.press('Enter');
    await checkAtWidths(page, 'with a new token', [390]);
    await tabTo(page, /^Revoke$/);
    await page.keyboard.press('Enter');
    await page.getByText('The token is revoked').waitFor();
    deepStrictEqual(wrongs, []);

    await page.goto(`${site.baseUrl}/login/callback`);
    match(await page.title(), /log in again/i);
    await checkAtWidths(page, 'after a login that failed', [390]);
  });
});

/** Presses Tab until what has the focus says `words`. */
async function tabTo(page: Page, words: RegExp): Promise<void> {
  await page.getByText(words).first().waitFor();
  for (let presses = 0; presses < 40; presses++) {
    const text = await page.evaluate<string>('document.activeElement?.textContent ?? ""');
    if (words.test(text.trim()) && text.length < 200) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab never comes to ${words.source} on ${await page.content()}`);
}
