import { match, ok, strictEqual } from 'node:assert/strict';
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
