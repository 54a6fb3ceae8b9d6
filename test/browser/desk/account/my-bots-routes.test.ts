import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { formatClosedRef, type ProposalStep } from '../../../../src/proposals/proposal.ts';
import { author, homer, type LoginSite, openLoginSite, stranger } from '../../../support/login-site.ts';
import { openLoggedIn } from '../../../support/browser.ts';
import { eventually } from '../../../support/eventually.ts';
import { checkAtWidths } from '../../../support/page-checks.ts';
import { importProposals, openProposals, proposalSettings, sentStep } from '../../../support/proposals.ts';
import { botId, mainPage, pagePath } from '../../../support/sample.ts';
import { writeFiles } from '../../../support/temp-folder.ts';
import { issueTestToken } from '../../../support/token.ts';
import { Visitor } from '../../../support/visitor.ts';
import { needs } from '../../../support/tools.ts';

describe('my bots', () => {
  let site: LoginSite;
  before(async () => {
    const many = Array.from({ length: 60 }, (_, i) => `19051930497267${1000 + i}`);
    site = await openLoginSite({
      bots: [homer, '1001', ...many],
      files: { 'botshelf.json': proposalSettings },
      prepare: async ({ folder }) => await addProposals(folder, [homer, ...many]),
    });
  });

  it('lead a visitor to log in, and back', async () => {
    const page = await new Visitor().go(`${site.baseUrl}/my-bots`);
    strictEqual(page.status, 200);
    match(page.text, /href="\/login\?to=%2Fmy-bots"/);
    doesNotMatch(page.text, /Homer/);
    const { page: next } = await site.loggedIn(author, '/my-bots');
    strictEqual(next.url.pathname, '/my-bots');
  });

  it('are those of the account, with their counts, tokens and faults, and a link in the header of every page', async () => {
    const token = await issueTestToken(site.repo.folder, homer);
    await site.service.post(homer, token, { count: 1234 });
    site.service.expectLog(/a file breaks a rule/);
    writeFiles(site.repo.folder, { [pagePath('1001')]: mainPage({ authors: [author], category: 'x' }) });
    const { visitor } = await site.loggedIn(author, '/my-bots');
    await eventually(async () => {
      const { text, headers } = await visitor.go(`${site.baseUrl}/my-bots`);
      match(text, /1,234 <span class="muted">Count updated <bdi>/);
      match(text, /Issued on <bdi>/);
      match(text, /This bot has no token/);
      match(
        text,
        new RegExp(
          `– <a href="/bots/${homer}/edit#cover">Cover</a>.*– <a href="/bots/${homer}/translate">A second language</a></li>` +
            '<li class="done">✓ Server count this week</li>',
        ),
      );
      match(text, new RegExp(`href="/bots/${homer}/token"`));
      match(text, new RegExp(`<code>${pagePath('1001')}:`));
      match(headers.get('cache-control') ?? '', /no-store/);
    });
    ok((await visitor.go(`${site.baseUrl}/`)).text.includes('href="/my-bots"'));
  });

  it('are all there, 50 on a page', async () => {
    const { visitor, page: first } = await site.loggedIn(author, '/my-bots');
    const second = await visitor.go(`${site.baseUrl}/my-bots?page=2`);
    const idsOf = ({ text }: { readonly text: string }): string[] =>
      [...text.matchAll(/<h3><a href="\/bots\/(\d+)"/g)].map(([, id = '']) => id);
    strictEqual(idsOf(first).length, 50);
    strictEqual(new Set([...idsOf(first), ...idsOf(second)]).size, 62);
    match(first.text, /rel="next" href="\/my-bots\?page=2"/);
    for (const page of ['0', '3', 'x', '1e99', '-1'])
      strictEqual((await visitor.go(`${site.baseUrl}/my-bots?page=${page}`)).status, 404, page);
  });

  it('are above 50 proposals of the account: that which waits of each bot, and the last others', async () => {
    const { page } = await site.loggedIn(author, '/my-bots');
    const ids = [...page.text.matchAll(/<h3><a href="\/proposals\/(\d+)"/g)].map(([, id]) => id);
    deepStrictEqual([ids.length, new Set(ids).size], [50, 50]);
    deepStrictEqual([ids[0], ids[1], ids[49]], [homer, '190519304972671059', '190519304972671011']);
  });

  needs('chromium', it)('have no violation that axe finds, and nothing wider than the page', async () => {
    const page = await openLoggedIn(site, author, '/my-bots');
    ok((await page.locator('.own-bots > li').count()) > 0);
    await checkAtWidths(page, 'my bots', [1280, 320]);
  });

  it('are none for an account that is no author', async () => {
    const { page } = await site.loggedIn(stranger, '/my-bots');
    match(page.text, /None of the listed bots names you as an author/);
  });
});

/** Sends a proposal of the author for Homer, and adds one for each of these bots that was sent later, and withdrawn. */
async function addProposals(folder: string, bots: readonly string[]): Promise<void> {
  const { subject, proposer } = sentStep;
  const withdrawn = bots.map((bot, i): [string, ProposalStep[]] => {
    const step = { ...sentStep, subject: botId(bot), sentAt: Date.now() + 60_000 + i };
    return [formatClosedRef(step.subject, proposer.id, step.sentAt), [{ ...step, state: 'withdrawn' }]];
  });
  const pages = new Map([[pagePath(homer), mainPage({ authors: [author], nsfw: true })]]);
  await (await openProposals(folder)).send({ subject, proposer, pages, note: '' });
  importProposals(folder, new Map(withdrawn));
}
