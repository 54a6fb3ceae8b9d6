import { deepStrictEqual, doesNotMatch, match, strictEqual } from 'node:assert/strict';
import { openBrowserPage } from '../../../support/browser.ts';
import { eventually } from '../../../support/eventually.ts';
import { checkAtWidths } from '../../../support/page-checks.ts';
import { mainPage, pagePath, profile, translation } from '../../../support/sample.ts';
import { writeFiles } from '../../../support/temp-folder.ts';
import { agePages } from '../../../support/age-pages.ts';
import { startTestService, type TestService } from '../../../support/service.ts';
import { childrenOf, parseXml, textsOf } from '../../../support/xml.ts';

describe('authors', () => {
  let service: TestService;
  before(async () => {
    const many = Array.from({ length: 25 }, (_, i) => [pagePath(`${100 + i}`), mainPage({ authors: ['4'] })]);
    service = await startTestService({
      ...Object.fromEntries(many),
      [pagePath('7')]: mainPage({ name: 'Seven', authors: ['6', '5', '8'] }),
      [pagePath('7', 'ar')]: translation('سبعة', 'يجيب.'),
      [pagePath('8')]: mainPage({ name: 'Eight', authors: ['8'] }),
      [pagePath('9')]: mainPage({ name: 'Nine', authors: ['5'], nsfw: true, created: 1_600_000_000_000 }),
      'people/5.json': profile({
        name: 'Ada \u202E<b>',
        website: 'https://ada.example.org/',
        description: { fr: 'Fait des bots.', en: 'Makes bots.', ar: 'تصنع بوتات.' },
      }),
      'people/6.json': profile({ name: 'عمر' }),
      'people/77.json': profile({ name: 'Nobody yet' }),
    });
  });
  const get = async (path: string, language = 'en'): Promise<Response> =>
    await fetch(service.address + path, { headers: { 'Accept-Language': language } });
  const text = async (path: string, language?: string): Promise<string> =>
    await (await get(path, language)).text();
  const by = /<p class="by">.*?<\/p>/;

  it('have a page with what they say about themselves in the language of the reader, and their bots', async () => {
    const page = await text('/authors/5');
    match(page, /<h1><bdi>Ada &lt;b><\/bdi><\/h1><p class="whole" lang="en" dir="ltr">Makes bots\.<\/p>/);
    match(page, /href="https:\/\/ada\.example\.org\/" rel="nofollow ugc noopener"/);
    match(page, /September 13, 2020.*English and Arabic/);
    match(page, />Seven<\/a>/);
    doesNotMatch(page, />Nine<\/a>|class="by"|noindex/);
    match(page, /<a class="button" href="\/\?author=5">See all<\/a>/, 'for the bot that is for adults');
    match(await text('/authors/5', 'fr'), /<p class="whole" lang="fr" dir="ltr">Fait des bots\.<\/p>/);
    match(await text('/authors/5?locale=ar'), /<p class="whole" lang="ar" dir="rtl">تصنع بوتات\.<\/p>/);
    match(await text('/authors/5', 'de'), /<p class="whole" lang="en" dir="ltr">/);
  });

  it('have a page without a name, one without bots, and none without both', async () => {
    match(await text('/authors/8'), /<h1><bdi>Author of 2 bots<\/bdi><\/h1>/);
    const page = await text('/authors/77');
    match(page, /<meta name="robots" content="noindex"\/>.*<h1><bdi>Nobody yet/);
    for (const path of ['/authors/78', '/authors/x']) strictEqual((await get(path)).status, 404);
  });

  it('with more bots than a page of a list has lead to the list', async () => {
    const page = await text('/authors/4');
    strictEqual(page.match(/<article class="card /g)?.length, 24);
    match(page, /href="\/\?author=4"/);
    match(await text('/?author=5&nsfw=true'), /<h1>Bots by Ada &lt;b>, with 18\+<\/h1>/);
  });

  it('are named where their bots are', async () => {
    const page = await text('/bots/7');
    const links =
      '<a href="/authors/6"><bdi>عمر</bdi></a> and <a href="/authors/5"><bdi>Ada &lt;b></bdi></a>';
    strictEqual(by.exec(page)?.[0], `<p class="by">by ${links} · 3 authors</p>`);
    match(page, /<a href="\/authors\/8">See all<\/a>/);
    match(page, /<meta name="author" content="عمر, Ada &lt;b>"\/>/);
    const people = JSON.parse(/"author":(\[.*?\])/.exec(page)?.[1] ?? '') as { name: string; url: string }[];
    deepStrictEqual(
      people.map(({ name, url }) => [name, url.replace(/.*(?=\/authors)/, '')]),
      [
        ['عمر', '/authors/6'],
        ['Ada <b>', '/authors/5'],
      ],
    );
    strictEqual(by.exec(await text('/bots/8'))?.[0], '<p class="by">1 author</p>');
    match(
      await text('/?q=seven'),
      /<p class="by">by <bdi>عمر<\/bdi> and <bdi>Ada &lt;b><\/bdi> · 3 authors<\/p>/,
    );
    doesNotMatch(await text('/?author=6'), by);
    const feed = parseXml(await text('/feeds/author/5.atom'));
    deepStrictEqual(textsOf(feed, 'title'), ['Bots by Ada <b> · Botshelf']);
    const entry = childrenOf(feed, 'entry').find((bot) => textsOf(bot, 'title')[0] === 'Seven');
    const named = entry ? childrenOf(entry, 'author').flatMap((author) => textsOf(author, 'name')) : [];
    deepStrictEqual(named, ['عمر', 'Ada <b>', '3 authors']);
    match(await text('/sitemap.xml'), /<loc>[^<]*\/authors\/8<\/loc>/);
  });

  it('have pages that browsers and axe find nothing wrong with', async () => {
    const page = await openBrowserPage();
    for (const path of ['/authors/5', '/authors/77?locale=ar']) {
      await page.goto(service.address + path);
      await checkAtWidths(page, path, [1280, 360]);
    }
  });

  it('have another name everywhere once their file has it', async () => {
    writeFiles(service.root, { 'people/6.json': profile({ name: 'Omar' }) });
    for (const path of ['/authors/6', '/bots/7', '/?q=seven', '/?author=6', '/feeds/author/6.atom'])
      await eventually(async () => {
        agePages();
        match(await text(path), /Omar/);
      });
  });
});
