import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commitCounts } from '../../support/counts.ts';
import { eventually } from '../../support/eventually.ts';
import { testRepository } from '../../support/repository.ts';
import { mainPage, pagePath, translation } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { childrenOf, parseXml, textsOf } from '../../support/xml.ts';

const author = '190519304972664832';
const accomplice = '200000000000000001';
const invite = (client: string, permissions: number): string =>
  `https://discord.com/oauth2/authorize?scope=bot&client_id=${client}&permissions=${permissions}`;
const bot = (id: string, name: string, keys: object = {}): Record<string, string> => ({
  [pagePath(id)]: mainPage({ name, invite: invite(id, 2048), ...keys }),
});

const before90Days = Math.floor(Date.now() / 1000) - 100 * 86_400;

/** Bots of which each has changed in another way: 1 has not, 8 and 9 are gone, 10 and 11 have one name. */
function makeCatalogue(): string {
  const repository = testRepository();
  const source = { codehost: { owner: 'a', repo: 'b' } };
  const names = 'Clean Admin More Handed Other Quiet Closed Gone Banned Twin Twin'.split(' ');
  const first = names.map((name, i) => bot(String(i + 1), name, i === 6 ? source : {}));
  repository.commitAll([
    {
      files: { ...Object.assign({}, ...first), [pagePath('1', 'fr')]: translation('Propre', 'Oui.') },
      at: before90Days,
    },
    {
      files: {
        ...bot('2', 'Admin', { invite: invite('2', 8) }),
        ...bot('3', 'More', { invite: invite('3', 2048 + 4) }),
        ...bot('4', 'Handed', { authors: [author, accomplice] }),
        ...bot('5', 'Other', { invite: invite('55', 2048) }),
        ...bot('7', 'Closed'),
        [pagePath('8')]: null,
        [pagePath('9')]: null,
        'blocked.json': JSON.stringify({
          bots: { 9: { reason: 'Steals passwords', since: '2026-01-02' } },
          accounts: { [accomplice]: { reason: 'A thief' } },
        }),
      },
    },
  ]);
  commitCounts(repository.folder, [{ time: before90Days, counts: { 6: 20 } }]);
  return repository.folder;
}

async function start(root: string, env: Readonly<Record<string, string>> = {}): Promise<TestService> {
  const service = await startTestService({}, { root, env });
  const changes = async (): Promise<number> => (await fetch(`${service.address}/feeds/bot/1.atom`)).status;
  await eventually(async () => strictEqual(await changes(), 200));
  return service;
}

const ids = Array.from({ length: 9 }, (_, i) => String(i + 1)).join();

describe('watched bots', function () {
  this.timeout(60_000);
  let service: TestService;
  before(async () => {
    service = await start(makeCatalogue());
  });

  const open = async (query: string, status = 200, { address } = service): Promise<Response> => {
    const response = await fetch(`${address}/watch${query}`, { redirect: 'manual' });
    strictEqual(response.status, status, query);
    return response;
  };
  const read = async (query: string, from = service): Promise<string> =>
    await (await open(query, 200, from)).text();
  /** Returns where a query of names leads. */
  const follow = async (query: Record<string, string>, from = service): Promise<string | null> =>
    (await open(`?${new URLSearchParams(query)}`, 302, from)).headers.get('location');
  /** Returns the name and the sentences of each row. */
  const listRows = (html: string): string[] => {
    const [, list = ''] = /<ul class="desk">([^]*?)<form class="fields/.exec(html) ?? [];
    const [, ...rows] = list.split('<h2>');
    return rows.map((row) => {
      const [, name = '', , sentences = ''] = /^(.*?)<\/h2>(.*<ul class="steps">(.*)<\/ul>)?/.exec(row) ?? [];
      const texts = Array.from(sentences.matchAll(/<li[^>]*>(.*?)<\/li>/g), ([, text = '']) =>
        text.replace(/ since.*/, '').replace(/ on <[^>]*>[A-Z].*/, ''),
      );
      return `${name}: ${texts.join('; ')}`.replaceAll(/<[^>]*>/g, '');
    });
  };

  it('have what their server should know, the worst first, without reasons', async () => {
    const html = await read(`?ids=${ids}`);
    deepStrictEqual(listRows(html), [
      'Admin: Asks for full control of your server',
      'More: Asks for more permissions',
      'Handed: Authors added; Blocked by this list',
      'Other: The invite link adds another bot',
      'Gone: Removed from this list',
      'Banned: Removed from this list; Blocked by this list',
      'Quiet: No count',
      'Closed: Source code no longer named',
      'Clean: Nothing to worry about',
    ]);
    match(html, /Asks for more permissions since [^:]*: <bdi[^>]*>Ban members</);
    match(html, /<meta name="robots" content="noindex/);
    match(html, /<a class="signs" href="\/bots\/3#permissions"/);
    doesNotMatch(html, /thief|passwords/);
  });

  it('are the address: each row leads to the page without its bot, the first four to their comparison', async () => {
    const html = await read('?ids=1,2&ids=3');
    match(html, /href="\/watch\?ids=1,3">Remove <span class="out-of-sight">Admin</);
    match(html, /href="\/compare\?bots=2,3,1"/);
    match(html, /href="\/feeds\/watch\.atom\?ids=1,2,3"/);
    match(await read('?ids=1'), /href="\/watch">Remove/);
    for (const [path, ids] of Object.entries({ '/bots/1': '1', '/compare?bots=1,2': '1,2' }))
      match(await (await fetch(service.address + path)).text(), new RegExp(`href="/watch\\?ids=${ids}"`));
  });

  it('are named by lines: ids, mentions, invite links, addresses, and exact names in any language', async () => {
    const links = [invite('3', 8), 'discord.com/oauth2/authorize?client_id=4', 'https://bots.example/bots/5'];
    const names = ['https://bots.example/bots/quiet', 'propre', 'CLOSED#1234', '', '8'];
    const bots = ['1', '<@2>', ...links, ...names].join('\r\n');
    strictEqual(await follow({ ids: '9', bots }), '/watch?ids=9,1,2,3,4,5,6,7,8');
  });

  it('are chosen from all of one name, next to what the list does not have', async () => {
    const query = new URLSearchParams({ ids: '1,77', bots: 'Twin\nClos\n12345678901234567890\nMore' });
    const html = await read(`?${query}`);
    match(html, /Not in this list, or no longer: <bdi[^>]*>77, 12345678901234567890, Clos</);
    match(html, /<textarea[^>]*>Twin\nClos<\/textarea>/);
    match(html, /Several bots have the name “<bdi[^>]*>Twin<[^]*?>Twin \(1[01]\)<[^]*?>Twin \(1[01]\)</);
    const [, path = ''] = /href="\/watch(\?ids=1,3,10&amp;bots=[^"]*)"/.exec(html) ?? [];
    const chosen = await read(path.replace('&amp;', '&'));
    match(chosen, /<textarea[^>]*>Clos<\/textarea>/);
    doesNotMatch(chosen, /Several bots/);
    strictEqual(await follow({ ids: '1,10', bots: 'Twin' }), '/watch?ids=1,10');
    match(html, /<input type="hidden" name="ids" value="1,3"/);
  });

  it('are named by their OAuth clients, too', async () => {
    const page = bot('1', 'Old', { oauth: '101', invite: invite('101', 8) });
    const other = await start(testRepository(page).folder);
    strictEqual(await follow({ bots: `101\n${invite('101', 8)}` }, other), '/watch?ids=1');
  });

  it('are a hundred at most', async () => {
    const many = Array.from({ length: 99 }, (_, i) => String(1000 + i)).join();
    match(
      await read(`?${new URLSearchParams({ ids: `${many},1`, bots: 'More' })}`),
      /Only the first 100 bots/,
    );
    const lines = Array.from({ length: 100 }, (_, i) => `nobody${i}`);
    const cut = await read(`?${new URLSearchParams({ bots: [...lines, 'More'].join('\n') })}`);
    match(cut, /nobody99/);
    deepStrictEqual(listRows(cut), []);
    const long = await read(`?${new URLSearchParams({ bots: `https://a.example/${'x'.repeat(300)}/3` })}`);
    deepStrictEqual(listRows(long), []);
    for (const query of ['?ids=', '?ids=x', `?ids=${many},1,2`]) await open(query, 400);
    match(await read(''), /<textarea id="bots" name="bots"/);
  });

  it('have a feed of what their page tells, with entries that stay the same', async () => {
    const feed = async (query: string): Promise<ReturnType<typeof parseXml>> => {
      const response = await fetch(`${service.address}/feeds/watch.atom${query}`);
      strictEqual(response.headers.get('X-Robots-Tag'), 'noindex');
      return parseXml(await response.text());
    };
    const english = await feed(`?ids=${ids}`);
    const german = await feed(`?ids=${ids}&locale=de`);
    const of = (root: typeof english, name: string): string[] =>
      childrenOf(root, 'entry').flatMap((entry) => textsOf(entry, name));
    strictEqual(of(english, 'title').length, 10);
    match(of(english, 'title').join('\n'), /^More: Asks for more permissions since .*: Ban members$/m);
    ok(of(german, 'title').includes('Banned: Von diesem Verzeichnis gesperrt'));
    deepStrictEqual(of(german, 'id'), of(english, 'id'));
    strictEqual(new Set(of(english, 'id')).size, 10);
    ok(of(english, 'id').includes('urn:botshelf:watch:8:gone:1700000000000'));
    strictEqual((await fetch(`${service.address}/feeds/watch.atom`)).status, 400);
  });

  it('show nothing of a private block list', async () => {
    const file = join(tempFolder(), 'blocked.json');
    writeFileSync(file, '{"bots": {"1": {}, "9": {}}}');
    const other = await start(makeCatalogue(), { BOTSHELF_BLOCKED: file });
    const html = await read(`?ids=${ids}`, other);
    doesNotMatch(html, /Blocked/);
    ok(listRows(html).includes('Clean: Nothing to worry about'));
  });

  it('are read although earlier commits have front matter that no page can have', async () => {
    const repository = testRepository({ ...bot('1', 'Clean'), ...bot('2', 'Admin'), ...bot('8', 'Gone') });
    const faulty = { authors: [author, { toString: 1 }], created: { toString: 1 }, name: 'A'.repeat(1000) };
    const files = { [pagePath('2')]: mainPage(faulty), [pagePath('8')]: mainPage(faulty) };
    const now = { ...bot('2', 'Admin', { invite: invite('2', 8) }), [pagePath('8')]: null };
    repository.commitAll([{ files }, { files: now }]);
    const other = await start(repository.folder);
    deepStrictEqual(listRows(await read('?ids=2,8', other)), [
      'Admin: Asks for full control of your server',
      '8: Removed from this list',
    ]);
    match(await (await fetch(`${other.address}/feeds/watch.atom?ids=2,8`)).text(), /8: Removed from/);
  });

  it('are read in turns of 25 a request, and shown as 25 rows', async () => {
    const numbers = Array.from({ length: 40 }, (_, i) => String(100 + i));
    const repository = testRepository(
      Object.assign(bot('1', 'Clean'), ...numbers.map((id) => bot(id, `Bot ${id}`))),
    );
    repository.commit(bot('139', 'Bot 139', { invite: invite('139', 8) }));
    const other = await start(repository.folder);
    const query = `?ids=${numbers.join()}`;
    const first = await read(query, other);
    match(first, /Bots not read yet: 15\. Load this page again/);
    strictEqual(listRows(first).length, 25);
    strictEqual(listRows(first)[0], 'Bot 125: Not read yet');
    const second = await read(query, other);
    doesNotMatch(second, /not read yet/i);
    strictEqual(listRows(second)[0], 'Bot 139: Asks for full control of your server');
    match(second, /href="\/watch\?ids=[\d,]+&amp;page=2"/);
    strictEqual(listRows(await read(`${query}&page=2`, other)).length, 15);
  });
});
