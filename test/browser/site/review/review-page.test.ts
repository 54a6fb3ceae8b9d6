import { strictEqual } from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { openBrowserPage } from '../../../support/browser.ts';
import { author, homer, type LoginSite, openLoginSite } from '../../../support/login-site.ts';
import { checkAtWidths } from '../../../support/page-checks.ts';
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
        });
        const proposals = await openProposals(repo.folder);
        const send = async (bot: string, account: string, path: string, page: string): Promise<void> => {
          const proposer = { id: accountId(account), name: `Nadia ${account}` };
          const sent = { subject: botId(bot), proposer, pages: new Map([[path, page]]) };
          await proposals.send({ ...sent, note: 'Try it in my server:\n/window open' });
        };
        const added = {
          name: 'Lantern',
          description: 'Logs deleted messages.',
          website: 'https://lantern.example/',
        };
        await send(
          '1001',
          '701',
          pagePath('1001'),
          mainPage({ ...added, authors: ['701'] }, '# Lantern\n\nShines.'),
        );
        const edited = {
          ...keys,
          invite: `${invite}8`,
          description: 'Answers all questions about doughnuts.',
        };
        await send(homer, author, pagePath(homer), mainPage(edited, `${text}\nIt also makes coffee.\n`));
        const german = translation('Homer', 'Beantwortet Fragen zu Donuts.', '## Donuts\n\nFrag ihn.');
        await send(homer, '703', pagePath(homer, 'de'), german);
      },
    });
  });

  const logIn = async (page: Page, path: string): Promise<void> => {
    await page.goto(site.baseUrl + path);
    await page.fill('[name=login]', maintainer);
    await page.fill('[name=password]', 'any');
    await page.click('[type=submit]');
    await page.click('[type=submit]');
    await page.waitForURL(site.baseUrl + path);
  };
  const reviews = {
    'a new bot': '1001/701',
    'an edit': `${homer}/${author}`,
    'a translation': `${homer}/703`,
  };

  it('keeps to the accessibility rules, and fits the screen', async () => {
    const page = await openBrowserPage();
    await logIn(page, '/review');
    for (const [name, path] of Object.entries({ ...reviews, 'the list': '' })) {
      for (const locale of ['en', 'ar']) {
        await page.goto(`${site.baseUrl}/review${path && `/${path}`}?locale=${locale}`);
        await checkAtWidths(page, `${name} in ${locale}`, [1280, 360]);
        await checkAtWidths(page, `${name} in ${locale}`, [1280, 360]);
        await shoot(page, `${name} ${locale}`);
      }
    }
    await page.goto(`${site.baseUrl}/review/1001/701`);
    for (const summary of await page.locator('.decide summary').all())
      if (await summary.isVisible()) await summary.click();
    await checkAtWidths(page, 'with a form open', [360]);
  });

  it('is done on a phone without a script: the buttons are on the screen at once', async () => {
    const page = await openBrowserPage({ javaScriptEnabled: false, viewport: { width: 360, height: 740 } });
    await logIn(page, `/review/${homer}/703`);
    const accept = page.getByRole('button', { name: 'Accept' });
    const box = await accept.boundingBox();
    strictEqual(box !== null && box.y + box.height <= 740, true);
    await page.getByText('Decline', { exact: true }).first().click();
    await page.selectOption('[name=reason]', 'unclear');
    await page.locator('details[open] button').click();
    await page.getByText('declined it').first().waitFor();
    await page
      .getByRole('link', { name: 'Next' })
      .or(page.getByRole('link', { name: 'Previous' }))
      .first()
      .waitFor();
  });
});

async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['SHOTS'];
  if (folder === undefined) return;
  for (const [width, scheme] of [
    [1280, 'light'],
    [360, 'light'],
    [1280, 'dark'],
    [360, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    await page.screenshot({
      path: `${folder}/${name} ${width} ${scheme}.png`.replaceAll(' ', '-'),
      fullPage: width === 1280,
    });
  }
  await page.emulateMedia({ colorScheme: 'light' });
}
