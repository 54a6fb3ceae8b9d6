import { doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { author, homer, type LoginSite, openLoginSite, stranger } from '../../support/login-site.ts';
import { eventually } from '../../support/eventually.ts';
import { mainPage, pagePath, writeFiles } from '../../support/sample.ts';
import { issueTestToken } from '../../support/token.ts';
import { Visitor } from '../../support/visitor.ts';

describe('my bots', () => {
  let site: LoginSite;
  before(async () => {
    site = await openLoginSite({ bots: [homer, '1001'] });
  });

  it('lead a visitor to log in, and back', async () => {
    const page = await new Visitor().go(`${site.baseUrl}/my-bots`);
    strictEqual(page.status, 200);
    match(page.text, /href="\/login\?to=\/my-bots"/);
    doesNotMatch(page.text, /Homer/);
    const { page: next } = await site.loggedIn(author, '/my-bots');
    strictEqual(next.url.pathname, '/my-bots');
  });

  it('are those of the account, with their counts, tokens and faults, and a link in the header of every page', async () => {
    const token = await issueTestToken(site.repo.folder, homer);
    await site.service.request(`/api/v2/bots/${homer}`, {
      method: 'POST',
      headers: { authorization: token, 'content-type': 'application/json' },
      body: JSON.stringify({ bot: { count: 1234 } }),
    });
    site.service.expectLog(/a file breaks a rule/);
    writeFiles(site.repo.folder, { [pagePath('1001')]: mainPage({ authors: [author], category: 'x' }) });
    const { visitor } = await site.loggedIn(author, '/my-bots');
    await eventually(async () => {
      const { text, headers } = await visitor.go(`${site.baseUrl}/my-bots`);
      match(text, /1,234 <span class="muted">Last reported <bdi>/);
      match(text, /Issued on <bdi>/);
      match(text, /This bot has no token/);
      match(text, new RegExp(`href="/bots/${homer}/token"`));
      match(text, new RegExp(`<code>${pagePath('1001')}:`));
      match(headers.get('cache-control') ?? '', /no-store/);
    });
    ok((await visitor.go(`${site.baseUrl}/`)).text.includes('href="/my-bots"'));
  });

  it('are none for an account that is no author', async () => {
    const { page } = await site.loggedIn(stranger, '/my-bots');
    match(page.text, /No listed bot has your account/);
  });
});
