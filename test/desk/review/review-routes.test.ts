import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import {
  formatOpenRef,
  formatStep,
  type ProposalStep,
  type SentProposal,
} from '../../../src/proposals/proposal.ts';
import { eventually } from '../../support/eventually.ts';
import {
  author,
  homer,
  logInAgain,
  type LoginSite,
  openLoginSite,
  stranger,
} from '../../support/login-site.ts';
import { commitUnreadable, importProposals, openProposals, sentStep } from '../../support/proposals.ts';
import type { TestRepository } from '../../support/repository.ts';
import { accountId, botId, mainPage, pagePath, profile, translation } from '../../support/sample.ts';
import { issueTestToken } from '../../support/token.ts';
import { type Page, versionIn, Visitor } from '../../support/visitor.ts';

const [maintainer, colleague] = ['42', '43'];
const homerPath = pagePath(homer);
const invite = 'https://discord.com/oauth2/authorize?client_id=7&scope=bot';
const settings = (more: object = {}): Readonly<Record<string, string>> => ({
  'botshelf.json': JSON.stringify({ maintainers: [maintainer, colleague], ...more }),
});

/** Sends proposals before the service starts: account → bot and pages. */
async function sendAll(repo: TestRepository, all: readonly Partial<SentProposal>[]): Promise<void> {
  const proposals = await openProposals(repo.folder);
  for (const [i, values] of all.entries()) {
    const proposer = { id: accountId(String(701 + i)), name: `Proposer ${701 + i}` };
    await proposals.send({ subject: botId(homer), proposer, note: '', pages: new Map(), ...values });
  }
}

/** Returns a proposal of a new bot. */
function newBot(id: string, keys: object = {}, text?: string): Partial<SentProposal> {
  return {
    subject: botId(id),
    pages: new Map([[pagePath(id), mainPage({ name: `Bot ${id}`, authors: ['701'], ...keys }, text)]]),
  };
}

/** Returns a proposal that changes Homer. */
function edit(keys: object, text?: string): Partial<SentProposal> {
  return { pages: new Map([[homerPath, mainPage({ authors: [author], ...keys }, text)]]) };
}

const reviewOf = (bot: string, account: number): string => `/review/${bot}/${account}`;

async function openSite(all: readonly Partial<SentProposal>[], more: object = {}): Promise<LoginSite> {
  return await openLoginSite({ files: settings(more), prepare: async (repo) => await sendAll(repo, all) });
}

describe('the review of proposals', () => {
  let site: LoginSite;
  const open = async (path: string, account = maintainer): Promise<{ visitor: Visitor; page: Page }> =>
    await site.loggedIn(account ?? '', path);
  const openLater = async (path: string): Promise<{ visitor: Visitor; page: Page }> =>
    await site.loggedInEarlier(maintainer, path);
  const press = async (
    { visitor, page }: { visitor: Visitor; page: Page },
    decision: string,
    fields: Readonly<Record<string, string>> = {},
  ): Promise<Page> =>
    await visitor.press(page, page.url.pathname, { version: versionIn(page), decision, ...fields });
  const refs = (): string =>
    site.repo.git('for-each-ref', '--format=%(refname)', 'refs/botshelf/proposals', 'refs/botshelf/closed');
  const isOpen = (bot: string, account: number): boolean =>
    refs().split('\n').includes(`refs/botshelf/proposals/${bot}/${account}`);
  /** Reports Homer. */
  const report = async (text = 'Asks for passwords'): Promise<void> => {
    const body = new URLSearchParams({ reason: 'scam', text });
    const headers = { 'sec-fetch-site': 'same-origin' };
    await fetch(`${site.service.address}/bots/${homer}/report`, { method: 'POST', headers, body });
  };
  /** Returns the path of the button that does something about the first report. */
  const pathIn = ({ text }: Page, act: string): string =>
    new RegExp(`action="(/review/reports/[^"]+/${act})"`).exec(text)?.[1] ?? '';

  describe('shows', () => {
    before(async () => {
      const all = [
        { ...newBot('1001', { invite: `${invite}&permissions=8` }), note: 'Try <b>/start</b>' },
        edit({ description: 'Answers all questions about doughnuts.', website: 'https://homer.example/' }),
        { pages: new Map([[pagePath(homer, 'de'), translation('Homer', 'Beantwortet Fragen.', 'Hallo!')]]) },
        {
          ...newBot(
            '1004',
            {
              name: '<i>Evil</i>\u202e',
              website: 'https://evil.example/"><script>',
              description: '<script>alert(1)</script>',
            },
            '<script>alert(2)</script>[x](javascript:alert(3)) ![p](https://evil.example/p.png) <img src="https://evil.example/q.png">',
          ),
          note: '<script>alert(4)</script>',
        },
        edit({ invite: 'https://discord.com/oauth2/authorize?client_id=43&scope=bot' }),
        newBot('1006', {
          name: 'Zebra',
          description: 'Draws stripes.',
          authors: ['706'],
          invite: 'https://example.org/add',
        }),
      ];
      const prepare = async (repo: TestRepository): Promise<void> => {
        await sendAll(repo, all);
        commitUnreadable(repo, botId('1005'), { id: accountId('709'), name: 'Proposer 709' });
      };
      const people = { [`people/${author}.json`]: profile() };
      site = await openLoginSite({ files: { ...settings(), ...people }, prepare });
    });

    it('what waits, riskiest first, with its kind, its account and what to look at, and each kind alone', async () => {
      const { page, visitor } = await open('/review');
      strictEqual(page.status, 200);
      strictEqual(page.headers.get('cache-control'), 'private, no-store');
      match(page.text, /<meta name="robots" content="noindex/);
      const toOrder = (text: string): unknown[] =>
        [...text.matchAll(/href="\/review\/(\d+)\/(\d+)"/g)].map(([, , account]) => account);
      const order = toOrder(page.text);
      deepStrictEqual(order, ['701', '705', '704', '706', '702', '703', '709']);
      const kinds = {
        new: ['701', '704', '706', '709'],
        edit: ['705', '702', '709'],
        translation: ['703', '709'],
      };
      for (const [kind, accounts] of Object.entries(kinds)) {
        const { text } = await visitor.go(`${site.baseUrl}/review?kind=${kind}`);
        deepStrictEqual(toOrder(text), accounts);
        match(text, new RegExp(`kind=${kind}" aria-current="true">[^<]+<small>${accounts.length}</small>`));
      }
      match(page.text, /New bot<\/small>[^]*?<bdi>Proposer 701<\/bdi>.*?First proposal[^]*?Administrator/);
      match(page.text, /Edit<\/small>[^]*?Description[^]*?Website[^]*?✓ Checks passed/);
      match(page.text, /Translation: <bdi>German<\/bdi>[^]*?Beantwortet Fragen\./);
      match(
        page.text,
        /review\/\d+\/705"[^]*?<span class="tag warning">Link adds another bot<[^]*?\/706"[^]*?>Not known for this link\.</,
      );
      match(page.text, /Review \(7\)[^]*Waiting for review <small>7<\/small>[^]*Reports <small>0<\/small>/);
      for (const [tab, shown] of Object.entries({
        reports: /There are no reports/,
        attention: /Nothing needs attention/,
        decided: /Nothing was decided/,
      }))
        match((await visitor.go(`${site.baseUrl}/review?tab=${tab}`)).text, shown);
    });

    it('one that cannot be read as a row that says so, and its page the reason', async () => {
      const { page } = await open('/review');
      site.service.expectLog(/777 is missing or cannot be read/);
      match(page.text, /<bdi>1005<\/bdi><\/a>[^]*cannot be read[^]*<bdi>Proposer 709<\/bdi>/);
      strictEqual((await open(reviewOf('1005', 709))).page.status, 503);
    });

    it('the changes word by word, both pages, the links, the note, the permissions and the buttons', async () => {
      const { page, visitor } = await open(reviewOf(homer, 702));
      match(page.text, /Answers <span[^>]*>Added: <\/span><ins>all <\/ins>questions/);
      match(page.text, /As it is[^]*by <bdi>Ada<[^]*As proposed[^]*by <bdi>Ada</);
      match(
        page.text,
        /As it is[^]*<dl class="ingredients brief">[^]*As proposed[^]*<dl class="ingredients brief">/,
      );
      match(
        page.text,
        /href="https:\/\/homer.example\/" target="_blank" rel="noopener noreferrer nofollow ugc"/,
      );
      match(page.text, /No errors and no warnings/);
      match(page.text, /rel="prev"[^]*rel="next"/);
      match(page.text, /<option value="duplicate">/);
      match(page.text, /What changes[^]*Your decision[^]*So far/);
      doesNotMatch(page.text, /disabled/);
      const { text: newBotPage } = await visitor.go(site.baseUrl + reviewOf('1001', 701));
      match(
        newBotPage,
        /Asks for full control of your server[^]*<span[^>]*>Added: <\/span><ins class="harm">Administrator<\/ins>/,
      );
      match(newBotPage, /Try &lt;b>\/start/);
      const { text: added } = await visitor.go(site.baseUrl + reviewOf(homer, 703));
      match(added, /<h3>German<\/h3>[^]*Beantwortet Fragen\./);
      doesNotMatch(added, /As it is/);
      match(added, /Hallo!/);
    });

    it('hostile texts escaped or cleaned, and no image of a stranger', async () => {
      for (const path of ['/review', reviewOf('1004', 704)]) {
        const { page } = await open(path);
        doesNotMatch(page.text, /<script>|<i>Evil|\u202e|"javascript:|src="https:|onerror=/);
        match(page.text, /&lt;i>Evil/);
      }
    });

    it('nothing to visitors and other accounts, whatever they do', async () => {
      const paths = ['/review', reviewOf(homer, 702)];
      for (const path of paths) {
        const response = await fetch(site.service.address + path, { redirect: 'manual' });
        strictEqual(response.status, 303);
        strictEqual(response.headers.get('location'), `/login?to=${encodeURIComponent(path)}`);
        const { page } = await open(path, stranger);
        strictEqual(page.status, 403);
        match(page.text, /Only maintainers can review/);
        doesNotMatch(page.text, /Proposer 70/);
      }
      const { visitor, page } = await open('/review', stranger);
      const fields = { version: 'x', decision: 'accepted' };
      strictEqual((await visitor.press(page, reviewOf(homer, 702), fields)).status, 403);
      strictEqual((await visitor.press(page, '/review/reports/1/done')).status, 403);
      const asked = await new Visitor().press(page, reviewOf(homer, 702), fields);
      match(asked.text, /reviewing needs a login of the last hour/);
      doesNotMatch(asked.text, /Proposer 70/);
      ok(isOpen(homer, 702));
      const robots = await fetch(`${site.service.address}/robots.txt`);
      match(await robots.text(), /Disallow: \/review\n/);
    });

    it('the reports of visitors, each of which a maintainer removes', async () => {
      await report('Asks for passwords <img src=x onerror=alert(1)>');
      const { visitor, page } = await open('/review?tab=reports');
      match(
        page.text,
        /Review \(8\)[^]*Reports <small>1<\/small>[^]*Scam or spam · <time [^>]*>this minute</,
      );
      match(page.text, /<p class="typed" dir="auto">Asks for passwords &lt;img src=x onerror=alert\(1\)></);
      const path = pathIn(page, 'done');
      const evil = { ...page, url: new URL('https://evil.example/review') };
      strictEqual((await visitor.press(evil, site.baseUrl + path)).status, 403);
      match((await open('/review?tab=reports')).page.text, /Asks for passwords/);
      const later = await openLater('/review?tab=reports');
      const asked = await later.visitor.press(later.page, path);
      match((await logInAgain(later.visitor, asked, maintainer)).text, /Asks for passwords/);
      match((await visitor.press(page, path)).text, /Review \(7\)[^]*There are no reports/);
    });

    it('what a report leads to: the mark for adults, or the removal of the bot, its token and its reports', async () => {
      await issueTestToken(site.repo.folder, homer);
      await report();
      const later = await openLater('/review?tab=reports');
      match(
        (await later.visitor.press(later.page, pathIn(later.page, 'remove'))).text,
        /login of the last hour/,
      );
      const { visitor, page } = await open('/review?tab=reports');
      match(page.text, new RegExp(`href="/bots/${homer}"[^]*href="/bots/${homer}/edit"[^]*Remove Homer<`));
      strictEqual((await visitor.press(page, pathIn(page, 'done').replace('done', 'x'))).status, 404);
      const other = await open('/review', stranger);
      strictEqual((await other.visitor.press(other.page, pathIn(page, 'remove'))).status, 403);
      match((await visitor.press(page, pathIn(page, 'adult'))).text, /There are no reports/);
      const message = site.repo.git('log', '-1', '--format=%B', 'main');
      match(
        message,
        /^Update Homer \(\d+\): nsfw\n\nReported by a visitor \(scam\)\n\nBot: \d+\nChanged-by: Person 42\nReviewed-by: 42$/,
      );
      match(site.repo.git('show', `main:${homerPath}`), /"nsfw": ?true/);
      await report();
      await report();
      const again = await visitor.go(`${site.baseUrl}/review?tab=reports`);
      strictEqual(pathIn(again, 'adult'), '');
      match((await visitor.press(again, pathIn(again, 'remove'))).text, /There are no reports/);
      strictEqual(site.repo.git('ls-tree', 'main', homerPath), '');
      match(site.repo.git('log', '-1', '--format=%s', 'main'), /^Remove Homer/);
      match(site.repo.git('log', '-1', '--format=%s', 'refs/botshelf/state'), /Revoke the token of/);
      strictEqual((await visitor.go(`${site.baseUrl}/bots/${homer}`)).status, 410);
    });

    it('why a faulty bot cannot be marked, and no mark of a bot that was removed meanwhile', async () => {
      site.repo.commit({ [homerPath]: mainPage({ authors: [author], name: 'Homer\u202e' }) });
      const statusOf = async (): Promise<number> =>
        (await fetch(`${site.service.address}/bots/${homer}`, { headers: { accept: 'text/html' } })).status;
      await eventually(async () => (await statusOf()) === 200);
      await report();
      const { visitor, page } = await open('/review?tab=reports');
      match(page.text, /<h2><a [^>]*><bdi>Homer<\/bdi>[^]*Remove Homer</);
      const path = pathIn(page, 'adult');
      site.repo.commit({ [homerPath]: '---\n{ "name": 3 }\n---\n' });
      const refused = await visitor.press(page, path);
      strictEqual(refused.status, 409);
      match(refused.text, new RegExp(`>${homerPath} is faulty`));
      site.repo.git('rm', '-q', homerPath);
      site.repo.git('commit', '-qm', 'Remove');
      await eventually(async () =>
        match((await visitor.go(page.url)).text, new RegExp(`<h2><a [^>]*><bdi>${homer}</bdi>`)),
      );
      match((await visitor.press(page, path)).text, /There are no reports/);
      strictEqual(site.repo.git('ls-tree', 'main', homerPath), '');
    });

    it('404 for what there is not', async () => {
      const { visitor } = await open('/review');
      for (const path of ['/review/1/1', '/review/x/701', '/review?page=2', '/review?page=x'])
        strictEqual((await visitor.go(site.baseUrl + path)).status, 404, path);
    });
  });

  describe('decides', () => {
    before(async () => {
      site = await openSite([
        newBot('1001'),
        edit({ website: 'https://homer.example/' }),
        newBot('1003'),
        newBot('1004'),
        edit({ name: 'Max Power' }),
        newBot('1006'),
        newBot('1007'),
        newBot('1008'),
      ]);
    });

    it('accepts: a commit with both people, and then shows the next one @slow', async () => {
      const next = await press(await open(reviewOf('1001', 701)), 'accepted');
      strictEqual(next.url.pathname, reviewOf(homer, 702));
      match(next.text, /<bdi>Bot 1001<\/bdi>[^]*<bdi>Person 42<\/bdi> accepted it/);
      const body = site.repo.git('log', '-1', '--format=%B', 'main');
      match(body, /^Add Bot 1001 \(1001\)\n\n.*Proposed-by: 701\nReviewed-by: 42$/s);
      ok(!isOpen('1001', 701));
      match(refs(), /refs\/botshelf\/closed\/1001\/701\//);
      const { visitor } = await open('/review');
      const page = await visitor.go(`${site.baseUrl}/review?done=1001/701&shared=no`);
      match(
        page.text,
        /href="\/review\/1001\/701"[^]*accepted it[^]*The shared Git server cannot be reached/,
      );
      doesNotMatch(page.text, /taken-back/);
      const { text } = await visitor.go(`${site.baseUrl}${reviewOf('1001', 701)}`);
      const commit = site.repo.git('rev-parse', 'main');
      match(text, new RegExp(`/bots/1001/edit[^]*git revert ${commit}[^]*botshelf bots 1001 --remove`));
    });

    it('says that no proposal of a kind waits', async () => {
      const { text } = (await open('/review?kind=translation')).page;
      match(text, /kind=new">[^<]+<small>\d<\/small>[^]*Nothing waits for a review/);
      doesNotMatch(text, /<table/);
    });

    it('tells a second maintainer who was first, and how @slow', async () => {
      const second = await open(reviewOf(homer, 702), colleague);
      await press(await open(reviewOf(homer, 702)), 'accepted');
      const told = await press(second, 'declined', { reason: 'rules' });
      strictEqual(told.status, 409);
      match(told.text, /This proposal is closed[^]*<bdi>Person 42<\/bdi> accepted it/);
      strictEqual((await second.visitor.go(second.page.url)).status, 200);
    });

    it('asks for changes: the words are in the ref, and the proposal among the decided ones', async () => {
      await press(await open(reviewOf('1003', 703)), 'changes-asked', { text: 'Which\r\nserver?' });
      const body = site.repo.git('log', '-1', '--format=%B', 'refs/botshelf/proposals/1003/703');
      match(body, /\n\nWhich\nserver\?\n\n.*State: changes-asked/s);
      const { page } = await open('/review?tab=decided');
      match(page.text, /<bdi>Bot 1003<\/bdi><\/a>[^]*asked for changes[^]*Which\nserver\?/);
      match((await open(reviewOf('1003', 703))).page.text, /<bdi>Person 42<\/bdi> asked for changes/);
    });

    it('shows the new version where it has changed since, and keeps the words', async () => {
      const second = await open(reviewOf('1004', 704), colleague);
      await press(await open(reviewOf('1004', 704)), 'changes-asked', { text: 'Which server?' });
      const told = await press(second, 'changes-asked', { text: 'My words.' });
      strictEqual(told.status, 409);
      match(
        told.text,
        /<bdi>Person 42<\/bdi> asked for changes while you were reading[^]*My words\.<\/textarea>[^]*Which server\?/,
      );
      doesNotMatch(told.text, /has changed since you opened/);
      ok(versionIn(told) !== versionIn(second.page));
      strictEqual(
        (await press({ ...second, page: { ...told, url: second.page.url } }, 'accepted')).status,
        200,
      );
      const { text } = (await open('/add')).page;
      match(text, /Fill in the form and send it\./);
      doesNotMatch(text, /A reviewer usually answers/, 'of one decision');
      doesNotMatch(text, /markdown file|pull request/i);
      ok(!isOpen('1004', 704));
    });

    it('accepts nothing that conflicts, and names the field @slow', async () => {
      const opened = await open(reviewOf(homer, 705));
      site.repo.commit({ [homerPath]: mainPage({ authors: [author], name: 'Homer J.' }) });
      const told = await press(opened, 'accepted');
      strictEqual(told.status, 409);
      match(told.text, /Nothing was decided/);
      match(told.text, /<button[^>]*disabled[^>]*>Accept/);
      match(told.text, /the catalogue has changed since in Name/);
      ok(isOpen(homer, 705));
      match((await open('/review')).page.text, /Conflict/);
    });

    it('declines with a reason of the list', async () => {
      const opened = await open(reviewOf('1006', 706));
      for (const reason of ['', 'I do not like it']) {
        const told = await press(opened, 'declined', { reason, text: 'Kept.' });
        strictEqual(told.status, 422);
        match(told.text, /choose a reason[^]*Kept\.<\/textarea>/);
      }
      strictEqual((await press(opened, 'declined', { reason: 'other', text: ' ' })).status, 422);
      const refusal = { reason: 'duplicate', text: 'See Homer.' };
      const told = await press(opened, 'declined', refusal);
      match(told.text, /declined it[^]*value="taken-back">Take back/);
      const fields = { version: versionIn(told), decision: 'taken-back' };
      const second = await open('/review?done=1006/706', colleague);
      doesNotMatch(second.page.text, /taken-back/);
      const refused = await second.visitor.press(second.page, reviewOf('1006', 706), fields);
      strictEqual(refused.status, 409);
      match(refused.text, /The decision was not taken back/);
      const later = await openLater('/review');
      const asked = await later.visitor.press(later.page, reviewOf('1006', 706), fields);
      match(
        (await logInAgain(later.visitor, asked, maintainer)).text,
        /declined it[^]*value="taken-back">Take back/,
      );
      const again = await opened.visitor.press(told, reviewOf('1006', 706), fields);
      match(again.text, /took the decision back/);
      ok(isOpen('1006', 706));
      await press({ ...opened, page: again }, 'declined', refusal);
      const [ref] = refs().match(/refs\/botshelf\/closed\/1006\/706\/\d+/) ?? [''];
      match(
        site.repo.git('log', '-1', '--format=%B', ref),
        /See Homer\.\n\n.*Reviewed-by: 42 Person 42\nReason: duplicate/s,
      );
      match((await open(reviewOf('1006', 706))).page.text, /is listed already/);
    });

    it('needs words to ask for changes, and few enough', async () => {
      const opened = await open(reviewOf('1007', 707));
      for (const text of ['', '  \r\n', 'x'.repeat(1001)]) {
        const told = await press(opened, 'changes-asked', { text });
        strictEqual(told.status, 422);
        match(told.text, /write a message of up to 1,000 characters/);
      }
      strictEqual((await press(opened, 'changes-asked', { text: `${'x'.repeat(998)}\r\ny` })).status, 200);
    });

    for (const [decision, reason, text] of [
      ['accepted', '', ''],
      ['changes-asked', '', 'Which\nserver, <b>please</b>?'],
      ['declined', 'duplicate', 'See Homer.'],
    ] as const)
      for (const isLoggedIn of [true, false])
        it(`asks for a login of the last hour, and keeps what was typed: ${decision}, ${isLoggedIn}`, async () => {
          const path = reviewOf('1008', 708);
          const { visitor, page } = await openLater(path);
          const version = versionIn(page);
          if (!isLoggedIn) visitor.cookies.clear();
          const typed = { version, decision, reason, text: text.replaceAll('\n', '\r\n') };
          const kept = await logInAgain(visitor, await visitor.press(page, path, typed), maintainer);
          ok(isOpen('1008', 708));
          strictEqual(kept.url.pathname, path);
          match(kept.text, /You are logged in\. Nothing has been decided yet/);
          strictEqual(versionIn(kept), version);
          deepStrictEqual(
            [...kept.text.matchAll(/<details class="([^"]*)"[^>]* open/g)].map(([, name]) => name),
            decision === 'accepted' ? [] : [decision],
          );
          ok(kept.text.includes(`>${text.replaceAll('<', '&lt;')}</textarea>`));
          strictEqual(/<option value="(\w+)" selected/.exec(kept.text)?.[1] ?? '', reason);
          const again = `${site.baseUrl}${path}?draft=x`;
          match((await visitor.go(again)).text, /is no longer here/);
          const other = kept.url.href.replace(path, reviewOf('1003', 703));
          match((await visitor.go(other)).text, /asked for changes/);
        });

    it('shows what was typed with the version that was sent meanwhile', async () => {
      const path = reviewOf('1008', 708);
      const { visitor, page } = await openLater(path);
      const typed = { version: 'x', decision: 'declined', reason: 'rules', text: 'My words.' };
      const kept = await logInAgain(visitor, await visitor.press(page, path, typed), maintainer);
      match(kept.text, /the proposal has changed since you opened[^]*My words\.<\/textarea>/);
    });

    it('takes nothing from another site, by a link, or without a decision', async () => {
      const opened = await open(reviewOf('1008', 708));
      const evil = { ...opened.page, url: new URL(`https://evil.example${reviewOf('1008', 708)}`) };
      const fields = { version: versionIn(opened.page), decision: 'accepted' };
      const address = site.baseUrl + reviewOf('1008', 708);
      strictEqual((await opened.visitor.press(evil, address, fields)).status, 403);
      strictEqual((await press(opened, 'withdrawn')).status, 400);
      ok(isOpen('1008', 708));
    });

    it('refuses a maintainer who was removed, although the page is open', async () => {
      const opened = await open(reviewOf('1008', 708), colleague);
      site.repo.commit({ 'botshelf.json': JSON.stringify({ maintainers: [maintainer] }) });
      const told = await press(opened, 'accepted');
      strictEqual(told.status, 403);
      match(told.text, /Only maintainers can review/);
      ok(isOpen('1008', 708));
    });
  });

  it('declines one that cannot be read, from its row, once @slow', async () => {
    const proposer = { id: accountId('709'), name: 'Proposer 709' };
    site = await openLoginSite({
      files: settings(),
      prepare: async (repo) => commitUnreadable(repo, botId('1009'), proposer),
    });
    const { visitor, page } = await open('/review');
    const path = reviewOf('1009', 709);
    const fields = { version: versionIn(page), decision: 'declined', reason: 'rules' };
    const evil = { ...page, url: new URL('https://evil.example/review') };
    strictEqual((await visitor.press(evil, site.baseUrl + path, fields)).status, 403);
    const other = await open('/review', stranger);
    strictEqual((await other.visitor.press(other.page, path, fields)).status, 403);
    ok(isOpen('1009', 709));
    const told = await visitor.press(page, path, fields);
    match(told.text, /<bdi>1009<\/bdi>[^]*<bdi>Person 42<\/bdi> declined it/);
    doesNotMatch(told.text, /cannot be read/);
    strictEqual((await visitor.press(page, path, fields)).status, 409);
    match(refs(), /^refs\/botshelf\/closed\/1009\/709\/\d+$/);
    const [parent, ...body] = site.repo.git('log', '-1', '--format=%P%n%B', refs()).split('\n');
    strictEqual(parent, fields.version);
    match(body.join('\n'), /State: declined\n.*Reviewed-by: 42 Person 42\nReason: rules/s);
  });

  it('has fifty on a page @slow', async () => {
    const proposals = Array.from({ length: 52 }, (_, i): [string, ProposalStep[]] => {
      const proposer = { id: accountId(String(701 + i)), name: `Proposer ${701 + i}` };
      const step = { ...sentStep, subject: botId(String(2001 + i)), proposer, sentAt: sentStep.sentAt + i };
      return [formatOpenRef(step.subject, proposer.id), [step]];
    });
    site = await openLoginSite({
      files: settings(),
      prepare: async ({ folder }) => importProposals(folder, new Map(proposals)),
    });
    const { visitor, page } = await open('/review');
    strictEqual([...page.text.matchAll(/href="\/review\/\d+\/\d+"/g)].length, 50);
    const second = await visitor.go(`${site.baseUrl}/review?page=2`);
    const accounts = [...second.text.matchAll(/href="\/review\/\d+\/(\d+)"/g)].map(([, account]) => account);
    deepStrictEqual(accounts, ['751', '752']);
  });

  it('accepts nothing that breaks a rule, and says which, up to fifty times @slow', async () => {
    const pages = new Map(newBot('1001').pages);
    for (const letter of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')
      for (const language of ['de', 'it'])
        pages.set(pagePath('1001', `${language}-X${letter}`), translation('Bot 1001', 'Answers.', ''));
    site = await openSite([{ subject: botId('1001'), pages }]);
    site.service.expectLog(/the pages of this catalogue are in fr/);
    site.repo.commit(settings({ languages: ['fr'], proposals: { reasons: ['Not <b>here</b>'] } }));
    const opened = await open(reviewOf('1001', 701));
    match(
      opened.page.text,
      /it has errors[^]*the pages of this catalogue are in fr|the pages of this catalogue are in fr[^]*it has errors/,
    );
    match(opened.page.text, /53 errors/);
    strictEqual(opened.page.text.match(/<li><code>bots/g)?.length, 50);
    const told = await press(opened, 'accepted');
    strictEqual(told.status, 409);
    await eventually(async () => {
      match((await open(reviewOf('1001', 701))).page.text, /<option value="Not &lt;b>here/);
    });
    ok(isOpen('1001', 701));
  });

  it('has a page without an error for each profile and collection that was pushed, and none for the profile of another account', async () => {
    const texts = ['', 'null', '[1]', '7', '{"name": {"name": []}, "website": [null]}', '{"name": "Ned"}'];
    const pushed = [...texts, 'another'].flatMap((text, i) => {
      const account = text === 'another' ? 7 : 11 + i;
      const page = `---json\n${text}\n---\n`;
      return [
        { account, subject: `profile-${11 + i}`, path: `people/${11 + i}.json`, text },
        { account, subject: 'collection-fun', path: 'collections/fun.en.md', text: page },
      ] as const;
    });
    site = await openLoginSite({
      files: settings(),
      prepare: async (repo) => {
        for (const { account, subject, path, text } of pushed) {
          const proposer = { id: accountId(String(account)), name: 'Ned' };
          const message = formatStep({ ...sentStep, subject, proposer });
          const commit = repo.commitOn(null, { files: { [path]: text }, message });
          repo.git('update-ref', formatOpenRef(subject, proposer.id), commit);
        }
        await Promise.resolve();
      },
    });
    const { visitor, page } = await open('/review');
    strictEqual(page.status, 200);
    for (const { account, subject } of pushed) {
      const { status } = await visitor.go(site.baseUrl + reviewOf(subject, account));
      strictEqual(status, subject === 'profile-17' ? 404 : 200, `${subject} ${account}`);
    }
  });
});
