import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { join } from 'node:path';
import { readCases } from '../../support/fixture-lines.ts';
import { eventually } from '../../support/eventually.ts';
import {
  author,
  homer,
  logInAgain,
  type LoggedIn,
  type LoginSite,
  openLoginSite,
  stranger,
} from '../../support/login-site.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { tempFolder, writeFiles } from '../../support/temp-folder.ts';
import { issueTestTokens } from '../../support/token.ts';
import { type Page, Visitor } from '../../support/visitor.ts';

const [maintainer, colleague] = ['42', '43'];
const today = new Date().toISOString().slice(0, 10);
const settings = JSON.stringify({ maintainers: [maintainer, colleague] });
const reason = 'Sells stolen accounts';

const pageOf = (kind: string, name: string): string => `/review/blocked?kind=${kind}&name=${name}`;

/** Presses a button of the form of an account, a bot or a host. */
async function press(
  { visitor, page }: LoggedIn,
  act: 'block' | 'unblock' | 'end-token',
  [kind, name]: readonly [kind: string, name: string],
  fields: Readonly<Record<string, string>> = {},
): Promise<Page> {
  return await visitor.press(page, '/review/blocked', { kind, name, act, ...fields });
}

describe('who is blocked, on the site', () => {
  let site: LoginSite;
  const open = async (path: string, account = maintainer): Promise<LoggedIn> =>
    await site.loggedIn(account, encodeURIComponent(path));
  const tip = (): string => site.repo.git('rev-parse', 'HEAD');
  const blocked = (): unknown => JSON.parse(site.repo.git('show', 'HEAD:blocked.json'));

  describe('with the file in the repository', () => {
    before(async () => {
      site = await openLoginSite({
        files: {
          'botshelf.json': settings,
          'people/5.json': '{ "name": "Ned <i>" }\n',
          [pagePath('7')]: mainPage({ name: 'Seven', authors: ['5'], website: 'https://www.bad.example/' }),
          [pagePath('8')]: mainPage({
            name: 'Eight',
            authors: ['5', maintainer],
            invite: 'https://bad.example/j',
          }),
        },
      });
    });

    it('shows the bots of an account, and commits nothing before the button is pressed', async () => {
      const before = tip();
      const { visitor, page } = await open('/review');
      match(page.text, /href="\/review\/blocked">Blocked/);
      const list = await visitor.go(`${site.baseUrl}/review/blocked`);
      match(
        list.text,
        /aria-current="page">Blocked[^]*<form[^>]* action="\/review\/blocked">[^]*Nobody is blocked/,
      );
      const shown = await visitor.go(site.baseUrl + pageOf('account', '5'));
      strictEqual(shown.status, 200);
      strictEqual(shown.headers.get('cache-control'), 'private, no-store');
      match(
        shown.text,
        /<h1>Account<\/h1><p>5<\/p>[^]*concerns: 2[^]*<bdi>Seven<\/bdi>[^]*<bdi>Eight<\/bdi>[^]*stay listed/,
      );
      strictEqual(tip(), before);
    });

    it('commits and logs it as the command does, in force at once, and ends it again', async () => {
      const person = await open(pageOf('account', '5'));
      const account = ['account', '5'] as const;
      const list = await press(person, 'block', account, { reason: `  ${reason}\r\n` });
      strictEqual(list.url.pathname, '/review/blocked');
      match(list.text, /<bdi>Account 5<\/bdi>[^]*Sells stolen accounts[^]*2026[^]*value="unblock"/);
      strictEqual(site.repo.git('log', '-1', '--format=%B'), 'Block the account 5\n\nChanged-by: 42');
      strictEqual(site.repo.git('show', '--name-only', '--format=', 'HEAD'), 'blocked.json');
      deepStrictEqual(blocked(), { accounts: { 5: { reason, since: today } } });
      strictEqual(site.repo.status(), '');
      match(site.service.log(), /account 42 has blocked the account 5/);
      doesNotMatch(site.service.log(), /Sells stolen/);
      strictEqual((await open('/bots/7/token', '5')).page.status, 403);
      for (const path of ['/authors/5', '/bots/7', '/bots/7/token', '/my-bots'])
        doesNotMatch((await open(path, '5')).page.text, /Sells stolen/);

      const [before, again] = [tip(), await open(pageOf('account', '5'))];
      match(again.page.text, /Sells stolen accounts[^]*Unblock/);
      doesNotMatch(again.page.text, /name="reason"/);
      await press(again, 'block', account);
      strictEqual(tip(), before);
      match((await press(person, 'unblock', account)).text, /Nobody is blocked/);
      strictEqual(site.repo.git('log', '-1', '--format=%B'), 'Unblock the account 5\n\nChanged-by: 42');
      deepStrictEqual(blocked(), {});
      match(site.service.log(), /account 42 has unblocked the account 5/);
      const twice = await press(person, 'unblock', account);
      strictEqual(twice.status, 422);
      match(twice.text, /It is not blocked/);
    });

    it('takes an address for its host, and leads from the page of a bot to its authors and hosts', async () => {
      const { visitor, page } = await open('/bots/8');
      const [, link = ''] = /href="(\/review\/blocked[^"]*)">Moderate</.exec(page.text) ?? [];
      const shown = await visitor.go(site.baseUrl + link.replaceAll('&amp;', '&'));
      match(shown.text, /<h1>Bot<\/h1><p>8<\/p>[^]*concerns: 1[^]*<bdi>Eight<\/bdi>/);
      match(shown.text, /Authors and hosts of this bot[^]*<bdi>Account 5<[^]*<bdi>Host bad\.example</);
      const address = encodeURIComponent('https://BAD.example./x?y');
      const host = await visitor.go(site.baseUrl + pageOf('host', address));
      match(host.text, /<h1>Host<\/h1><p>bad\.example<[^]*concerns: 2/);
      await press({ visitor, page: host }, 'block', ['host', 'bad.example'], { reason: '' });
      deepStrictEqual(blocked(), { hosts: { 'bad.example': { since: today } } });
      doesNotMatch((await open('/bots/8', stranger)).page.text, /Moderate|review\/blocked/);
    });

    it('keeps what another maintainer blocks at the same time', async () => {
      const people = await Promise.all([maintainer, colleague].map((id) => open('/review/blocked', id)));
      await Promise.all(people.map((person, i) => press(person, 'block', ['account', String(90 + i)])));
      const { accounts } = blocked() as { accounts: object };
      deepStrictEqual(Object.keys(accounts), ['90', '91']);
    });

    it('refuses names that nobody has, and domains in which anybody gets one', async () => {
      const person = await open('/review/blocked');
      const before = tip();
      for (const { input, expected } of readCases('blocked-names')) {
        const [, kind = '', name = ''] = /^(\w+) ?(.*)$/.exec(input) ?? [];
        const shown = await person.visitor.go(site.baseUrl + pageOf(kind, encodeURIComponent(name)));
        const pressed = await press(person, 'block', [kind, name]);
        for (const page of [shown, pressed]) {
          strictEqual(page.status, 422, name);
          ok(page.text.includes(expected[0] ?? ''), input);
        }
      }
      strictEqual((await press(person, 'block', ['person', '5'])).status, 400);
      const long = await press(person, 'block', ['account', '6'], { reason: 'x'.repeat(17_000) });
      strictEqual(long.status, 413);
      strictEqual(tip(), before);
    });

    it('neither blocks nor unblocks a maintainer', async () => {
      site.repo.commit({ 'blocked.json': JSON.stringify({ accounts: { [colleague]: {} } }) });
      await eventually(async () => match((await open('/review/blocked')).page.text, /<bdi>Account 43</));
      const person = await open(pageOf('account', colleague));
      const before = tip();
      const pressed = [
        await press(person, 'block', ['account', maintainer]),
        await press(person, 'block', ['account', colleague]),
        await press(person, 'unblock', ['account', colleague]),
      ];
      for (const page of [person.page, ...pressed]) {
        strictEqual(page.status, 422);
        match(page.text, /the account of a maintainer/);
      }
      strictEqual(tip(), before);
      site.repo.commit({ 'blocked.json': '{}' });
      await eventually(async () => match((await open('/review/blocked')).page.text, /Nobody is blocked/));
    });

    it('is for maintainers only, who logged in within the hour, and keeps the reason through a login', async () => {
      const before = tip();
      const bot = ['bot', '7'] as const;
      const other = await open(pageOf('bot', '7'), stranger);
      strictEqual(other.page.status, 403);
      const { visitor } = await open('/review');
      const evil = { ...other.page, url: new URL('https://evil.example/') };
      for (const act of ['block', 'unblock', 'end-token'] as const) {
        strictEqual((await press(other, act, bot)).status, 403);
        const unknown = { ...other, visitor: new Visitor() };
        match((await press(unknown, act, ['x', '7'])).text, /needs a login of the last hour/);
        const fields = { kind: 'bot', name: '7', act };
        strictEqual((await visitor.press(evil, `${site.baseUrl}/review/blocked`, fields)).status, 403);
      }
      const later = await site.loggedInEarlier(maintainer, pageOf('bot', '7'));
      const asked = await press(later, 'block', bot, { reason });
      const shown = await logInAgain(later.visitor, asked, maintainer);
      match(shown.text, /<h1>Bot<\/h1><p>7<[^]*value="Sells stolen accounts"/);
      strictEqual(tip(), before);
    });

    it('commits nothing while somebody edits the file in the clone', async () => {
      const person = await open(pageOf('bot', '7'));
      const before = tip();
      site.repo.write('blocked.json', '{ }\n');
      const refused = await press(person, 'block', ['bot', '7']);
      strictEqual(refused.status, 409);
      match(refused.text, /blocked\.json has uncommitted edits/i);
      strictEqual(tip(), before);
      site.repo.git('checkout', '-q', 'blocked.json');
    });

    it('ends the token of a bot, and says who did it', async () => {
      const [token = ''] = (await issueTestTokens(site.repo.folder, ['7'])).values();
      const post = async (): Promise<number> => (await site.service.post('7', token, { count: 5 })).status;
      await eventually(async () => strictEqual(await post(), 200));
      const person = await open(pageOf('bot', '7'));
      match((await press(person, 'end-token', ['bot', '7'])).text, /The token has ended/);
      strictEqual(await post(), 401);
      const subject = site.repo.git('log', '-1', '--format=%s', 'refs/botshelf/state');
      strictEqual(subject, 'Revoke the token of 7, by account 42');
      match(site.service.log(), /revoked the token of 7, by account 42/);
      match((await press(person, 'end-token', ['bot', '7'])).text, /This bot has no token/);
    });
  });

  it('refuses a host that most bots have an address at, and names a hundred of the bots @slow', async () => {
    const page = (i: number): string =>
      mainPage({ name: `Bot ${i}`, authors: ['5'], ...(i < 70 && { website: 'https://many.example/' }) });
    const ids = Array.from({ length: 110 }, (_, i) => [pagePath(String(i + 1)), page(i)] as const);
    site = await openLoginSite({ files: { 'botshelf.json': settings, ...Object.fromEntries(ids) } });
    const { visitor, page: shown } = await open(pageOf('account', '5'));
    match(shown.text, /concerns: 110[^]*100 of 110 are shown/);
    strictEqual(shown.text.match(/<li><a href="\/bots\/\d+"/g)?.length, 100);
    const host = await visitor.go(site.baseUrl + pageOf('host', 'many.example'));
    strictEqual(host.status, 422);
    match(host.text, /Most bots have an address/);
  });

  it('is a list of fifty on a page, the last ones first, whatever its days are', async () => {
    const accounts = Array.from({ length: 60 }, (_, i) => [
      String(1001 + i),
      { since: `${2010 + i}-99-99`, reason: `R${i}.` },
    ]);
    const blocked = { accounts: Object.fromEntries(accounts), bots: { [homer]: { since: '2099-01-02' } } };
    const files = { 'botshelf.json': settings, 'blocked.json': JSON.stringify(blocked) };
    site = await openLoginSite({ files });
    const { visitor, page } = await open('/review/blocked');
    match(page.text, /<ol class="steps"><li><a[^>]*><bdi>Bot 190519304972663312<\/bdi>[^]*?January 2, 2099/);
    strictEqual(page.text.match(/value="unblock"/g)?.length, 50);
    match(page.text, /href="\/review\/blocked\?page=2"/);
    const second = await visitor.go(`${site.baseUrl}/review/blocked?page=2`);
    strictEqual(second.text.match(/value="unblock"/g)?.length, 11);
    match(second.text, /R0\.[^]*2010-99-99/);
    strictEqual((await visitor.go(`${site.baseUrl}/review/blocked?page=3`)).status, 404);
  });

  it('in a private file shows the commands only', async () => {
    const folder = tempFolder();
    const file = join(folder, 'who.json');
    writeFiles(folder, { 'who.json': JSON.stringify({ accounts: { [author]: { reason } } }) });
    site = await openLoginSite({ files: { 'botshelf.json': settings }, env: { BOTSHELF_BLOCKED: file } });
    const { visitor, page } = await open('/review/blocked');
    match(page.text, /Sells stolen accounts/);
    doesNotMatch(page.text, /value="unblock"/);
    for (const { text } of [page, await visitor.go(site.baseUrl + pageOf('account', author))])
      match(text, new RegExp(`<code>botshelf unblock account ${author}</code>`));
    const bot = await visitor.go(site.baseUrl + pageOf('bot', homer));
    match(bot.text, /<code>botshelf block bot 190519304972663312 --reason '…'<\/code>/);
    match(bot.text, /concerns: 1/);
    doesNotMatch(bot.text, /value="block"|name="reason"/);
    for (const act of ['block', 'unblock'] as const)
      strictEqual((await press({ visitor, page: bot }, act, ['bot', homer])).status, 400);
    match((await press({ visitor, page: bot }, 'end-token', ['bot', homer])).text, /This bot has no token/);
    ok(!site.service.log().includes(reason));
  });
});
