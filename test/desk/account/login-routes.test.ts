import { doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readCases } from '../../support/fixture-lines.ts';
import {
  author,
  homer,
  loginEnv,
  openLoginSite,
  type LoginSite,
  tokenPath,
} from '../../support/login-site.ts';
import { sendRaw } from '../../support/raw-request.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startTestService } from '../../support/service.ts';
import { actionOf, type Page, Visitor } from '../../support/visitor.ts';

describe('the login', () => {
  let site: LoginSite;

  before(async () => {
    // The provider here requires the secret in a header; a test of the provider has one that requires it in the body.
    site = await openLoginSite({ clientAuthMethods: ['client_secret_basic'] });
  });

  it('leads back to the page that its link was on, and to no other site @slow', async () => {
    for (const { input, expected } of readCases('login-returns')) {
      const [path = '', link = ''] = input.replaceAll('HOMER', homer).split(' ');
      const visitor = new Visitor();
      const headers = { referer: site.baseUrl + path };
      const page = await visitor.logIn(await visitor.go(site.baseUrl + link, { headers }), author);
      strictEqual(page.url.href, site.baseUrl + expected[0]?.replace('HOMER', homer));
    }
  });

  it('shows the account on every page to the account alone @slow', async () => {
    const { visitor } = await site.loggedIn(author);
    for (const path of ['/', `/bots/${homer}`, '/', `/bots/${homer}`, '/add', '/docs', '/nothing']) {
      const headers = { accept: 'text/html' };
      const own = await visitor.go(site.baseUrl + path, { headers });
      match(own.text, new RegExp(`Person ${author}`));
      match(own.headers.get('cache-control') ?? '', /no-store/);
      const others = await new Visitor().go(site.baseUrl + path, { headers });
      doesNotMatch(others.text, /Person/);
      match(others.text, /href="\/login"/);
    }
  });

  it('asks with PKCE, a state and a nonce for a login that is not old', async () => {
    const response = await fetch(`${site.baseUrl}/login`, { redirect: 'manual' });
    strictEqual(response.status, 303);
    strictEqual(response.headers.get('cache-control'), 'no-store');
    const { searchParams } = new URL(response.headers.get('location') ?? '');
    strictEqual(searchParams.get('code_challenge_method'), 'S256');
    strictEqual(searchParams.get('max_age'), '300');
    strictEqual(searchParams.get('redirect_uri'), `${site.baseUrl}/login/callback`);
    for (const name of ['code_challenge', 'state', 'nonce'])
      match(searchParams.get(name) ?? '', /^[\w-]{40,}$/);
  });

  it('keeps its cookies from scripts, other sites and plain http', async () => {
    const begun = await fetch(`${site.baseUrl}/login`, { redirect: 'manual' });
    const [cookie = ''] = begun.headers.getSetCookie();
    match(cookie, /^__Host-botshelf-login=[\w.-]+; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Lax$/);
    const { visitor, back } = await backFromProvider(site);
    const response = await finish(visitor, back);
    const [gone = '', session = ''] = response.headers.getSetCookie();
    match(gone, /^__Host-botshelf-login=; Path=\/; Max-Age=0;/);
    match(session, /^__Host-botshelf=[\w.-]+; Path=\/; Max-Age=604800; Secure; HttpOnly; SameSite=Lax$/);
    ok(session.length < 1000);
  });

  const without = (login: Login, name: string): void => login.back.url.searchParams.delete(name);
  const change = (login: Login, name: string, value = 'made-up'): void =>
    login.back.url.searchParams.set(name, value);
  for (const [what, spoil, words] of [
    ['a wrong state', (login: Login) => change(login, 'state'), /log in again/i],
    ['a made-up code', (login: Login) => change(login, 'code'), /log in again/i],
    ['no cookie', (login: Login) => (login.visitor = new Visitor()), /ten minutes/],
    [
      'the cookie of another login',
      async (login: Login) => (login.visitor = (await backFromProvider(site)).visitor),
      /another login was started/i,
    ],
    [
      'an answer of another issuer',
      (login: Login) => change(login, 'iss', 'https://evil.example'),
      /does not match the request/,
    ],
    ['an answer of no issuer', (login: Login) => without(login, 'iss'), /does not match the request/],
  ] as const)
    it(`is refused with ${what}, without codes and secrets in the log`, async () => {
      const login = await backFromProvider(site);
      if (what.includes('issuer'))
        site.service.expectLog(/a login failed: the response of .* does not match the request/);
      const secrets = ['code', 'state'].map((name) => login.back.url.searchParams.get(name) ?? '');
      await spoil(login);
      await refused(site, login, 400, words);
      for (const secret of [...secrets, site.provider.settings.clientSecret])
        ok(!site.service.log().includes(secret));
    });

  it('is refused with a code that was used before', async () => {
    const { visitor, back } = await backFromProvider(site);
    strictEqual((await finish(visitor, back)).status, 303);
    const second = await finish(visitor, back);
    strictEqual(second.status, 400);
    ok(!second.headers.getSetCookie().some((line) => line.startsWith('__Host-botshelf=')));
  });

  it('that the person does not consent to ends with a way back', async () => {
    const visitor = new Visitor();
    const login = await visitor.go(`${site.baseUrl}/login`);
    const consent = await visitor.press(login, actionOf(login), {
      prompt: 'login',
      login: author,
      password: 'any',
    });
    const abort = /href="([^"]*\/abort)"/.exec(consent.text)?.[1];
    const page = await visitor.go(new URL(abort ?? '', consent.url));
    strictEqual(page.status, 403);
    match(page.text, /refused the login/);
    match(page.text, /href="\/login"/);
  });

  it('is for accounts whose id an author can have', async () => {
    const { page } = await site.loggedIn('marge@example.org');
    strictEqual(page.status, 403);
    match(page.text, /1 to 20 digits/);
  });

  it('ends with a press of the button, and not by a link or by another site', async () => {
    const { visitor, page } = await site.loggedIn(author);
    const logout = `${site.baseUrl}/logout`;
    const other = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    const isLoggedIn = (): boolean => visitor.cookies.get(page.url.host)?.has('__Host-botshelf') === true;
    strictEqual((await visitor.go(logout)).status, 405);
    strictEqual((await visitor.go(logout, { method: 'POST', headers: other })).status, 403);
    ok(isLoggedIn());
    await visitor.press(page, '/logout');
    ok(!isLoggedIn());
    const older = await visitor.go(logout, { method: 'POST', headers: { origin: site.baseUrl } });
    strictEqual(older.url.pathname, '/');
  });

  it('ends with all earlier sessions of the account, also copied cookies, and can begin again', async () => {
    const { visitor, page } = await site.loggedIn(author);
    const [copy, elsewhere] = [new Visitor(), (await site.loggedIn(author)).visitor];
    copy.cookies.set(page.url.host, new Map(visitor.cookies.get(page.url.host)));
    match((await copy.go(page.url)).text, /Person/);
    await visitor.press(page, '/logout');
    for (const ended of [copy, elsewhere]) {
      const told = await ended.press(page, tokenPath);
      strictEqual(told.status, 403);
      doesNotMatch(told.text, /Person|botshelf_/);
      ok(!ended.cookies.get(page.url.host)?.has('__Host-botshelf'));
    }
    const again = await site.loggedIn(author);
    match((await again.visitor.press(again.page, tokenPath)).text, /id="token"/);
  });

  it('says when a log-out is not saved, and ends the sessions all the same', async () => {
    const { visitor, page } = await site.loggedIn(author);
    const copy = new Visitor();
    copy.cookies.set(page.url.host, new Map(visitor.cookies.get(page.url.host)));
    const file = join(site.service.root, 'var', 'log-outs.json');
    rmSync(file, { force: true });
    mkdirSync(file);
    site.service.expectLog(/cannot be written to/);
    const told = await visitor.press(page, '/logout');
    rmSync(file, { recursive: true });
    strictEqual(told.status, 503);
    doesNotMatch(told.text, /Person/);
    doesNotMatch((await copy.go(page.url)).text, /Person/);
  });

  it('says that the provider is away, works when it is back, and says so when it goes in the middle', async () => {
    const lonely = await openLoginSite();
    lonely.service.expectLog(/a login failed: .* does not respond correctly/);
    lonely.provider.answer('/', 'with status 500');
    const visitor = new Visitor();
    const away = await visitor.go(`${lonely.baseUrl}/login?to=${tokenPath}`);
    strictEqual(away.status, 503);
    strictEqual(away.headers.get('retry-after'), '60');
    match(away.text, /does not respond/);
    strictEqual((await visitor.go(lonely.baseUrl + tokenPath)).status, 200);
    strictEqual((await lonely.service.request(`/api/v2/bots/${homer}`)).status, 200);
    lonely.provider.answer('/', 'well');
    strictEqual((await lonely.loggedIn(author)).page.status, 200);

    const begun = await backFromProvider(lonely);
    await lonely.provider.leave();
    await refused(lonely, begun, 503, /does not respond/);
    strictEqual(lonely.service.log().split('a login failed').length, 2, 'one line for both');
  });

  it('tells the operator of a secret that the provider does not take', async () => {
    const wrong = await openLoginSite({ clientSecret: 'a wrong secret of the client, just as long' });
    wrong.service.expectLog(/invalid_client.*a login failed: .* does not accept this service/);
    await refused(wrong, await backFromProvider(wrong), 500, /tell its operator/);
    ok(!wrong.service.log().includes('a wrong secret'));
  });

  it('is built from the configured address, whatever Host says', async () => {
    const evil = { host: 'evil.example', 'x-forwarded-host': 'evil.example' };
    const { headers } = await sendRaw(site.service.address, '/login', { headers: evil });
    const { searchParams } = new URL(headers.location ?? '');
    strictEqual(searchParams.get('redirect_uri'), `${site.baseUrl}/login/callback`);
  });

  it('is limited for each address', async () => {
    const anotherAddress = { localAddress: '127.0.0.2' };
    const responses = await Promise.all(
      Array.from({ length: 101 }, async () => await sendRaw(site.service.address, '/login', anotherAddress)),
    );
    strictEqual(responses.filter(({ status }) => status === 303).length, 100);
    strictEqual(responses.filter(({ status }) => status === 429).length, 1);
  });

  it('needs https, and says so', async () => {
    const login = loginEnv(site.provider.settings, site.secrets);
    const env = { ...login, BOTSHELF_BASE_URL: 'http://bots.example.org' };
    const files = { [pagePath(homer)]: mainPage({ authors: [author] }) };
    const { address } = await startTestService(files, { env });
    const answer = await fetch(`${address}/login`, { redirect: 'manual' });
    strictEqual(answer.status, 500);
    match(await answer.text(), /needs https/);
    match(await (await fetch(address + tokenPath)).text(), /needs https/);
  });
});

/** A visitor whom the provider has just redirected, and the address. */
interface Login {
  visitor: Visitor;
  readonly back: Page;
}

async function backFromProvider({ baseUrl }: LoginSite, to = tokenPath): Promise<Login> {
  const visitor = new Visitor();
  visitor.stopBefore = `${baseUrl}/login/callback`;
  const back = await visitor.logIn(await visitor.go(`${baseUrl}/login?to=${to}`), author);
  visitor.stopBefore = undefined;
  return { visitor, back };
}

/** Returns from the provider with the cookies of that login, without following redirects. */
async function finish(visitor: Visitor, { url }: Page): Promise<Response> {
  const cookies = [...(visitor.cookies.get(url.host) ?? [])].map(([name, value]) => `${name}=${value}`);
  return await fetch(url, { headers: { cookie: cookies.join('; ') }, redirect: 'manual' });
}

async function refused(
  { baseUrl }: LoginSite,
  { visitor, back }: Login,
  status: number,
  words: RegExp,
): Promise<void> {
  const page = await visitor.go(back.url);
  strictEqual(page.status, status, page.text);
  strictEqual(page.headers.get('cache-control'), 'private, no-store');
  match(page.text, words);
  strictEqual(page.headers.get('content-type'), 'text/html; charset=utf-8');
  ok(!visitor.cookies.get(new URL(baseUrl).host)?.has('__Host-botshelf'));
}
