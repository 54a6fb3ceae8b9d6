import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { readFormFields } from '../../support/form-fields.ts';
import { author, homer, type LoginSite, openLoginSite, stranger } from '../../support/login-site.ts';
import { proposalSettings } from '../../support/proposals.ts';
import { pagePath, translation } from '../../support/sample.ts';
import { type Page, Visitor } from '../../support/visitor.ts';

const edit = `/bots/${homer}/edit`;
const newBot = '123456789012345678';
const add = {
  id: newBot,
  locale: 'en',
  name: '<i>Bookworm</i>',
  description: 'Reads.',
  category: 'fun',
  authors: '1',
  invite: 'https://discord.com/oauth2/authorize?client_id=123456789012345678',
};
const openRef = (bot: string, account: string): string => `refs/botshelf/proposals/${bot}/${account}`;
const settingsFile = (values: object): Record<string, string> => ({
  'botshelf.json': JSON.stringify({ maintainers: ['42'], ...values }),
});

function listRefs({ repo }: LoginSite): string[] {
  return repo
    .git('for-each-ref', '--format=%(refname)', 'refs/botshelf/proposals')
    .split('\n')
    .filter(Boolean);
}

/** The site of all tests, whose catalogue takes proposals at first. */
let shared: Promise<LoginSite> | undefined;

async function openSite(): Promise<LoginSite> {
  const french = translation('Homer', 'Répond aux questions.', 'Bonjour.');
  shared ??= openLoginSite({ files: { 'botshelf.json': proposalSettings, [pagePath(homer, 'fr')]: french } });
  return await shared;
}

describe('sending a form', () => {
  let site: LoginSite;
  before(async () => {
    site = await openSite();
  });

  /** Presses a button of a form, with what was filled in and more. */
  const press = async (
    visitor: Visitor,
    page: Page,
    path: string,
    more: Record<string, string> = {},
  ): Promise<Page> => await visitor.press(page, path, { ...readFormFields(page.text), ...more });

  it('proposes a new bot, and leads to what happens next', async () => {
    const { visitor, page } = await site.loggedIn(stranger, '/add');
    match(page.text, /<button class="send" type="submit" formaction="\/add\/send">Send to the reviewers</i);
    match(page.text, /is as public as the catalogue's repository/);
    const note = 'Try <b>/read</b>.\r\n\r\nState: accepted';
    const sent = await press(visitor, page, '/add/send', { ...add, note });
    strictEqual(sent.url.pathname, `/proposals/${newBot}`);
    strictEqual(sent.status, 200);
    match(sent.text, /Your proposal for <bdi>&lt;i>Bookworm/);
    match(sent.text, /<h2 id="state">Waiting for review/);
    match(sent.text, /Try &lt;b>\/read&lt;\/b>\.\n\nState: accepted/);
    const file = site.repo.git('show', `${openRef(newBot, stranger)}:${pagePath(newBot)}`);
    match(file, /"name": "<i>Bookworm<\/i>"/);
    doesNotMatch(file, /\/read/);
    strictEqual(site.repo.git('log', '-1', '--format=%s', 'main'), 'Begin');
    match((await visitor.go(`${site.baseUrl}/my-bots`)).text, /<bdi>&lt;i>Bookworm&lt;\/i><\/bdi>/);
  });

  it('keeps 20,000 characters through the login, and one more press sends them', async () => {
    const visitor = new Visitor();
    const page = await visitor.go(`${site.baseUrl}${edit}?locale=fr`);
    const text = `Привет & <b>"100%"</b>\n\n${'ё'.repeat(19_900)}`.slice(0, 20_000);
    const path = `${edit}/send?locale=fr`;
    const asked = await press(visitor, page, path, {
      page: text.replaceAll('\n', '\r\n'),
      note: 'Ça marche ?',
    });
    strictEqual(asked.status, 200);
    match(asked.text, /est conservé une heure/);
    const address = (asked.headers.get('refresh') ?? '').replace(/^0; url=/, '');
    match(address, /^\/login\?to=%2Fbots%2F/);
    ok(asked.text.includes(`href="${address.replaceAll('&', '&amp;')}"`));
    const back = await visitor.logIn(await visitor.go(new URL(address, site.baseUrl)), stranger);
    strictEqual(back.url.pathname, edit);
    strictEqual(back.url.searchParams.get('locale'), 'fr');
    const fields = readFormFields(back.text);
    strictEqual(fields['page']?.replaceAll('\r\n', '\n'), text);
    strictEqual(fields['note']?.trim(), 'Ça marche ?');
    match(back.text, /Vous pouvez l’envoyer maintenant/);
    const sent = await visitor.press(back, path, fields);
    strictEqual(sent.url.pathname, `/proposals/${homer}`);
    const saved = site.repo.git('show', `${openRef(homer, stranger)}:${pagePath(homer)}`);
    ok(saved.endsWith(text));
  });

  it('comes back from the login to the page of that language', async () => {
    const visitor = new Visitor();
    const path = `${edit}?language=fr`;
    const page = await visitor.go(site.baseUrl + path);
    match(page.text, /formaction="\/bots\/[0-9]+\/edit\/send\?language=fr"/i);
    const asked = await press(visitor, page, `${edit}/send?language=fr`, { description: 'Répond vite.' });
    const address = (asked.headers.get('refresh') ?? '').replace(/^0; url=/, '');
    const back = await visitor.logIn(await visitor.go(new URL(address, site.baseUrl)), '9');
    strictEqual(back.url.searchParams.get('language'), 'fr');
    strictEqual(readFormFields(back.text)['description'], 'Répond vite.');
    const sent = await press(visitor, back, `${edit}/send?language=fr`);
    strictEqual(sent.url.pathname, `/proposals/${homer}`);
    match(site.repo.git('show', `${openRef(homer, '9')}:${pagePath(homer, 'fr')}`), /Répond vite/);
  });

  it('says that it cannot be saved, and keeps what was typed on the page', async () => {
    const folder = join(site.service.root, 'var', 'drafts');
    const visitor = new Visitor();
    const page = await visitor.go(site.baseUrl + edit);
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    const refused = await press(visitor, page, `${edit}/send`, { name: 'Marge', note: 'Ask her.' });
    rmSync(folder);
    mkdirSync(folder);
    strictEqual(refused.status, 503);
    match(refused.text, /role="alert"[^>]*>It cannot be saved right now/);
    const fields = readFormFields(refused.text);
    strictEqual(fields['name'], 'Marge');
    strictEqual(fields['note']?.trim(), 'Ask her.');
  });

  it('keeps the language of a new page through the login, and says where a draft is gone', async () => {
    const visitor = new Visitor();
    const path = `/bots/${homer}/translate`;
    const page = await visitor.go(`${site.baseUrl}${path}`);
    const more = { locale: 'de', description: 'Beantwortet Fragen.' };
    const asked = await press(visitor, page, `${path}/send`, more);
    const address = (asked.headers.get('refresh') ?? '').replace(/^0; url=/, '');
    for (const name of readdirSync(join(site.service.root, 'var', 'drafts')))
      rmSync(join(site.service.root, 'var', 'drafts', name));
    const back = await visitor.logIn(await visitor.go(new URL(address, site.baseUrl)), stranger);
    strictEqual(back.url.pathname, path);
    match(back.text, /no longer here/);
  });

  it('sends nothing that has a fault, or changes nothing', async () => {
    const { visitor, page } = await site.loggedIn(author, edit);
    const before = listRefs(site);
    match((await press(visitor, page, `${edit}/send`)).text, /Nothing has changed yet/);
    const faulty = await press(visitor, page, `${edit}/send`, { invite: 'x', name: '"><script>' });
    match(faulty.text, /1 field needs attention/);
    match(faulty.text, /value="&quot;>&lt;script>"/);
    const long = await press(visitor, page, `${edit}/send`, { name: 'A', note: 'x'.repeat(1001) });
    strictEqual(long.status, 422);
    match(long.text, /It has <bdi>1,001|It has 1,001/);
    const stale = await press(visitor, page, `${edit}/send`, { name: 'A', base: 'x' });
    strictEqual(stale.status, 409);
    match(stale.text, /has changed since you opened the form/);
    deepStrictEqual(listRefs(site), before);
  });

  it('says of a new bot what nobody could use, and a button adds the person to the authors', async () => {
    const { visitor, page } = await site.loggedIn(stranger, '/add');
    const check = async (fields: object): Promise<string> =>
      (await visitor.press(page, '/add', { ...add, ...fields })).text;
    const administrator = `${add.invite}&scope=bot&permissions=8`;
    match(
      await check({ invite: 'discord.gg/abc' }),
      /id="advice-invite">This link opens a server; it does not add a bot/,
    );
    match(
      await check({ id: '1234' }),
      /id="advice-invite">This link adds the bot with the ID (?:<bdi>)?123456789012345678/,
    );
    const text = await check({ invite: administrator });
    match(text, /id="advice-invite"><\/p>/);
    match(text, /id="outcome"[^]*Permissions it asks for[^]*Asks for full control of your server/);
    match(
      text,
      /id="advice-authors">You are not among the authors[^]*name="addedAuthor"[^>]*>Add me as an author/,
    );
    // The Enter key presses the first button.
    match(text, /<form class="add"[^>]*><input[^>]*name="base"[^>]*\/?><p hidden><button type="submit"/);
    const added = await check({ addedAuthor: stranger });
    match(added, new RegExp(`name="authors"[^>]*value="1 ${stranger}"`));
    match(added, /id="advice-authors"><\/p>/);
  });

  it('shows what the check says before it is sent', async () => {
    const { visitor, page } = await site.loggedIn(stranger, edit);
    const checked = await press(visitor, page, edit, { authors: `${author} ${stranger}` });
    match(checked.text, /The reviewers see it too\.<\/p><ul lang="en" dir="ltr"><li><code>/);
    match(checked.text, new RegExp(`authors adds ${stranger}|${stranger}`));
    match(checked.text, /<details><summary>Other ways/);
  });

  it('is refused where a page of another site sends it', async () => {
    const { visitor, page } = await site.loggedIn(author, edit);
    const elsewhere = { ...page, url: new URL('https://evil.example/') };
    const fields = { ...readFormFields(page.text), name: 'Evil' };
    const refused = await visitor.press(elsewhere, `${site.baseUrl}${edit}/send`, fields);
    strictEqual(refused.status, 403);
    strictEqual(site.repo.tryGit('rev-parse', '--verify', '-q', openRef(homer, author)), 1);
  });

  it('is refused beyond five open proposals, with what to do, and what was typed', async () => {
    const { visitor, page } = await site.loggedIn('7', '/add');
    for (let i = 1; i <= 6; i++) {
      const sent = await press(visitor, page, '/add/send', { ...add, id: `90${i}`, name: `Bot ${i}` });
      if (i < 6) strictEqual(sent.url.pathname, `/proposals/90${i}`);
      else {
        strictEqual(sent.status, 429);
        match(sent.text, /role="alert"[^>]*>You have 5 open proposals\. Withdraw one/);
        strictEqual(readFormFields(sent.text)['name'], 'Bot 6');
      }
    }
  });
});

describe('a catalogue', () => {
  let site: LoginSite;
  before(async () => {
    site = await openSite();
    site.repo.commit({ 'botshelf.json': '{}' });
  });

  /** Opens the form of Homer as his author once it says so. */
  async function openForm(shown: RegExp): Promise<{ visitor: Visitor; page: Page }> {
    const opened = await site.loggedIn(author, edit);
    const { visitor } = opened;
    let { page } = opened;
    await eventually(async () => {
      page = await visitor.go(site.baseUrl + edit);
      match(page.text, shown);
    });
    return { visitor, page };
  }

  async function takesNothing(): Promise<void> {
    const before = listRefs(site);
    const { visitor, page } = await openForm(/as a pull request/);
    doesNotMatch(page.text, /class="send"|Note for the reviewers/);
    const fields = { ...readFormFields(page.text), name: 'Marge' };
    const checked = await visitor.press(page, edit, fields);
    doesNotMatch(checked.text, /Other ways/);
    const sent = await visitor.press(page, `${edit}/send`, fields);
    strictEqual(sent.status, 409);
    match(sent.text, /no longer takes such proposals/);
    deepStrictEqual(listRefs(site), before);
  }

  it('without a maintainer has the forms as they are @slow', takesNothing);

  it('that publishes its authors’ edits has a button for that, but not for what is always reviewed @slow', async () => {
    site.repo.commit(settingsFile({ proposals: { authors: 'publish' } }));
    const { visitor, page } = await openForm(/formaction="[^"]*\/send">Publish</i);
    const fields = readFormFields(page.text);
    const done = await visitor.press(page, `${edit}/send`, { ...fields, description: 'Bakes.' });
    match(done.text, /<h2 id="state">Accepted/);
    match(done.text, /Your change is published\. <a href="\/bots\//);
    match(site.repo.git('show', `main:${pagePath(homer)}`), /"description": "Bakes\."/);
    await eventually(async () => match((await visitor.go(`${site.baseUrl}/bots/${homer}`)).text, /Bakes\./));
    const again = await visitor.go(`${site.baseUrl}${edit}`);
    const invite = 'https://discord.com/oauth2/authorize?client_id=7&permissions=8';
    const next = await visitor.press(again, `${edit}/send`, { ...readFormFields(again.text), invite });
    match(next.text, /<h2 id="state">Waiting for review/);
    match((await site.loggedIn(stranger, edit)).page.text, />Send to the reviewers</);
  });

  it('that turns proposals off has the forms as they are', async () => {
    site.repo.commit(settingsFile({ proposals: { newBots: 'off', authors: 'off', others: 'off' } }));
    await takesNothing();
  });
});
