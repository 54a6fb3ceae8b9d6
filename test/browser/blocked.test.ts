import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openLoggedIn } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { readFormFields } from '../support/form-fields.ts';
import {
  author,
  homer,
  type LoggedIn,
  type LoginSite,
  openLoginSite,
  stranger,
} from '../support/login-site.ts';
import { checkAtWidths } from '../support/page-checks.ts';
import { openProposals } from '../support/proposals.ts';
import { accountId, botId, mainPage, pagePath } from '../support/sample.ts';
import { tempFolder, writeFiles } from '../support/temp-folder.ts';
import { needs } from '../support/tools.ts';
import { type Page, versionIn, Visitor } from '../support/visitor.ts';

const reason = 'Sells stolen accounts';
const maintainer = '42';
const settings = JSON.stringify({ maintainers: [maintainer], contact: 'help@example.org' });
const sentence = 'This site takes nothing from this account.';
const pageSentence = 'This page names something that this site does not list.';
const newBot = (id: string, more: object = {}): Record<string, string> => ({
  id,
  locale: 'en',
  name: `Bot ${id}`,
  description: 'Reads.',
  category: 'fun',
  authors: stranger,
  invite: `https://example.net/${id}`,
  ...more,
});

/** Sends the form of a page, with more filled in. */
async function send({ visitor, page }: LoggedIn, fields: Readonly<Record<string, string>>): Promise<Page> {
  return await visitor.press(page, `${page.url.pathname}/send`, { ...readFormFields(page.text), ...fields });
}

describe('a site with a private file that says who is blocked', function () {
  let site: LoginSite;
  const folder = tempFolder();
  const file = join(folder, 'who.json');
  const write = (content: object | string): void =>
    writeFiles(folder, { 'who.json': typeof content === 'string' ? content : JSON.stringify(content) });
  const blocked = {
    accounts: { [author]: { reason, since: '2019-03-04' } },
    bots: { 1009: { reason } },
    hosts: { 'bad.example': { reason } },
  };
  /** The pages that people without a right to the reasons have seen. */
  const seen: string[] = [];
  const open = async (account: string, path: string): Promise<LoggedIn> => {
    const person = await site.loggedIn(account, path);
    if (account !== maintainer) seen.push(person.page.text);
    return person;
  };

  before(async () => {
    write(blocked);
    site = await openLoginSite({
      bots: [homer, '1009'],
      files: {
        'botshelf.json': settings,
        [pagePath('1010')]: mainPage({ name: 'Other', authors: ['702'], oauth: '1009' }),
      },
      env: { BOTSHELF_BLOCKED: file },
      prepare: async (repo) => {
        const proposals = await openProposals(repo.folder);
        const added = mainPage({ name: 'Bot 1001', authors: [author] });
        for (const [subject, account, path, text] of [
          [botId('1001'), '701', pagePath('1001'), added],
          [`profile-${author}`, author, `people/${author}.json`, '{ "name": "Homer" }\n'],
        ] as const) {
          const proposer = { id: accountId(account), name: 'Ned' };
          await proposals.send({ subject, proposer, note: '', pages: new Map([[path, text]]) });
        }
      },
    });
  });

  after(() => {
    for (const text of seen) ok(!text.includes(reason) && !text.includes('2019-03-04'), text.slice(0, 200));
  });

  it('lets a blocked account log in, and tells it a plain sentence with the contact', async () => {
    const { page } = await open(author, '/my-bots');
    strictEqual(page.status, 200);
    match(
      page.text,
      /This site takes nothing from this account\. If you think that is a mistake, write to its maintainers\. <a href="mailto:help@example\.org">/,
    );
    const german = await site.loggedIn(author, '/my-bots?locale=de');
    match(german.page.text, /Diese Website nimmt von diesem Konto nichts an/);
    ok(!(await open(stranger, '/my-bots')).page.text.includes(sentence));
  });

  needs('chromium', it)(
    'says so on a page where axe finds nothing, also from right to left and on a phone',
    async () => {
      const page = await openLoggedIn(site, author, '/add', { locale: 'ar' });
      seen.push(await page.content());
      strictEqual(await page.locator('html').getAttribute('dir'), 'rtl');
      ok((await page.getByRole('link', { name: 'help@example.org' }).count()) > 0);
      await checkAtWidths(page, '/add in Arabic', [1280, 360]);
    },
  );

  it('gives a blocked account no token, nor a blocked bot, and the others one', async () => {
    const { visitor, page } = await open(author, `/bots/${homer}/token`);
    strictEqual(page.status, 403);
    match(page.text, /This site takes nothing from this account/);
    doesNotMatch(page.text, /method="post" action="\/bots/);
    for (const path of [`/bots/${homer}/token`, `/bots/${homer}/token/revoke`]) {
      const pressed = await visitor.press(page, path);
      seen.push(pressed.text);
      strictEqual(pressed.status, 403);
    }
    strictEqual((await open('702', '/bots/1010/token')).page.status, 403);
    strictEqual(site.repo.tryGit('grep', '-q', '"token":"', 'refs/botshelf/state') === 0, false);
  });

  it('refuses forms of a blocked account: bots, names and collections', async () => {
    for (const [path, fields] of [
      ['/add', newBot('1002', { authors: author })],
      ['/my-bots/name', { name: 'Homer' }],
      [
        '/add/collection',
        { collection: 'best', locale: 'en', title: 'Best', description: 'D', bots: `${homer}\n1009` },
      ],
      [`/bots/${homer}/edit`, { description: 'Other words.' }],
    ] as const) {
      const person = await open(author, path);
      match(person.page.text, /This site takes nothing from this account/, path);
      doesNotMatch(person.page.text, /class="send"/);
      const sent = await send(person, fields);
      seen.push(sent.text);
      strictEqual(sent.status, 409, path);
      match(sent.text, /This site takes nothing from this account/);
    }
  });

  it('refuses what names somebody blocked, also before a draft is kept, and takes the rest', async () => {
    const person = await open(stranger, '/add');
    for (const fields of [
      newBot('1003', { authors: `${stranger}\n${author}` }),
      newBot('1003', { website: 'https://www.bad.example/x' }),
      newBot('1003', { invite: 'https://bad.example/' }),
    ]) {
      for (const who of [person, { visitor: new Visitor(), page: person.page }]) {
        const sent = await send(who, fields);
        seen.push(sent.text);
        strictEqual(sent.status, 409);
        ok(sent.text.includes(pageSentence));
      }
      const checked = await person.visitor.press(person.page, '/add', {
        ...readFormFields(person.page.text),
        ...fields,
      });
      seen.push(checked.text);
      match(checked.text, /this list takes nothing with the (?:account|host) /);
    }
    deepStrictEqual(readdirSync(join(site.repo.folder, 'var/drafts')), []);
    const sent = await send(person, newBot('1004'));
    strictEqual(sent.url.pathname, '/proposals/1004');
  });

  it('tells a maintainer why, in the review, the forms and what needs attention', async () => {
    const { visitor, page } = await open(maintainer, '/review/1001/701');
    match(page.text, /the account 190519304972664832 is blocked \(Sells stolen accounts\)/);
    const fields = { version: versionIn(page), decision: 'accepted' };
    const decided = await visitor.press(page, page.url.pathname, fields);
    strictEqual(decided.status, 409);
    strictEqual(site.repo.tryGit('cat-file', '-e', `HEAD:${pagePath('1001')}`), 128);
    const profile = await visitor.go(`${site.baseUrl}/review/profile-${author}/${author}`);
    match(profile.text, /is blocked \(Sells stolen accounts\)/);
    const form = await visitor.go(`${site.baseUrl}/add`);
    const checked = await visitor.press(form, '/add', {
      ...readFormFields(form.text),
      ...newBot('1005', { authors: author }),
    });
    match(checked.text, /is blocked \(Sells stolen accounts\)/);
    const queue = await visitor.go(`${site.baseUrl}/review?tab=attention`);
    match(queue.text, new RegExp(`Blocked, and still listed[^]*Names what is blocked: <bdi>${author}`));
    match(queue.text, new RegExp(`Names what is blocked: <bdi>1009, ${author}`));
  });

  it('goes on serving what is listed, without a reason in any page or response', async () => {
    const ofBot = ['/bots/', '/api/v2/bots/'].map((path) => path + homer);
    const others = ['/', `/authors/${author}`, '/api/v2/bots', '/readyz', '/docs', `/bots/${homer}/changes`];
    for (const path of [...ofBot, ...others]) {
      const response = await fetch(site.service.address + path);
      strictEqual(response.status, 200, path);
      seen.push(await response.text());
    }
  });

  it('keeps the last valid version in force while the file is faulty or gone, and names the fault', async () => {
    const faults = async (): Promise<string[]> =>
      (await site.service.request('/readyz')).json.files.map(
        ({ path, line, column, message }: Record<string, string>) => `${path}:${line}:${column} ${message}`,
      );
    site.service.expectLog(/BOTSHELF_BLOCKED/);
    write(`{ "accounts": { "${author}": { "reason": "${reason}", "sinse": "2019-03-04" } } }`);
    await eventually(async () =>
      deepStrictEqual(await faults(), [
        'BOTSHELF_BLOCKED:1:76 the file that BOTSHELF_BLOCKED names breaks this rule: correct it',
      ]),
    );
    strictEqual((await open(author, `/bots/${homer}/token`)).page.status, 403);
    rmSync(file);
    await eventually(async () => match((await faults())[0] ?? '', /there is no such file: create it/));
    strictEqual((await open(author, `/bots/${homer}/token`)).page.status, 403);
    write({ accounts: {} });
    await eventually(async () => deepStrictEqual(await faults(), []));
    const { visitor, page } = await open(author, `/bots/${homer}/token`);
    match((await visitor.press(page, `/bots/${homer}/token`)).text, /id="token"/);
    ok(!site.service.log().includes(reason));
  });
});

describe('a site that starts with a faulty blocked.json', function () {
  it('serves bots, and takes neither a proposal nor a press for a token until it is corrected', async () => {
    const site = await openLoginSite({ files: { 'botshelf.json': settings, 'blocked.json': '{' } });
    site.service.expectLog(/blocked\.json/);
    site.service.allowLog(/nobody can tell who is blocked/);
    strictEqual((await fetch(`${site.service.address}/bots/${homer}`)).status, 200);
    const ready = await site.service.request('/readyz');
    deepStrictEqual([ready.status, ready.json.files[0].path], [200, 'blocked.json']);
    const { visitor, page } = await site.loggedIn(author);
    strictEqual(page.status, 503);
    match(page.text, /nobody can tell who is blocked: correct blocked\.json/);
    const form = await visitor.go(`${site.baseUrl}/add`);
    const fields = newBot('1002', { authors: author });
    strictEqual((await send({ visitor, page: form }, fields)).status, 503);
    strictEqual((await visitor.press(page, `/bots/${homer}/token`)).status, 503);
    site.repo.commit({ 'blocked.json': '{}' });
    await eventually(async () => strictEqual((await visitor.go(page.url)).status, 200));
    strictEqual((await send({ visitor, page: form }, fields)).url.pathname, '/proposals/1002');
  });
});
