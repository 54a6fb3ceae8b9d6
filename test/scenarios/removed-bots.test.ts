import { deepStrictEqual, doesNotMatch, match, strictEqual } from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { type TestRepository, testRepository } from '../support/repository.ts';
import { mainPage, pagePath, translation } from '../support/sample.ts';
import { startTestService, type TestService } from '../support/service.ts';

const categoryOf = (id: string): string => (['7', '11'].includes(id) ? 'music' : 'fun');

describe('a bot that was removed', () => {
  let repository: TestRepository;
  let service: TestService;

  before(async () => {
    const ids = ['7', '8', '9', '10', '11', '12'];
    repository = testRepository({
      ...Object.fromEntries(
        ids.map((id) => [pagePath(id), mainPage({ name: `Bot ${id}`, category: categoryOf(id) })]),
      ),
      [pagePath('12', 'fr')]: translation('Douze', 'Répond.'),
    });
    repository.git('remote', 'add', 'origin', 'https://github.com/example/catalogue.git');
    const gone = [...['7', '8', '9'].map((id) => pagePath(id)), pagePath('12', 'fr')];
    const files = Object.fromEntries(gone.map((path) => [path, null]));
    repository.commitAll([{ files, at: Date.UTC(2026, 2, 3, 12) / 1000 }]);
    repository.commit({ [pagePath('8')]: mainPage({ name: 'Back' }), [pagePath('9')]: '---\n{}\n---\n' });
    service = await startTestService({}, { root: repository.folder });
    service.expectLog(/BOTSHELF_REMOTE is not set/);
    service.allowLog(/a file breaks a rule/);
    await eventually(async () => strictEqual((await get('/bots/7')).status, 410));
  });

  const get = async (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
    await fetch(service.address + path, { method, headers: { Accept: 'text/html', ...headers } });

  it('before the start responds 410 with when it was removed and what its owner can do, in the language of the reader', async () => {
    const response = await get('/bots/7');
    strictEqual(response.headers.get('cache-control'), 'private, no-store');
    const page = await response.text();
    for (const part of [
      /<title>This bot was removed · /,
      /The bot <code>7<\/code> was removed from this site on .*>March 3, 2026</,
      /<meta name="robots" content="noindex"\/?>/,
      /href="https:\/\/github\.com\/example\/catalogue\/commits\/main\/bots\/007"/,
      /href="\/add"/,
    ])
      match(page, part);
    const german = await (await get('/bots/7', { 'Accept-Language': 'de' })).text();
    match(german, /<html lang="de"[^]*<h1>Dieser Bot wurde entfernt<\/h1>[^]*>3\. März 2026</);
  });

  it('has a search that is focused, and bots of the category that it had; another lost page has bots of all', async () => {
    const removed = await (await get('/bots/7')).text();
    strictEqual(removed.split('role="search"').length, 2);
    match(removed, /<input id="q"[^>]* autofocus/);
    match(removed, /<h2 id="near">Music bots<\/h2><a href="\/categories\/music[^]*?<h3><a href="\/bots\/11"/);
    doesNotMatch(removed, /<h3><a href="\/bots\/10"/);
    const missing = await (await get('/nothing')).text();
    match(missing, /<h1>That shelf is empty<[^]*<h2 id="near">Bots on most servers<\/h2>/);
    strictEqual(missing.split('<h3><a href="/bots/').length, 4);
  });

  it('is gone with all that is below its page, for every client and method, and not found in the API', async () => {
    for (const path of ['edit', 'translate', 'token', 'badge.svg', 'card.png'])
      strictEqual((await get(`/bots/7/${path}`)).status, 410, path);
    strictEqual((await get('/bots/7', {}, 'HEAD')).status, 410);
    strictEqual((await get('/bots/7/edit', {}, 'POST')).status, 410);
    const badge = await get('/bots/7/badge.svg', { Accept: 'image/avif,image/webp,*/*;q=0.8' });
    deepStrictEqual([badge.status, badge.headers.get('cache-control')], [410, 'no-store']);
    match(await badge.text(), /urn:botshelf:problem:removed-bot/);
    for (const path of ['/api/v1/bots/7', '/api/v2/bots/7', '/api/v2/bots/7/counts'])
      strictEqual((await service.request(path)).status, 404, path);
  });

  it('is not one that never was, is back, has a faulty file, or lost a language', async () => {
    for (const [id, status] of [
      ['404404', 404],
      ['8', 200],
      ['9', 404],
      ['12', 200],
    ] as const)
      strictEqual((await get(`/bots/${id}`)).status, status, id);
    doesNotMatch(await (await get('/bots/9')).text(), /was removed/);
  });

  it('while the service runs responds 410 at once, and 200 when its file is back', async () => {
    for (const id of ['10', '11']) match(await (await get(`/bots/${id}`)).text(), new RegExp(`Bot ${id}`));
    rmSync(join(repository.folder, pagePath('10')));
    repository.git('rm', '-q', pagePath('11'));
    repository.commit({}, 'Remove 10 and 11');
    for (const id of ['10', '11'])
      await eventually(async () => strictEqual((await get(`/bots/${id}`)).status, 410));
    repository.commit({ [pagePath('10')]: mainPage({ name: 'Bot 10' }) });
    await eventually(async () => strictEqual((await get('/bots/10')).status, 200));
    strictEqual((await get('/bots/11')).status, 410);
  });
});
