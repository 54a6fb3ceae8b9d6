import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { author, type LoginSite, openLoginSite, stranger } from '../../support/login-site.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { writeFiles } from '../../support/temp-folder.ts';
import { commitCounts } from '../../support/counts.ts';
import { childrenOf, parseXml, textsOf } from '../../support/xml.ts';

const weekMs = 7 * 86_400_000;
const path = `/authors/${author}/attention.atom`;
/** Looks like a token, in a place where tokens do not belong. */
const token = `bsh_${'a1'.repeat(24)}b`;

describe('what needs the attention of an author', () => {
  let site: LoginSite;
  const countedAt = Math.floor(Date.now() / 1000) - 8 * 86_400;

  before(async () => {
    const page = (id: string, keys: Readonly<Record<string, unknown>> = {}): [string, string] => [
      pagePath(id),
      mainPage({ name: `Bot ${id}`, authors: [author], ...keys }),
    ];
    const images = { avatar: `https://127.0.0.1/${token}`, cover: null, preview: [] };
    site = await openLoginSite({
      bots: [],
      files: Object.fromEntries([
        page('1'),
        page('2', { images }),
        page('3'),
        page('4'),
        page('5', { authors: [stranger] }),
      ]),
      env: { BOTSHELF_IMAGES: 'on' },
      prepare: async ({ folder }) => commitCounts(folder, [{ time: countedAt, counts: { 3: 5, 5: 5 } }]),
    });
    site.service.expectLog(/a file breaks a rule/);
    writeFiles(site.repo.folder, { [pagePath('1')]: mainPage({ name: '', authors: [author] }) });
  });

  it('is beside each bot on “My bots”, with what to do, and nothing beside the others', async () => {
    const { visitor } = await site.loggedIn(author, '/my-bots');
    await eventually(async () => {
      const { text } = await visitor.go(`${site.baseUrl}/my-bots`);
      const [, ...bots] = text
        .split('<h3><a href="/bots/')
        .map((part) => part.split('</li></ul></main>')[0] ?? '');
      strictEqual(bots.length, 4);
      const [first = '', second = '', third = '', fourth = ''] = bots;
      match(first, /bots\/001\/1\.en\.md:[^]*Correct the file/);
      match(second, /Avatar[^]*127\.0\.0\.1[^]*fetched again later/);
      match(third, /8 days without a new count[^]*still posts its count/);
      doesNotMatch(fourth, /class="notice/);
      ok(text.includes(`href="${path}"`));
    });
  });

  it('is in a feed, an entry for each with an id that stays and the time when it began', async () => {
    const response = await fetch(site.baseUrl + path);
    strictEqual(response.status, 200);
    strictEqual(response.headers.get('x-robots-tag'), 'noindex');
    const text = await response.text();
    ok(!text.includes(token));
    const root = parseXml(text);
    const entries = childrenOf(root, 'entry')
      .map((entry) => ['title', 'updated', 'summary'].map((name) => textsOf(entry, name)[0] ?? ''))
      .toSorted(([a = ''], [b = '']) => a.localeCompare(b));
    const [file, picture, count] = entries;
    match(file?.[0] ?? '', /^Bot 1: Error in bots\/001\/1\.en\.md$/);
    match(picture?.[0] ?? '', /^Bot 2: Avatar: https:\/\/127\.0\.0\.1\/bsh_…, since /);
    strictEqual(
      picture?.[2],
      'leads to an address that is not public Change the address or make it work again; it is fetched again later.',
    );
    deepStrictEqual(count, [
      'Bot 3: 8 days without a new count',
      new Date(countedAt * 1000 + 5 + weekMs).toISOString(),
      'Check that your bot still posts its count, with its current token.',
    ]);
    const ids = childrenOf(root, 'entry').flatMap((entry) => textsOf(entry, 'id'));
    strictEqual(new Set(ids).size, 3);
    for (const id of ids) match(id, /^urn:botshelf:attention:[1-3]:[a-z-]+:[0-9a-f]{40}$/);
    const again = await fetch(`${site.baseUrl}${path}?locale=de`);
    const german = parseXml(await again.text());
    deepStrictEqual(
      childrenOf(german, 'entry').flatMap((entry) => textsOf(entry, 'id')),
      ids,
    );
    match(textsOf(german, 'title')[0] ?? '', /^Fehler von Bots: /);
  });

  it('is of the bots of the account alone, and an account without bots has no feed', async () => {
    const other = await (await fetch(`${site.baseUrl}/authors/${stranger}/attention.atom`)).text();
    deepStrictEqual(
      childrenOf(parseXml(other), 'entry').flatMap((entry) => textsOf(entry, 'title')),
      ['Bot 5: 8 days without a new count'],
    );
    strictEqual((await fetch(`${site.baseUrl}/authors/1/attention.atom`)).status, 404);
  });
});
