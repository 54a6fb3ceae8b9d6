import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { readCases, unquote } from '../../support/fixture-lines.ts';
import { eventually } from '../../support/eventually.ts';
import { readFormFields } from '../../support/form-fields.ts';
import { author, homer, type LoginSite, openLoginSite, stranger } from '../../support/login-site.ts';
import { maintainer } from '../../support/proposals.ts';
import { mainPage, pagePath, translation } from '../../support/sample.ts';
import { startTestService } from '../../support/service.ts';
import { issueTestToken } from '../../support/token.ts';
import { versionIn } from '../../support/visitor.ts';

const ownPath = `/proposals/${homer}/bot`;

/** A page as a repository sends it. */
function sentPage(keys: object, page: string): string {
  return `---\n${JSON.stringify(keys)}\n---\n\n${page}\n`;
}

interface Answer {
  readonly status: number;
  readonly location: string | null;
  // oxlint-disable-next-line typescript/no-explicit-any -- answers and problems
  readonly json: any;
}

describe('the page that a bot sends from its own repository', () => {
  let site: LoginSite;
  let token: string;

  async function open(settings: object = {}, files: Readonly<Record<string, string>> = {}): Promise<void> {
    site = await openLoginSite({
      files: {
        'botshelf.json': JSON.stringify({
          maintainers: [maintainer.id],
          languages: ['en', 'de'],
          ...settings,
        }),
        ...files,
      },
    });
    token = await issueTestToken(site.repo.folder, homer);
  }

  async function put(body: string, locale = 'en'): Promise<Answer> {
    const response = await fetch(`${site.baseUrl}/api/v2/bots/${homer}/pages/${locale}`, {
      method: 'PUT',
      headers: { Authorization: token, 'Content-Type': 'text/markdown' },
      body,
    });
    const { status } = response;
    return { status, location: response.headers.get('location'), json: await response.json() };
  }

  const listRefs = (kind = 'proposals'): string[] =>
    site.repo.git('for-each-ref', '--format=%(refname)', `refs/botshelf/${kind}`).split('\n').filter(Boolean);
  const fileAt = (commit: string, locale = 'en'): string =>
    site.repo.git('show', `${commit}:${pagePath(homer, locale)}`);
  const openRef = `refs/botshelf/proposals/${homer}/${homer}`;

  describe('of a list that reviews it', () => {
    before(async () => await open());

    it('becomes one proposal of the bot, which a later page replaces and the same page does not', async () => {
      const waiting = { proposal: site.baseUrl + ownPath, state: 'waiting' };
      const first = await put(sentPage({ description: 'Knows doughnuts.' }, '# Homer\n\nFrom the README.'));
      deepStrictEqual(first, { status: 202, location: waiting.proposal, json: waiting });
      deepStrictEqual(listRefs(), [openRef]);
      const version = site.repo.git('rev-parse', openRef);
      deepStrictEqual(await put(sentPage({}, '\n# Homer\r\n\r\nFrom the README.')), {
        ...first,
        json: waiting,
      });
      const kept = await put(sentPage({ description: 'Knows doughnuts.' }, '# Homer\n\nFrom the README.'));
      deepStrictEqual(kept.json, waiting);
      ok(site.repo.git('rev-list', openRef).includes(version));

      deepStrictEqual((await put('# Homer\n\nThe second text.')).json, waiting);
      deepStrictEqual(listRefs(), [openRef]);
      const page = mainPage({ authors: [author] }, '# Homer\n\nThe second text.\n');
      strictEqual(fileAt(openRef), page.trimEnd());
      const now = site.repo.git('rev-parse', openRef);
      deepStrictEqual((await put('# Homer\n\nThe second text.')).json, waiting);
      strictEqual(site.repo.git('rev-parse', openRef), now);
    });

    it('is shown to its authors and its reviewers as sent by the bot itself, and to nobody else', async () => {
      const { page: own, visitor } = await site.loggedIn(author, ownPath);
      match(own.text, /<h2 id="state">Waiting for review<\/h2><p>Sent by the bot itself<\/p>/);
      match(own.text, /The second text/);
      const desk = await visitor.go(`${site.baseUrl}/my-bots`);
      match(desk.text, new RegExp(`href="${ownPath}"[^]*?Edit · Sent by the bot itself · Sent`));
      strictEqual((await site.loggedIn(stranger, ownPath)).page.status, 404);
      strictEqual((await visitor.go(`${site.baseUrl}/proposals/${homer}`)).status, 404);

      const { page: queue, visitor: reviewer } = await site.loggedIn(maintainer.id, '/review');
      match(queue.text, /<bdi>Homer<\/bdi>\s*<small>Sent by the bot itself<\/small><\/td>/);
      const review = await reviewer.go(`${site.baseUrl}/review/${homer}/${homer}`);
      match(review.text, /<p>Sent by [^]{0,40}Homer[^]{0,60} Sent by the bot itself<\/p>/);
      doesNotMatch(review.text, /First proposal/);
    });

    it('that is returned is answered by a form of its author, who takes it over', async () => {
      const { page, visitor: reviewer } = await site.loggedIn(maintainer.id, `/review/${homer}/${homer}`);
      const fields = { version: versionIn(page), decision: 'changes-asked', text: 'Which doughnuts?' };
      await reviewer.press(page, page.url.pathname, fields);
      strictEqual((await put('# Homer\n\nThe second text.')).json.state, 'changes-asked');
      const { page: asked, visitor } = await site.loggedIn(author, '/my-bots');
      match(asked.text, /1 needs your answer/);
      const own = await visitor.go(site.baseUrl + ownPath);
      match(own.text, /Which doughnuts\?/);
      const [, path = ''] = /href="([^"]*)"[^>]*>Edit again/.exec(own.text) ?? [];
      const form = await visitor.go(site.baseUrl + path.replaceAll('&amp;', '&'));
      match(form.text, /<h2 id="answer">Changes asked for<\/h2>[^]*Which doughnuts/);
      const texts = readFormFields(form.text);
      match(texts['page'] ?? '', /The second text/);
      const [, action = ''] = /formaction="([^"]*\/send[^"]*)"/.exec(form.text) ?? [];
      const answer = { ...texts, page: '# Homer\n\nThe round ones.', note: 'These.' };
      const sent = await visitor.press(form, action.replaceAll('&amp;', '&'), answer);
      strictEqual(sent.url.pathname, `/proposals/${homer}`);
      deepStrictEqual(listRefs(), [`refs/botshelf/proposals/${homer}/${author}`]);
      const ended = await visitor.go(site.baseUrl + ownPath);
      match(ended.text, new RegExp(`<bdi>?Person ${author}|Person ${author}`));
      deepStrictEqual(await put('# Homer\n\nThe second text.'), {
        status: 200,
        location: null,
        json: { proposal: site.baseUrl + ownPath, state: 'withdrawn' },
      });
    });

    it('is withdrawn by its author, and by a page without changes', async () => {
      strictEqual((await put('# Homer\n\nA third text.')).status, 202);
      const { page, visitor } = await site.loggedIn(author, ownPath);
      const gone = await visitor.press(page, `${ownPath}/withdraw`, { version: versionIn(page) });
      strictEqual(gone.url.pathname, ownPath);
      match(gone.text, /Withdrawn/);
      strictEqual((await put('# Homer\n\nA third text.')).json.state, 'withdrawn');

      strictEqual((await put('# Homer\n\nA fourth text.')).status, 202);
      strictEqual((await put('# Homer\n\nThe page.')).json.state, 'withdrawn');
      deepStrictEqual((await put('# Homer\n\nThe page.')).json, { proposal: null, state: 'unchanged' });
      strictEqual((await put('# Homer\n\nA fourth text.')).json.state, 'waiting');
      const strangers = await site.loggedIn(stranger, '/');
      const refused = await strangers.visitor.press(strangers.page, `${ownPath}/withdraw`, { version: 'x' });
      strictEqual(refused.status, 404);
    });

    it('is published when a reviewer accepts it, with the bot as its proposer', async () => {
      const { page, visitor: reviewer } = await site.loggedIn(maintainer.id, `/review/${homer}/${homer}`);
      await reviewer.press(page, page.url.pathname, { version: versionIn(page), decision: 'accepted' });
      match(fileAt('main'), /"name": "Homer"[^]*A fourth text\.$/);
      match(
        site.repo.git('log', '-1', '--format=%B', 'main'),
        new RegExp(`: page\n[^]*Proposed-by: ${homer}\nReviewed-by: ${maintainer.id}`),
      );
      const again = await put('# Homer\n\nA fourth text.');
      deepStrictEqual([again.status, again.json.state], [200, 'unchanged']);
    });

    it('in a new language is a translation with the name of the bot', async () => {
      const missing = await put('Der Text.', 'de');
      deepStrictEqual([missing.status, missing.json.errors?.[0].pointer], [422, '#']);
      match(missing.json.detail, /description/);
      const body = sentPage({ description: 'Kennt Krapfen.' }, 'Der Text.');
      strictEqual((await put(body, 'DE')).status, 202);
      strictEqual(fileAt(openRef, 'de'), translation('Homer', 'Kennt Krapfen.', 'Der Text.'));
      const foreign = await put(body, 'fr');
      strictEqual(foreign.status, 422);
      match(foreign.json.detail, /the pages of this catalogue are in en, de, not in fr/);
    });

    it('is refused with the places of all faults', async () => {
      const version = site.repo.git('rev-parse', openRef);
      const keys = Array.from({ length: 501 }, (_, i) => `"${i}":1`);
      const long = {
        input: sentPage({ description: 7 }, 'x'.repeat(20_001)),
        expected: ['#/description', '#/page'],
      };
      const many = { input: `---\n{${keys.join()}}\n---\n`, expected: ['#'] };
      for (const { input, expected } of [...readCases('sent-page-faults'), long, many]) {
        const { status, json } = await put(unquote(input));
        const errors = json.errors as Readonly<Record<'pointer' | 'detail', string>>[];
        strictEqual(status, 422);
        for (const [i, { pointer, detail }] of errors.entries())
          ok(`${pointer} ${detail}`.startsWith(expected[i] ?? 'no more'), `${pointer} ${detail}`);
      }
      strictEqual(site.repo.git('rev-parse', openRef), version);
    });

    it('is taken ten times in 24 hours', async () => {
      let answer = await put('# Homer\n\nMore text.');
      for (let i = 0; i < 10 && answer.status === 202; i++) answer = await put(`# Homer\n\nMore text ${i}.`);
      strictEqual(answer.status, 429);
      match(answer.json.detail, /as it can in 24 hours/);
      const sent = [openRef, ...listRefs('closed').filter((ref) => ref.includes(`${homer}/${homer}/`))];
      const messages = site.repo.git('log', '--format=%s', '--grep=^State: waiting', ...sent).split('\n');
      strictEqual(messages.filter((title) => title.startsWith('Propose')).length, 10);
    });
  });

  it('is published without a review where the settings say so', async () => {
    await open({ proposals: { token: 'publish' } });
    const first = await put(sentPage({ description: 'Knows doughnuts.' }, '# Homer\n\nFrom the README.'));
    deepStrictEqual(first, {
      status: 200,
      location: null,
      json: { proposal: site.baseUrl + ownPath, state: 'published' },
    });
    match(fileAt('main'), /"description": "Knows doughnuts\."[^]*From the README\.$/);
    deepStrictEqual(listRefs(), []);
    const served = await site.service.request(`/api/v2/bots/${homer}`);
    strictEqual(served.json.contents.en.page, '# Homer\n\nFrom the README.');
    strictEqual((await put('# Homer\n\nFrom the README.')).json.state, 'unchanged');
  });

  for (const [what, settings, blocked] of [
    ['takes no pages from bots', { proposals: { token: 'off' } }, {}],
    ['takes no pages from bots', { maintainers: [] }, {}],
    ['takes nothing from the bot', {}, { bots: { [homer]: {} } }],
    ['takes nothing from the bot', {}, { accounts: { [author]: {} } }],
  ] as const)
    it(`is refused by a list that ${what}: ${JSON.stringify([settings, blocked])}`, async () => {
      await open(settings, { 'blocked.json': JSON.stringify(blocked) });
      const { status, json } = await put('Text.');
      deepStrictEqual([status, json.type], [403, 'urn:botshelf:problem:proposal-refused']);
      match(json.detail, new RegExp(what));
      deepStrictEqual(listRefs(), []);
    });

  it('of a removed bot is refused', async () => {
    await open();
    site.repo.git('rm', '-q', pagePath(homer));
    site.repo.git('commit', '-q', '-m', 'Remove Homer');
    await eventually(async () => strictEqual((await put('Text.')).status, 404));
  });

  it('is refused by a list that nobody can log in to', async () => {
    const service = await startTestService({ [pagePath('7')]: mainPage() });
    const Authorization = await issueTestToken(service.root, '7');
    const headers = { Authorization, 'Content-Type': 'text/markdown' };
    const answer = await service.request('/api/v2/bots/7/pages/en', {
      method: 'PUT',
      headers,
      body: 'Text.',
    });
    deepStrictEqual([answer.status, answer.json.type], [403, 'urn:botshelf:problem:proposal-refused']);
  });
});
