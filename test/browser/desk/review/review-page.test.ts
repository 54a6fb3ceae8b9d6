import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { openLoggedIn } from '../../../support/browser.ts';
import { author, homer, type LoginSite, openLoginSite } from '../../../support/login-site.ts';
import { checkAtWidths, checkInDark } from '../../../support/page-checks.ts';
import { openProposals } from '../../../support/proposals.ts';
import { accountId, botId, mainPage, pagePath, translation } from '../../../support/sample.ts';
import { needs } from '../../../support/tools.ts';

const maintainer = '42';
const invite = 'https://discord.com/oauth2/authorize?client_id=7&scope=bot&permissions=';

needs('chromium', describe)('the review, in a browser', function () {
  this.timeout(120_000);
  let site: LoginSite;

  before(async () => {
    site = await openLoginSite({
      prepare: async (repo) => {
        const keys = { authors: [author], invite: `${invite}19456` };
        const text = '# Homer\n\nAsk him about doughnuts, and he says which is best.\n';
        repo.commit({
          [pagePath(homer)]: mainPage(keys, text),
          'botshelf.json': JSON.stringify({ maintainers: [maintainer] }),
          'blocked.json': JSON.stringify({ accounts: { 5: { reason: 'Spam', since: '2026-11-22' } } }),
        });
        const proposals = await openProposals(repo.folder);
        const website = 'https://lantern.example/';
        const added = { name: 'Lantern', description: 'Logs deleted messages.', website, authors: ['701'] };
        const edited = {
          ...keys,
          invite: `${invite}8`,
          description: 'Answers all questions about doughnuts.',
        };
        const german = translation('Homer', 'Beantwortet Fragen zu Donuts.', '## Donuts\n\nFrag ihn.');
        for (const [bot, account, path, page] of [
          ['1001', '701', pagePath('1001'), mainPage(added, '# Lantern\n\nShines.')],
          [homer, author, pagePath(homer), mainPage(edited, `${text}\nIt also makes coffee.\n`)],
          [homer, '703', pagePath(homer, 'de'), german],
        ] as const) {
          const proposer = { id: accountId(account), name: `Nadia ${account}` };
          const note = 'Try it in my server:\n/window open';
          await proposals.send({ subject: botId(bot), proposer, pages: new Map([[path, page]]), note });
        }
      },
    });
  });

  it('keeps to the accessibility rules, and fits the screen', async () => {
    const body = new URLSearchParams({ reason: 'scam', text: 'It asks for passwords.' });
    const headers = { 'sec-fetch-site': 'same-origin' };
    await fetch(`${site.baseUrl}/bots/${homer}/report`, { method: 'POST', headers, body });
    const page = await openLoggedIn(site, maintainer, '/review');
    for (const path of [
      '/review',
      '/review?tab=reports',
      `/review/${homer}/${author}?locale=ar`,
      `/review/${homer}/${author}`,
      '/review/1001/701',
      '/review/blocked',
      '/review/blocked?kind=account&name=5&locale=ar',
      `/review/blocked?kind=bot&name=${homer}&locale=en`,
    ]) {
      await page.goto(path);
      await checkAtWidths(page, path, [1280, 360]);
      const remove = page.locator('[name=remove] summary');
      if (await remove.isVisible()) await remove.click();
      if (path.endsWith(author)) await checkInDark(page, path);
    }
    for (const summary of await page.locator('.decide summary').all())
      if (await summary.isVisible()) await summary.click();
    await checkAtWidths(page, 'with a form open', [360]);
  });

  it('has keys: j and k lead on and back, a to the button that accepts, / to the search', async () => {
    const page = await openLoggedIn(site, maintainer, '/review');
    const focused = async (property: string): Promise<string> =>
      await page.evaluate<string>(`document.activeElement.${property}`);
    const rows: string[] = [];
    for (const key of ['j', 'j', 'k']) {
      await page.keyboard.press(key);
      rows.push(await focused('pathname'));
    }
    const [first = '', second = ''] = rows;
    deepStrictEqual(rows, [first, second, first]);
    match(second, /^\/review\/\d+\/\d+$/);
    await page.keyboard.press('/');
    await page.keyboard.type('jka');
    deepStrictEqual([await focused('id'), await focused('value')], ['q', 'jka']);

    await page.goto(first);
    await page.keyboard.press('a');
    strictEqual(await focused('value'), 'accepted');
    await page.keyboard.press('j');
    await page.waitForURL(`**${second}`);
    await page.keyboard.press('k');
    await page.waitForURL(`**${first}`);
    await page.locator('#keys input').uncheck();
    await page.keyboard.press('a');
    strictEqual(await focused('type'), 'checkbox');
    // The pages of this file share what their browser keeps.
    await page.evaluate('localStorage.clear()');

    await page.goto('/review');
    await page.emulateMedia({ forcedColors: 'active' });
    const lined = `[...document.querySelectorAll('.tabs a')].map((tab) => getComputedStyle(tab).borderBottomColor
      !== getComputedStyle(document.documentElement).backgroundColor)`;
    deepStrictEqual(await page.evaluate(lined), [true, false, false, false, false], 'the chosen tab');
  });

  it('says that it has keys before its script is there, so that nothing moves; not without scripts', async () => {
    const options = { viewport: { width: 1280, height: 900 } };
    const page = await openLoggedIn(site, maintainer, '/review', options);
    await page.route('**/review.*.js', async (route) => await route.abort());
    await page.reload();
    strictEqual(await page.locator('#keys').isVisible(), true);
    await page.unroute('**/review.*.js');
    const plain = await openLoggedIn(site, maintainer, '/review', { ...options, javaScriptEnabled: false });
    strictEqual(await plain.locator('#keys').isVisible(), false);
  });

  it('is done on a phone without a script: the buttons are on the screen at once', async () => {
    const options = { javaScriptEnabled: false, viewport: { width: 360, height: 740 } };
    const page = await openLoggedIn(site, maintainer, `/review/${homer}/703`, options);
    const accept = page.getByRole('button', { name: 'Accept' });
    const box = await accept.boundingBox();
    strictEqual(box !== null && box.y + box.height <= 740, true);
    await page.getByText('Decline', { exact: true }).first().click();
    await page.selectOption('[name=reason]', 'unclear');
    await page.locator('details[open] button').click();
    await page.getByText('declined it').first().waitFor();
    await page
      .getByRole('link', { name: /Next|Previous/ })
      .first()
      .waitFor();
  });
});
