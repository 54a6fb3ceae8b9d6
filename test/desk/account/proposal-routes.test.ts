import { doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { readFormFields } from '../../support/form-fields.ts';
import { author, homer, type LoginSite, openLoginSite, stranger } from '../../support/login-site.ts';
import { author as homerJ, maintainer, openProposals, proposalSettings } from '../../support/proposals.ts';
import type { Decision, Proposals } from '../../../src/proposals/proposals.ts';
import { accountId, botId, mainPage, pagePath } from '../../support/sample.ts';
import { type Page, versionIn, Visitor } from '../../support/visitor.ts';

const files = { 'botshelf.json': proposalSettings };
const path = `/proposals/${homer}`;
const original = mainPage({ authors: [author] });
const proposed = mainPage({ authors: [author], description: 'Knows <b>everything</b>.', nsfw: true });

/** Sends a change of a bot as its author, and decides about it as a maintainer. */
async function decide(
  proposals: Proposals,
  bot: string,
  state: Decision['state'],
  reason: string | null = null,
): Promise<void> {
  const { proposal } = await proposals.send({
    subject: botId(bot),
    proposer: homerJ,
    pages: new Map([[pagePath(bot), proposed]]),
    note: 'Ask it about <i>doughnuts</i>.',
  });
  const text = 'Where can I\ntest it? <script>alert(1)</script>';
  await proposals.decide(botId(bot), accountId(author), {
    state,
    reviewer: maintainer,
    version: proposal.version,
    reason,
    text,
  });
}

const linkIn = ({ text }: Page, name: string): string =>
  new RegExp(`href="([^"]*)"[^>]*>${name}`).exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';

describe('the page of a proposal', () => {
  let site: LoginSite;
  const [changed, offline, refused, accepted] = ['1001', '1002', '1003', '1004'] as const;

  before(async () => {
    site = await openLoginSite({
      files,
      bots: [homer, changed, offline, refused, accepted],
      prepare: async (repo) => {
        const proposals = await openProposals(repo.folder);
        await decide(proposals, homer, 'changes-asked');
        await decide(proposals, changed, 'changes-asked');
        const website = 'https://example.org/';
        const description = '<i>The page now.</i>';
        repo.commit({ [pagePath(changed)]: mainPage({ authors: [author], description, website }) });
        await decide(proposals, offline, 'declined', 'offline');
        await decide(proposals, refused, 'declined', 'Only <b>fun</b> bots');
        await decide(proposals, accepted, 'accepted');
      },
    });
  });

  it('is that of the account only', async () => {
    const page = await new Visitor().go(`${site.baseUrl}${path}`);
    doesNotMatch(page.text, /doughnuts/);
    strictEqual(page.headers.get('refresh'), `0; url=/login?to=${encodeURIComponent(path)}`);
    strictEqual((await site.loggedIn(stranger, path)).page.status, 404);
    const { page: own, visitor } = await site.loggedIn(author, path);
    strictEqual(own.status, 200);
    match(own.headers.get('cache-control') ?? '', /no-store/);
    strictEqual((await visitor.go(`${site.baseUrl}/proposals/x`)).status, 404);
  });

  it('has the words of both, escaped, and leads to the form, filled in with what was sent', async () => {
    const { page, visitor } = await site.loggedIn(author, path);
    match(page.text, /<h2 id="state">Changes asked for<\/h2>/);
    match(page.text, /Where can I\ntest it\? &lt;script>/);
    match(page.text, /Ask it about &lt;i>doughnuts/);
    doesNotMatch(page.text, /<script>alert|<b>everything/);
    const form = await visitor.go(`${site.baseUrl}${linkIn(page, 'Edit again')}`);
    strictEqual(form.status, 200);
    match(
      form.text,
      /<h1>Your proposal for [^]*<h2 id="answer">Changes asked for<\/h2>[^]*Where can I\ntest it/,
    );
    const fields = readFormFields(form.text);
    strictEqual(fields['description'], 'Knows <b>everything</b>.');
    strictEqual(fields['nsfw'], 'true');
    strictEqual(fields['note']?.trim(), 'Ask it about <i>doughnuts</i>.');
    const sent = await visitor.press(form, `/bots/${homer}/edit/send`, { ...fields, note: 'In my server.' });
    strictEqual(sent.url.pathname, path);
    match(sent.text, /<h2 id="state">Waiting for review<\/h2>/);
    match(sent.text, /It is the next one to be reviewed/);
    match(sent.text, /In my server/);
    const desk = (await visitor.go(`${site.baseUrl}/my-bots`)).text;
    match(desk, /<p>5 listed · 1 needs your answer<\/p>/);
    match(
      desk,
      /href="\/proposals\/1001"[^]*?<span class="tag warning">Needs your answer<\/span>[^]*?Edit · Sent[^]*?<bdi>Marge<\/bdi> asked for changes[^]*?Where can I\ntest it\?[^]*?<a class="button" href="\/proposals\/1001">Answer</,
    );
    match(
      desk,
      /Waiting for review[^]*?<a class="button quiet" href="\/proposals\/190519304972663312">Open</,
    );
    match(desk, /Accepted[^]*?<a class="button quiet" href="\/bots\/1004">See its page</);
    doesNotMatch(
      desk.replaceAll(`Person ${author}`, '').replaceAll(/(?:href|content)="[^"]*"/g, ''),
      new RegExp(author),
    );
  });

  it('is edited again beside what the page has now, where both have changed the same', async () => {
    const { page, visitor } = await site.loggedIn(author, `/proposals/${changed}`);
    const form = await visitor.go(`${site.baseUrl}${linkIn(page, 'Edit again')}`);
    match(form.text, /also where you changed it: <a href="#description">Description<\/a>\. Decide/);
    match(form.text, /The page now has: <ins dir="auto">&lt;i>The page now\.&lt;\/i><\/ins>/);
    strictEqual(form.text.split('class="page-now"').length, 2);
    const fields = readFormFields(form.text);
    strictEqual(fields['description'], 'Knows <b>everything</b>.');
    strictEqual(fields['website'], 'https://example.org/');
    const checked = await visitor.press(form, linkIn(page, 'Edit again'), { ...fields, description: '' });
    match(checked.text, /The page now has:/);
    const sent = await visitor.press(form, `/bots/${changed}/edit/send`, fields);
    match(sent.text, /<h2 id="state">Waiting for review<\/h2>/);
    match(
      site.repo.git('show', `refs/botshelf/proposals/${changed}/${author}:${pagePath(changed)}`),
      /example\.org/,
    );
  });

  it('says why it was declined, in the words of the interface or of the maintainers', async () => {
    for (const [bot, shown] of [
      [offline, 'Le bot est hors ligne ou ne répond pas.'],
      [refused, 'Only &lt;b>fun&lt;/b> bots'],
    ] as const) {
      const { page } = await site.loggedIn(author, `/proposals/${bot}?locale=fr`);
      ok(page.text.includes(shown), page.text);
      match(page.text, /<h2 id="state">Refusée<\/h2>/);
      match(page.text, /Modifier à nouveau/);
      doesNotMatch(page.text, /\/withdraw"/);
    }
  });

  it('shows what was proposed also once the listing has it', async () => {
    const { page } = await site.loggedIn(author, `/proposals/${accepted}`);
    match(page.text, /For adults only \(18\+\)<\/dt><dd>.*<ins>✓<\/ins>[^]*class="card /);
    doesNotMatch(page.text, /edited|&quot;nsfw|bots\/\d+\/.*\.md/);
  });

  it('is withdrawn by a button, at the version that was seen, and not from another site', async () => {
    const { page, visitor } = await site.loggedIn(author, path);
    const version = versionIn(page);
    const elsewhere = { ...page, url: new URL('https://evil.example/') };
    const target = `${site.baseUrl}${path}/withdraw`;
    strictEqual((await visitor.press(elsewhere, target, { version })).status, 403);
    const other = await visitor.press(page, `${path}/withdraw`, { version: 'x' });
    strictEqual(other.status, 409);
    match(other.text, /has changed since you opened/);
    const done = await visitor.press(page, `${path}/withdraw`, { version });
    strictEqual(done.url.pathname, path);
    match(done.text, /<h2 id="state">Withdrawn<\/h2>/);
    const again = await visitor.press(page, `${path}/withdraw`, { version });
    strictEqual(again.status, 409);
    match(again.text, /has ended/);
    match(
      (await visitor.go(`${site.baseUrl}/my-bots`)).text,
      /<details><summary>Decided or withdrawn[^]+Withdrawn/,
    );
    strictEqual(site.repo.git('show', `HEAD:${pagePath(homer)}`), original.trim());
  });

  it('is counted in the header from its answer until that was read', async () => {
    const { visitor, page } = await site.loggedIn(author, '/add');
    match(page.text, /href="\/my-bots"[^>]*>My bots \(3\)<\/a>/);
    const own = (await visitor.go(`${site.baseUrl}/my-bots`)).text;
    match(own, /Declined<\/span> <span class="tag">New<\/span>[^]*test it\?/);
    for (const path of ['/my-bots', '/add'])
      match((await visitor.go(site.baseUrl + path)).text, /href="\/my-bots"[^>]*>My bots<\/a>/);
  });

  it('shows the name of an author who has none with one press, which the reviewers see first', async () => {
    const { visitor, page } = await site.loggedIn(author, '/my-bots');
    match(page.text, /<h2>5 of your listings name no author\.<\/h2>/);
    const [, action = '', name = ''] =
      /<form class="notice" method="post" action="([^"]+)">.*?<input type="hidden" name="name" value="([^"]+)"\/><button>Show “\2”/.exec(
        page.text,
      ) ?? [];
    const sent = await visitor.press(page, action, { name });
    strictEqual(sent.url.pathname, `/proposals/profile-${author}`);
    match(sent.text, /<h2 id="state">Waiting for review<\/h2>/);
    const proposed = site.repo.git(
      'show',
      `refs/botshelf/proposals/profile-${author}/${author}:people/${author}.json`,
    );
    strictEqual(JSON.parse(proposed).name, `Person ${author}`);
    const { text } = await visitor.go(`${site.baseUrl}/my-bots`);
    doesNotMatch(text, /name no author/);
    match(text, /Author’s name · Sent/);
  });

  it('leads a maintainer from the header to what waits, as every page does', async () => {
    const { visitor, page } = await site.loggedIn(maintainer.id, `/bots/${homer}`);
    match(page.text, /<a href="\/review">Review \(2\)<\/a>/);
    for (const own of ['/my-bots', '/', '/add'])
      await eventually(async () => match((await visitor.go(`${site.baseUrl}${own}`)).text, /Review \(2\)/));
    doesNotMatch((await site.loggedIn(stranger, '/my-bots')).page.text, /\/review/);
  });
});
