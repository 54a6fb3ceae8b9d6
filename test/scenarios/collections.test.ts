import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { agePages } from '../support/age-pages.ts';
import { eventually } from '../support/eventually.ts';
import { collection, mainPage, pagePath, translation } from '../support/sample.ts';
import { writeFiles } from '../support/temp-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

const files = {
  ...Object.fromEntries([7, 8, 9].map((id) => [pagePath(`${id}`), mainPage({ name: `Bot ${id}` })])),
  [pagePath('8', 'de')]: translation('Achter', 'Zählt bis acht.'),
  [pagePath('10')]: mainPage({ name: 'Midnight', nsfw: true }),
  'collections/small.en.md': collection(
    { title: 'For small servers', bots: ['9', '7', '10', '404', '8'], by: '190519304972664832' },
    '## Why\n\nThey are **quiet**.\n\n<script>alert(1)</script>',
  ),
  'collections/small.de.md': collection({ title: 'Für kleine Server', description: 'Ohne Aufwand.' }),
  'collections/two.en.md': collection({ title: 'Two', bots: ['7', '8'] }),
  'collections/gone.en.md': collection({ title: 'Gone', bots: ['404', '7'] }),
  'people/190519304972664832.json': '{"name": "Ada"}',
};

describe('collections of bots', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService(files, { env: { BOTSHELF_BASE_URL: 'https://bots.example.org' } });
  });
  const get = async (path: string, language = 'en', status = 200): Promise<string> => {
    const headers = { Accept: 'text/html', 'Accept-Language': language };
    const response = await fetch(service.address + path, { headers });
    strictEqual(response.status, status, path);
    return await response.text();
  };
  const cardsOf = (page: string): string =>
    [...page.matchAll(/<article class="card cat[^]*?<a href="\/bots\/(\d+)/g)].map(([, id]) => id).join(' ');

  it('show their listed bots in the order of the file, and those for adults where they are asked for', async () => {
    const page = await get('/collections/small');
    match(page, /<h1 lang="en" dir="ltr">For small servers<\/h1>/);
    match(page, /They are <strong>quiet<\/strong>/);
    doesNotMatch(page, /alert/);
    strictEqual(cardsOf(page), '9 7 8');
    match(page, /<a href="\/collections\/small\?nsfw=true">1 hidden 18\+ result</);
    match(page, /"@type":"ItemList","itemListElement":\[\{"@type":"ListItem","position":1,/);
    match(page, /href="\/feeds\/collection\/small\.atom"/);
    const all = await get('/collections/small?nsfw=true');
    strictEqual(cardsOf(all), '9 7 10 8');
    match(all, /<meta name="robots" content="noindex"/);
  });

  it('are in the reader’s language where they have it, else in their main one', async () => {
    const german = await get('/collections/small', 'de');
    match(german, /<html lang="de"[^]*<h1 lang="de" dir="ltr">Für kleine Server[^]*>Achter</);
    match(german, /<link rel="canonical" href="https:\/\/bots\.example\.org\/collections\/small\?locale=de"/);
    match(await get('/collections/small', 'ar'), /<html lang="ar"[^]*<h1 lang="en" dir="ltr">For small/);
    match(
      await get('/collections', 'de'),
      /href="\/collections\/small">[^]*?<h2><span lang="de"[^>]*>Für kleine Server/,
    );
  });

  it('name who picked the bots, have the colour of most of them, and link to other collections', async () => {
    const page = await get('/collections/small');
    match(page, /<body class="cat cat-fun">/);
    match(page, /<a class="stamp" href="\/authors\/190519304972664832">Picked by <bdi>Ada<\/bdi><\/a>/);
    strictEqual(page.match(/<div class="ledge" [^]*?<\/div><\/div>/)?.[0].match(/class="avatar/g)?.length, 3);
    match(page, /<h2 id="others">Other collections<\/h2>[^]*?href="\/collections\/two"/);
    match(
      await get('/collections'),
      /For small servers<[^]*?3 bots · Picked by <bdi>Ada<\/bdi>[^]*?Two<[^]*?<p>2 bots<\/p>/,
    );
  });

  it('are linked from the list and pages of bots, but not with fewer than two listed bots', async () => {
    for (const page of [await get('/collections'), await get('/bots/7')]) {
      match(page, /href="\/collections\/small"/);
      doesNotMatch(page, /collections\/gone/);
    }
    match(await get('/collections/gone'), /noindex[^]*Fewer than two of its bots are listed/);
    ok((await get('/collections/nothing', 'en', 404)).includes('That shelf is empty'));
  });

  it('have a feed: /feeds has the addresses of those of a collection, a bot and its author', async () => {
    const page = await get('/feeds', 'de');
    const addresses = [
      ...page.matchAll(/<label for="feed-(.*?)">(.*?)<.*?value="https:\/\/bots\.example\.org(.*?)"/g),
    ];
    const shown = addresses.map(([, path, label, address]) => `${label} ${address === `${path}?locale=de`}`);
    deepStrictEqual(shown.slice(-3), [
      'Was sich bei Bot 9 geändert hat true',
      'Bots von Ada true',
      'Sammlung Für kleine Server true',
    ]);
    for (const [, , , path = ''] of addresses) await eventually(async () => await get(path));
  });

  it('are 50 on a page', async () => {
    const many = Array.from({ length: 60 }, (_, i) => [
      `collections/many-${i + 10}.en.md`,
      collection({ title: `Many ${i + 10}`, bots: ['7', '8'] }),
    ]);
    writeFiles(service.root, Object.fromEntries(many) as Record<string, string>);
    const linked = (page: string): number =>
      page.match(/<a class="cat cat-\w+" href="\/collections\//g)?.length ?? 0;
    await eventually(async () => strictEqual(linked(await get('/collections?page=2')), 12));
    const first = await get('/collections');
    strictEqual(linked(first), 50);
    match(first, /rel="next" href="\/collections\?page=2"/);
    const second = await get('/collections?page=2&locale=de');
    match(second, /rel="prev" href="\/collections"/);
    match(
      second,
      /<link rel="canonical" href="https:\/\/bots\.example\.org\/collections\?page=2&amp;locale=de"/,
    );
    await get('/collections?page=3', 'en', 404);
    for (const [path = ''] of many) rmSync(join(service.root, path));
  });

  it('follow their files @slow', async () => {
    const changed = { 'collections/small.en.md': collection({ title: 'Changed', bots: ['7', '8'] }) };
    writeFiles(service.root, changed);
    await eventually(async () => (await get('/bots/8')).includes('Changed'));
    strictEqual(cardsOf(await get('/collections/small')), '7 8');
    rmSync(join(service.root, pagePath('8')));
    rmSync(join(service.root, pagePath('8', 'de')));
    await eventually(async () => (await service.request('/api/v2/bots/8')).status === 404);
    agePages();
    strictEqual(cardsOf(await get('/collections/small')), '7');
  });
});
