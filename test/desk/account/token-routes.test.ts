import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { parseAccountId } from '../../../src/bot/commit-message.ts';
import { parseToken } from '../../../src/bot/token.ts';
import { KeyRing, Sessions } from '../../../src/login/login.ts';
import { eventually } from '../../support/eventually.ts';
import { author, loginEnv, openLoginSite, type LoginSite, stranger } from '../../support/login-site.ts';
import { noLogOuts } from '../../support/no-log-outs.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startTestService } from '../../support/service.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { issueTestToken } from '../../support/token.ts';
import { type Page, Visitor } from '../../support/visitor.ts';

/** Each test has a bot of its own. */
const bots = Array.from({ length: 24 }, (_, i) => String(1001 + i));

describe('the page of a bot’s token', () => {
  let site: LoginSite;
  let id: string;
  let tokenPath: string;
  let revokePath: string;

  before(async () => {
    site = await openLoginSite({ bots });
  });

  beforeEach(() => {
    id = bots.shift() ?? '';
    tokenPath = `/bots/${id}/token`;
    revokePath = `${tokenPath}/revoke`;
  });

  const post = async (token: string, count: number): Promise<number> =>
    (await site.service.post(id, token, { count })).status;
  const loggedIn = async (account: string): Promise<{ visitor: Visitor; page: Page }> =>
    await site.loggedIn(account, tokenPath);
  /** Returns the author's session, sealed with these secrets. */
  const sealSession = async (secrets: readonly string[], authenticatedAt = Date.now()): Promise<string> => {
    const id = parseAccountId(author);
    ok(id);
    const sessions = new Sessions(new KeyRing(secrets), site.provider.issuer, noLogOuts());
    return (await sessions.begin({ id, name: 'Marge', authenticatedAt })).text;
  };
  const hasToken = (): boolean =>
    site.repo.tryGit('grep', '-q', `"${id}":.*"token":"`, 'refs/botshelf/state') === 0;

  describe('for somebody who has not logged in', () => {
    it('shows the way in, and code to post with', async () => {
      const page = await new Visitor().go(site.baseUrl + tokenPath);
      strictEqual(page.status, 200);
      match(page.text, new RegExp(`href="/login\\?to=${tokenPath}"`));
      match(page.text, new RegExp(`${site.baseUrl}/api/v2/bots/${id}`));
      match(page.text, /BOTSHELF_TOKEN/);
      doesNotMatch(page.text, /method="post"/);
    });

    it('does nothing at a press', async () => {
      for (const path of [tokenPath, revokePath]) {
        const visitor = new Visitor();
        const page = await visitor.press(await visitor.go(site.baseUrl + tokenPath), path);
        strictEqual(page.status, 403);
        match(page.text, /Log in with/);
      }
      ok(!hasToken());
    });

    it('is there for bots alone', async () => {
      for (const id of ['1', 'x', '..%2f..']) {
        strictEqual((await fetch(`${site.service.address}/bots/${id}/token`)).status, 404);
      }
    });
  });

  describe('for an account that is no author', () => {
    it('refuses with a sentence, and has no button', async () => {
      const { visitor, page } = await loggedIn(stranger);
      strictEqual(page.status, 403);
      match(page.text, /Only the authors of <bdi>Homer<\/bdi> can get its token/);
      match(page.text, new RegExp(stranger));
      doesNotMatch(page.text, new RegExp(`action="${tokenPath}"`));
      const pressed = await visitor.press(page, tokenPath);
      strictEqual(pressed.status, 403);
      match(pressed.text, /Only the authors/);
      strictEqual(tokenIn(pressed), undefined);
      ok(!hasToken());
    });

    it('is not fooled by a session that was made up or changed', async () => {
      const { visitor, page } = await loggedIn(stranger);
      const jar = visitor.cookies.get(page.url.host);
      const own = jar?.get('__Host-botshelf') ?? '';
      const otherSecret = await sealSession(['not the secret of this service, but long']);
      for (const forged of [otherSecret, `${own}x`, own.slice(3), 'x']) {
        jar?.set('__Host-botshelf', forged);
        const pressed = await visitor.press(page, tokenPath);
        strictEqual(pressed.status, 403);
        match(pressed.text, /Log in with/);
        ok(!jar?.has('__Host-botshelf'), 'the browser is told to forget it');
      }
    });
  });

  describe('for an author', () => {
    // The browser's test posts with each token.
    it('says what each press has done, and shows a token once', async () => {
      const { visitor, page } = await loggedIn(author);
      match(page.text, /This bot has no token/);
      for (const [path, said] of [
        [tokenPath, /value="bsh_(?![^]*previous token)/],
        [tokenPath, /previous token no longer works/],
        [revokePath, /The token is revoked/],
        [revokePath, /There was no token to revoke/],
        [tokenPath, /value="bsh_(?![^]*previous token)/],
      ] as const)
        match((await visitor.press(page, path)).text, said);
      ok(hasToken());
      strictEqual(tokenIn(await visitor.go(site.baseUrl + tokenPath)), undefined);
    });

    it('responds with a token and no-store, uncompressed, and compresses all other pages', async () => {
      const { visitor, page } = await loggedIn(author);
      const headers = {
        'accept-encoding': 'br, gzip',
        'sec-fetch-site': 'same-origin',
        cookie: `__Host-botshelf=${visitor.cookies.get(page.url.host)?.get('__Host-botshelf')}`,
      };
      for (const path of ['/?sort=popular', tokenPath]) {
        const other = await fetch(site.baseUrl + path, { headers });
        deepStrictEqual(
          [other.headers.get('content-encoding'), other.headers.get('cache-control')],
          ['br', 'private, no-store'],
        );
        match(await other.text(), /<\/html>\s*$/);
      }
      const response = await fetch(site.baseUrl + tokenPath, { method: 'POST', headers });
      const text = await response.text();
      const [token = ''] = /bsh_\w+/.exec(text) ?? [];
      ok(parseToken(token));
      match(response.headers.get('cache-control') ?? '', /no-store/);
      const missing = 'content-encoding etag access-control-allow-origin set-cookie location';
      for (const name of missing.split(' ')) strictEqual(response.headers.get(name), null, name);
      ok(!site.service.log().includes(token));
      const state = site.repo.git('log', '-p', 'refs/botshelf/state');
      match(state, new RegExp(`Issue a token to ${id}, by account ${author}\\n`));
      ok(!state.includes(token));
    });

    it('says when the token was issued and last used, also of one that the operator issued', async () => {
      const token = await issueTestToken(site.repo.folder, id);
      const { visitor, page } = await loggedIn(author);
      match(page.text, /Issued<\/dt><dd><time datetime="\d{4}-/);
      match(page.text, /Last used<\/dt><dd>Never/);
      strictEqual(await post(token, 156), 200);
      match((await visitor.go(page.url)).text, /Last used<\/dt><dd><time datetime="\d{4}-/);
    });

    it('refuses a press from another site', async () => {
      const { visitor, page } = await loggedIn(author);
      for (const path of [tokenPath, revokePath]) {
        const evil: Page = { ...page, url: new URL('https://evil.example/') };
        const pressed = await visitor.press(evil, site.baseUrl + path);
        strictEqual(pressed.status, 403);
        match(pressed.text, /does not come from a page of/);
      }
      ok(!hasToken());
    });

    it('asks for a login again when it is more than ten minutes old', async () => {
      const { visitor, page } = await loggedIn(author);
      const older = await sealSession(site.secrets, Date.now() - 601_000);
      visitor.cookies.get(page.url.host)?.set('__Host-botshelf', older);
      const pressed = await visitor.press(page, tokenPath);
      strictEqual(pressed.status, 403);
      match(pressed.text, /Nothing has changed/);
      match(pressed.text, new RegExp(`href="/login\\?to=${tokenPath}"`));
      ok(!hasToken());
      const reopened = await visitor.go(page.url);
      strictEqual(reopened.status, 200);
      match(reopened.text, /You then have ten minutes/);
      doesNotMatch(reopened.text, new RegExp(`action="${tokenPath}"`));
    });

    it('limits how often the buttons are pressed', async () => {
      const { visitor, page } = await loggedIn(author);
      const statuses: number[] = [];
      for (let press = 0; press < 11; press++) statuses.push((await visitor.press(page, revokePath)).status);
      strictEqual(statuses.filter((status) => status === 200).length, 10);
      strictEqual(statuses.at(-1), 429);
    });
  });

  describe('reads the authors from the last commit', () => {
    it('and gives nothing to one whom a commit has taken off, at the next press', async () => {
      const { visitor, page } = await loggedIn(author);
      site.repo.commit({ [pagePath(id)]: mainPage({ authors: [stranger] }) });
      const pressed = await visitor.press(page, tokenPath);
      strictEqual(pressed.status, 403);
      match(pressed.text, /Only the authors/);
      ok(!hasToken());
      const { visitor: other, page: theirs } = await loggedIn(stranger);
      ok(tokenIn(await other.press(theirs, tokenPath)));
    });

    it('and gives nothing to one whom only an uncommitted edit names', async () => {
      site.repo.write(pagePath(id), mainPage({ authors: [stranger], description: 'Edited.' }));
      await eventually(async () => {
        const { json } = await site.service.request(`/api/v2/bots/${id}`);
        return json.authors[0] === stranger;
      });
      const { visitor, page } = await loggedIn(stranger);
      strictEqual(page.status, 403);
      strictEqual((await visitor.press(page, tokenPath)).status, 403);
      const { page: authorsOwn } = await loggedIn(author);
      strictEqual(authorsOwn.status, 200);
    });
  });

  it('says to an author what is wrong where tokens cannot be kept', async () => {
    const { settings } = site.provider;
    const baseUrl = 'http://localhost:1';
    const service = await startTestService(
      { [pagePath(id)]: mainPage({ authors: [author] }) },
      { root: tempFolder(), env: { ...loginEnv(settings, site.secrets), BOTSHELF_BASE_URL: baseUrl } },
    );
    service.expectLog(/is in no Git repository/);
    const cookie = `__Host-botshelf=${await sealSession(site.secrets)}`;
    const headers = { cookie, accept: 'text/html', origin: baseUrl };
    for (const method of ['GET', 'POST']) {
      const answer = await fetch(service.address + tokenPath, { method, headers });
      strictEqual(answer.status, 503);
      strictEqual(answer.headers.get('content-type'), 'text/html; charset=utf-8');
      match(await answer.text(), /is in no Git repository/);
    }
  });
});

/** Returns the token on a page. */
function tokenIn({ text }: Page): string | undefined {
  return /value="(bsh_\w+)"/.exec(text)?.[1];
}
