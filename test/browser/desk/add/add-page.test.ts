import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { logIn, openBrowserPage, openLoggedIn } from '../../../support/browser.ts';
import { author, homer, type LoginSite, openLoginSite, stranger } from '../../../support/login-site.ts';
import { checkAtWidths } from '../../../support/page-checks.ts';
import { maintainer, openProposals } from '../../../support/proposals.ts';
import { accountId, botId, mainPage, pagePath } from '../../../support/sample.ts';
import { needs } from '../../../support/tools.ts';

const edit = `/bots/${homer}/edit`;

needs('chromium', describe)('sending a form, in a browser', function () {
  this.timeout(120_000);
  let site: LoginSite;

  before(async () => {
    site = await openLoginSite({
      files: { 'botshelf.json': JSON.stringify({ maintainers: [maintainer.id] }) },
      prepare: async (repo) => {
        const proposals = await openProposals(repo.folder);
        const invite = 'https://discord.com/oauth2/authorize?client_id=7&permissions=8';
        const description = 'Answers all questions about doughnuts.';
        const { proposal } = await proposals.send({
          subject: botId(homer),
          proposer: { id: accountId(author), name: 'Homer J' },
          pages: new Map([[pagePath(homer), mainPage({ authors: [author], invite, description })]]),
          note: 'Try it in my server:\n/doughnut glazed',
        });
        await proposals.decide(botId(homer), accountId(author), {
          state: 'changes-asked',
          reviewer: maintainer,
          version: proposal.version,
          reason: null,
          text: 'Why does it need Administrator?',
        });
        const now = 'Knows every doughnut.';
        repo.commit({ [pagePath(homer)]: mainPage({ authors: [author], description: now }) });
      },
    });
  });

  it('and following it keep to the accessibility rules, and fit the screen', async () => {
    const page = await openLoggedIn(site, author, '/my-bots');
    const again = `${edit}?proposal=${pagePath(homer)}`;
    for (const path of [again, `/proposals/${homer}`]) {
      await page.goto(path);
      await checkAtWidths(page, path, [1280, 360]);
    }
  });

  it('needs no script, also with a login in between: the button stays on the screen', async () => {
    const page = await openBrowserPage({ javaScriptEnabled: false, viewport: { width: 360, height: 740 } });
    await page.goto(site.baseUrl + edit);
    await page.fill('[name=description]', 'Knows what a cruller is.');
    await page.fill('[name=note]', 'Ask it.');
    const send = page.getByRole('button', { name: 'Send to the reviewers' });
    const box = await send.boundingBox();
    ok(box !== null && box.y + box.height <= 740);
    await send.click();
    await page.waitForURL((url) => !url.href.startsWith(site.baseUrl));
    await logIn(page, stranger);
    await page.waitForURL(`${site.baseUrl}/**`);
    strictEqual(await page.inputValue('[name=description]'), 'Knows what a cruller is.');
    await send.click();
    await page.waitForURL(`${site.baseUrl}/proposals/${homer}`);
    match(await page.innerText('main'), /Waiting for review[^]*Ask it\./);
  });
});

needs('chromium', describe)('a collection by the names of its bots, in a browser', function () {
  this.timeout(120_000);
  let site: LoginSite;

  before(async () => {
    site = await openLoginSite({
      files: {
        'botshelf.json': JSON.stringify({ maintainers: [maintainer.id] }),
        [pagePath('71')]: mainPage({ name: 'Hedgerow Radio' }),
        [pagePath('72')]: mainPage({ name: 'Star Chart' }),
      },
    });
  });

  it('needs no script, also with a login in between, and is proposed in the name of its sender', async () => {
    const page = await openBrowserPage({ javaScriptEnabled: false });
    await page.goto(`${site.baseUrl}/add/collection`);
    await page.fill('[name=collection]', 'quiet');
    await page.fill('[name=title]', 'A quiet evening');
    for (const name of ['Hedgerow', 'Star']) {
      await page.getByRole('textbox', { name: 'Bots (required)' }).fill(name);
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: new RegExp(`^Put on the shelf: ${name}`) }).click();
    }
    await page.getByRole('button', { name: 'Move up: Star Chart' }).click();
    strictEqual(await page.locator('.notice.bad').count(), 0);
    await page.fill('[name=description]', 'For a channel in which nobody talks.');
    const send = page.getByRole('button', { name: 'Send to the reviewers' });
    await send.click();
    await page.waitForURL((url) => !url.href.startsWith(site.baseUrl));
    await logIn(page, stranger);
    await page.waitForURL(`${site.baseUrl}/**`);
    deepStrictEqual(await page.locator('.picked b').allInnerTexts(), ['Star Chart', 'Hedgerow Radio']);
    await send.click();
    await page.waitForURL(`${site.baseUrl}/proposals/collection-quiet`);
    const ref = `refs/botshelf/proposals/collection-quiet/${stranger}`;
    const file = site.repo.git('show', `${ref}:collections/quiet.en.md`);
    match(file, new RegExp(`"by": "${stranger}",\\s+"bots": \\[\\s+"72",\\s+"71"\\s+\\]`));
  });

  it('offers bots while one types, and keeps the shelf when the page is opened again', async () => {
    const page = await openLoggedIn(site, stranger, '/add/collection');
    await page.getByRole('textbox', { name: 'Bots (required)' }).pressSequentially('star');
    await page.getByRole('button', { name: 'Put on the shelf: Star Chart' }).click();
    await page.locator('.picked').getByText('Star Chart').waitFor();
    await checkAtWidths(page, '/add/collection', [1280, 360]);
    await page.goto('/add/collection');
    await page.locator('.picked').getByText('Star Chart').waitFor();
  });
});
