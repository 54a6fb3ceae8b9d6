import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { keepImages } from '../../support/images.ts';
import { readFormFields } from '../../support/form-fields.ts';
import { author, homer, type LoginSite, openLoginSite, stranger } from '../../support/login-site.ts';
import { proposalSettings } from '../../support/proposals.ts';
import { collection, pagePath, profile, translation } from '../../support/sample.ts';
import { type Page, versionIn, Visitor } from '../../support/visitor.ts';

const edit = `/bots/${homer}/edit`;
const newBot = '123456789012345678';
const bart = '190519304972664999';
const small = 'collections/small.en.md';
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
const images = { avatar: 'https://example.org/a.png', cover: 'https://example.org/b.png', preview: [] };
const settingsFile = (values: object): Record<string, string> => ({
  'botshelf.json': JSON.stringify({ maintainers: ['42'], ...values }),
});

function listRefs({ repo }: LoginSite): string[] {
  return repo
    .git('for-each-ref', '--format=%(refname)', 'refs/botshelf/proposals')
    .split('\n')
    .filter(Boolean);
}

/** Follows the login that the page after a form leads to. */
async function logInAfter(visitor: Visitor, { headers, url }: Page, account: string): Promise<Page> {
  const address = (headers.get('refresh') ?? '').replace(/^0; url=/, '');
  return await visitor.logIn(await visitor.go(new URL(address, url)), account);
}

/** Presses a button of a form, with the filled-in values and more. */
async function press(visitor: Visitor, page: Page, path: string, more: object = {}): Promise<Page> {
  return await visitor.press(page, path, { ...readFormFields(page.text), ...more });
}

describe('sending a form', () => {
  let site: LoginSite;
  before(async () => {
    const french = translation('Homer', 'Répond aux questions.', 'Bonjour.');
    site = await openLoginSite({
      files: {
        'botshelf.json': proposalSettings,
        [pagePath(homer, 'fr')]: french,
        [`people/${author}.json`]: profile(),
      },
      env: { BOTSHELF_IMAGES: 'on' },
      prepare: async ({ folder }) => await keepImages(folder, images, { width: 64, height: 64 }),
    });
  });

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

  it('has three steps on one page, and says what the listing lacks', async () => {
    const visitor = new Visitor();
    const page = await visitor.go(`${site.baseUrl}/add`);
    const stepsOf = ({ text }: Page): string[] =>
      [...text.matchAll(/<a href="#(step-\w+)"[^>]*>.*?<small>([^<]*)</g)].map(([, id, state]) => {
        ok(text.includes(`id="${id}"`), id);
        return `${id} ${state}`;
      });
    const lackedOf = ({ text }: Page): string[] => {
      const [, items = ''] = /<div class="checklist">.*?<ul>(.*?)<\/ul>/.exec(text) ?? [];
      return Array.from(items.matchAll(/– <a href="([^"]+)"/g), ([, href = '']) => href);
    };
    deepStrictEqual(stepsOf(page), [
      'step-basics 1 of 6 filled in',
      'step-links optional',
      'step-page optional',
    ]);
    deepStrictEqual(lackedOf(page), ['#avatar', '#cover', '#preview', '#page']);
    const cover = 'https://example.org/cover.png';
    const checked = await press(visitor, page, '/add', { ...add, cover, page: 'Reads.' });
    match(checked.text, /<li class="done">✓ Cover<\/li>/);
    deepStrictEqual(
      [stepsOf(checked)[0], ...lackedOf(checked)],
      ['step-basics 6 of 6 filled in', '#avatar', '#preview'],
    );
  });

  it('keeps 20,000 characters through the login, and one more press sends them', async () => {
    const visitor = new Visitor();
    const referer = site.baseUrl + edit;
    const page = await visitor.go(`${site.baseUrl}/language?locale=fr`, { headers: { referer } });
    strictEqual(page.url.href, `${referer}?locale=fr`);
    const text = `Привет & <b>"100%"</b>\n\n${'ё'.repeat(19_900)}`.slice(0, 20_000);
    const path = `${edit}/send`;
    const asked = await press(visitor, page, path, {
      page: text.replaceAll('\n', '\r\n'),
      note: 'Ça marche ?',
    });
    strictEqual(asked.status, 200);
    match(asked.text, /est conservé une heure/);
    const address = (asked.headers.get('refresh') ?? '').replace(/^0; url=/, '');
    match(address, /^\/login\?to=%2Fbots%2F/);
    ok(asked.text.includes(`href="${address.replaceAll('&', '&amp;')}"`));
    const back = await logInAfter(visitor, asked, stranger);
    strictEqual(back.url.pathname, edit);
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
    const back = await logInAfter(visitor, asked, '9');
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
    deepStrictEqual([refused.status, refused.headers.get('retry-after')], [503, '600']);
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
    for (const name of readdirSync(join(site.service.root, 'var', 'drafts')))
      rmSync(join(site.service.root, 'var', 'drafts', name));
    const back = await logInAfter(visitor, asked, stranger);
    strictEqual(back.url.pathname, path);
    match(back.text, /no longer here/);
  });

  it('makes the account that logs in the author of a new bot, whose ID is in its link', async () => {
    const visitor = new Visitor();
    const page = await visitor.go(`${site.baseUrl}/add`);
    const asked = await press(visitor, page, '/add/send', { ...add, id: '', authors: '' });
    const back = await logInAfter(visitor, asked, '11');
    const { id, authors } = readFormFields(back.text);
    deepStrictEqual([id, authors], [newBot, '11']);
  });

  it('shows the images that it names, also in the preview, and says where there is none', async () => {
    const visitor = new Visitor();
    const page = await visitor.go(site.baseUrl + edit);
    const { avatar, cover } = images;
    const preview = 'https://127.0.0.1/inside.png';
    const { text } = await press(visitor, page, edit, { avatar, cover, preview });
    const pathOf = (field: string): string | undefined =>
      new RegExp(`id="advice-${field}"><div class="asks images"><img src="([^"]*)"`).exec(text)?.[1];
    match(pathOf('avatar') ?? '', /^\/appdata\/[0-9a-f]{64}\.128\.webp$/);
    ok(text.includes(`<span class="avatar"><img src="${pathOf('avatar')}"`));
    match(text, /<ul class="cards" inert>[^]*<p class="by">by <bdi>Ada</);
    match(pathOf('cover') ?? '', /^\/appdata\/[0-9a-f]{64}\.320\.webp$/);
    match(
      text,
      /id="advice-preview"><div class="asks images"><p>No image could be loaded from <bdi>https:\/\/127/,
    );
    const signed = 'https://127.0.0.1/a.png?ex=67a1b2c3&is=67a06143&hm=0a1b';
    const expiring = await press(visitor, page, edit, { avatar: signed, page: `![Cake](${signed})` });
    for (const field of ['avatar', 'page'])
      match(
        expiring.text,
        new RegExp(`id="advice-${field}">.{0,60}>This link stops working after some time: `),
      );
    const wrong = await press(visitor, page, edit, {
      avatar: 'http://example.org/a.png',
      nsfw: 'true',
      cover,
    });
    match(
      wrong.text,
      /id="advice-avatar"><\/div>[^]*id="advice-cover"><div class="asks images"><img class="veiled"/,
    );
  });

  it('is shown in another language with what was typed, and with its faults if those were shown', async () => {
    const visitor = new Visitor();
    const page = await visitor.go(site.baseUrl + edit);
    const action = `${edit}?locale=de`;
    match(
      page.text,
      new RegExp(`<button[^>]* form="form" formaction="${action.replace('?', '\\?')}" lang="de"`, 'i'),
    );
    const typed = { name: '', description: 'Bakes.', note: 'Ask her.' };
    const german = await press(visitor, page, action, typed);
    match(german.text, /^<!doctype html>\n<html lang="de"/);
    doesNotMatch(german.text, /id="errors"/);
    const fields = readFormFields(german.text);
    deepStrictEqual([fields['description'], fields['note']?.trim()], ['Bakes.', 'Ask her.']);
    const sent = await visitor.press(german, `${edit}/send`, fields);
    match(sent.text, /<html lang="de"[^]*id="errors"/);
    const french = await visitor.press(sent, `${edit}?locale=fr`, readFormFields(sent.text));
    match(french.text, /<html lang="fr"[^]*id="errors"[^]*>Bakes\./);
  });

  it('shows a page that is far too long again, with its length', async () => {
    const { visitor, page } = await site.loggedIn(author, edit);
    const long = await press(visitor, page, `${edit}/send`, { page: 'x'.repeat(60_000) });
    strictEqual(long.status, 200);
    match(long.text, /Shorten this to 20,000 characters\. It has 60,000/);
    strictEqual(readFormFields(long.text)['page']?.length, 60_000);
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
    const permissions = (number: number): string => `${add.invite}&scope=bot&permissions=${number}`;
    for (const [fields, advice] of [
      [{ invite: 'discord.gg/abc' }, /-invite"><p [^>]*>This link opens a server; it does not add a bot/],
      [{ id: '1234' }, /-invite"><p [^>]*>This link adds the bot with the ID (?:<bdi>)?123456789012345678/],
      [{ invite: permissions(8) }, /-invite"><p class="asks warn warning">This link asks for full control/],
      [
        { invite: permissions(2 + 4 + 1024), id: '' },
        /-invite"><dl class="ing[^]*?Ban members, Kick members</,
      ],
      [{ id: '' }, /name="id" [^>]*value="123456789012345678"/],
    ] as const)
      match(await check(fields), advice);
    const moved = await check({ invite: 'discord.gg/abc', moved: 'invite' });
    match(moved, /name="support"[^>]*value="https:\/\/discord\.gg\/abc"/);
    doesNotMatch(moved, /name="invite"[^>]*discord/);
    doesNotMatch(moved, /id="errors"/);
    const text = await check({});
    match(
      text,
      /id="advice-authors"><p class="asks warn warning">You are not among the authors[^]*name="addedAuthor"[^>]*>Add me as an author/,
    );
    // The Enter key presses the first button.
    match(text, /<form class="add"[^>]*>.*<input[^>]*name="base"[^>]*\/?><p hidden><button type="submit"/);
    const added = await check({ addedAuthor: stranger });
    match(added, new RegExp(`name="authors"[^>]*value="1 ${stranger}"`));
    match(added, /id="advice-authors"><\/div>/);
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
        deepStrictEqual([sent.status, sent.headers.get('retry-after')], [429, '600']);
        match(sent.text, /role="alert"[^>]*>You have 5 open proposals\. Withdraw one/);
        strictEqual(readFormFields(sent.text)['name'], 'Bot 6');
      }
    }
  });

  describe('in a catalogue', () => {
    before(() => void site.repo.commit({ 'botshelf.json': '{}' }));

    /** Opens the form of Homer as its author, once the page matches. */
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
      await eventually(async () =>
        match((await visitor.go(`${site.baseUrl}/bots/${homer}`)).text, /Bakes\./),
      );
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
});

describe('the forms of what is beside bots/', () => {
  let site: LoginSite;
  before(async () => {
    const proposals = { authors: 'publish', others: 'review' };
    site = await openLoginSite({
      bots: [homer, bart],
      files: {
        'botshelf.json': JSON.stringify({ maintainers: ['42'], proposals }),
        [small]: collection({ bots: [homer, bart] }),
      },
    });
  });

  const read = (ref: string, path: string): string => site.repo.git('show', `${ref}:${path}`);

  it('name an account after a review, and change what it says at once where authors publish @slow', async () => {
    const path = `people/${author}.json`;
    const { visitor, page } = await site.loggedIn(author, '/my-bots/name');
    doesNotMatch(page.text, /Note for the reviewers/);
    const empty = await press(visitor, page, '/my-bots/name/send', { name: ' ' });
    match(empty.text, /Enter your name on one line/);
    const typed = { name: 'Homer J.', website: 'example.org', description: 'Bakes.' };
    const sent = await press(visitor, page, '/my-bots/name/send', typed);
    strictEqual(sent.url.pathname, `/proposals/profile-${author}`);
    const reviewPath = `/review/profile-${author}/${author}`;
    const { visitor: reviewer, page: review } = await site.loggedIn('42', reviewPath);
    await reviewer.press(review, reviewPath, { decision: 'accepted', version: versionIn(review) });
    const named = { website: 'https://example.org', description: { en: 'Bakes.' } };
    strictEqual(read('main', path), profile({ name: 'Homer J.', ...named }).trim());
    strictEqual(site.repo.status(), '');
    const referer = `${site.baseUrl}/my-bots/name`;
    const again = await visitor.go(`${site.baseUrl}/language?locale=de`, { headers: { referer } });
    const german = { description: 'Backt.', website: '' };
    const published = await press(visitor, again, '/my-bots/name/send', german);
    match(published.text, new RegExp(`<a href="/authors/${author}">`));
    const both = { name: 'Homer J.', website: null, description: { en: 'Bakes.', de: 'Backt.' } };
    deepStrictEqual(JSON.parse(read('main', path)), both);
    const last = await visitor.go(referer);
    for (const [locale, typed, description] of [
      ['en', {}, 'Bakes.'],
      ['fr', {}, ''],
      ['en', { description: '' }, 'Bakes.'],
      ['fr', { description: 'Cuit.' }, 'Cuit.'],
      ['de', { description: 'Bakes.' }, 'Backt.'],
    ] as const) {
      const { text } = await press(visitor, last, `/my-bots/name?locale=${locale}`, typed);
      strictEqual(readFormFields(text)['description'], description);
    }
    await visitor.go(`${site.baseUrl}/language?locale=de`, { headers: { referer } });
    await press(visitor, last, '/my-bots/name/send', { description: '' });
    deepStrictEqual(JSON.parse(read('main', path)).description, { en: 'Bakes.' });
  });

  it('ask who is not logged in to log in', async () => {
    const page = await new Visitor().go(`${site.baseUrl}/my-bots/name`);
    match(page.text, /Log in/);
    doesNotMatch(page.text, /name="website"/);
  });

  it('propose a collection, which a maintainer accepts, and say what is wrong with one @slow', async () => {
    const { visitor, page } = await site.loggedIn(stranger, '/add/collection');
    const wrong = { collection: 'Fun Bots', locale: 'en', title: 'Fun', description: 'To laugh.' };
    const refused = await press(visitor, page, '/add/collection/send', { ...wrong, bots: `${homer} 1` });
    match(refused.text, /Enter lower-case letters, digits and hyphens/);
    match(refused.text, /Some of these bots are not listed/);
    const taken = await press(visitor, page, '/add/collection', {
      ...wrong,
      collection: 'small',
      bots: homer,
    });
    match(taken.text, /There is a collection of this name/);
    match(taken.text, /Choose 2 to 30 bots/);
    const right = { ...wrong, collection: 'fun', bots: `${bart} ${homer}`, page: 'Ha.' };
    const sent = await press(visitor, page, '/add/collection/send', right);
    strictEqual(sent.url.pathname, '/proposals/collection-fun');
    const ref = `refs/botshelf/proposals/collection-fun/${stranger}`;
    const keys = { title: 'Fun', description: 'To laugh.', by: stranger, bots: [bart, homer] };
    strictEqual(read(ref, 'collections/fun.en.md'), collection(keys, 'Ha.').trim());
    match(sent.text, /href="\/add\/collection\?proposal=collections%2Ffun\.en\.md"/);
    const again = await visitor.go(`${site.baseUrl}/add/collection?proposal=collections/fun.en.md`);
    strictEqual(readFormFields(again.text)['bots'], `${bart} ${homer}`);
    const reviewPath = `/review/collection-fun/${stranger}`;
    const { visitor: reviewer, page: review } = await site.loggedIn('42', reviewPath);
    match(review.text, /<bdi>Fun<\/bdi>/);
    const accepted = { decision: 'accepted', version: versionIn(review) };
    const done = await reviewer.press(review, review.url.pathname, accepted);
    strictEqual(done.status, 200);
    match(read('main', 'collections/fun.en.md'), /"title": "Fun"/);
  });

  it('fill a collection by name, step by step, and keep what was typed', async () => {
    let page = await new Visitor().go(`${site.baseUrl}/add/collection`);
    const visitor = new Visitor();
    const step = async (shelf: string, typed: Record<string, string> = {}): Promise<string> => {
      page = await press(visitor, page, '/add/collection', { ...typed, shelf });
      const main = page.text.replace(/[^]*<main/, '');
      doesNotMatch(main, /class="notice bad"/);
      // Ids are in values only.
      doesNotMatch(main.replaceAll(/<[^>]*>/g, ' '), new RegExp(`${homer}|${bart}`));
      const { bots = '', title, find } = readFormFields(page.text);
      return [title, find, bots].join('|');
    };
    strictEqual(await step('find', { title: 'Fun', find: 'homer' }), 'Fun|homer|');
    match(page.text, new RegExp(`<b dir="auto">Homer</b>[^]*?value="put ${homer}"`));
    strictEqual(await step(`put ${homer}`), `Fun|homer|${homer}`);
    strictEqual(
      await step('find', { find: `https://bots.example.org/bots/${bart}?locale=de` }),
      `Fun|https://bots.example.org/bots/${bart}?locale=de|${homer}`,
    );
    strictEqual(await step(`put ${bart}`, { find: '' }), `Fun||${homer} ${bart}`);
    match(page.text, /<p>2 bots<\/p><\/a>/);
    strictEqual(await step(`up ${bart}`), `Fun||${bart} ${homer}`);
    match(page.text, /action="\/add\/collection#place-2"/i);
    strictEqual(await step(`down ${bart}`), `Fun||${homer} ${bart}`);
    strictEqual(await step(`take ${homer}`, { find: 'zzzzzzzz' }), `Fun|zzzzzzzz|${bart}`);
    match(page.text, /No other bot matches/);
    strictEqual(await step(`down ${homer}`), `Fun|zzzzzzzz|${bart}`);
    strictEqual(await step('find', { bots: `${bart} 77` }), `Fun|zzzzzzzz|${bart} 77`);
    match(page.text, /aria-label="Move up: Not listed"/);
  });

  it('edit a collection and translate it', async () => {
    const { visitor, page } = await site.loggedIn(stranger, '/collections/small/edit');
    await press(visitor, page, '/collections/small/edit/send', { title: 'For tiny servers' });
    const form = await visitor.go(`${site.baseUrl}/collections/small/translate`);
    const german = { locale: 'de', title: 'Für kleine Server', description: 'Ohne Einrichtung.' };
    await press(visitor, form, '/collections/small/translate/send', german);
    const ref = `refs/botshelf/proposals/collection-small/${stranger}`;
    match(read(ref, small), /"title": "For tiny servers"/);
    strictEqual(read(ref, 'collections/small.de.md'), collection({ ...german, locale: undefined }).trim());
    strictEqual((await visitor.go(`${site.baseUrl}/collections/none/edit`)).status, 404);
  });
});
