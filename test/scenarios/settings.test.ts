import { deepStrictEqual, doesNotMatch, match, strictEqual } from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { agePages } from '../support/age-pages.ts';
import { eventually } from '../support/eventually.ts';
import { testRepository } from '../support/repository.ts';
import { sampleImage } from '../support/sample-images.ts';
import { mainPage, pagePath, translation } from '../support/sample.ts';
import { writeFiles } from '../support/temp-folder.ts';
import { type Answer, startTestService, type LocalService } from '../support/service.ts';
import { issueTestToken } from '../support/token.ts';
import { Visitor } from '../support/visitor.ts';

const german = {
  name: 'Robotek',
  tagline: 'Bots für alle',
  notice: 'Am Sonntag ziehen wir um.',
  contact: 'hilfe@example.org',
  links: {
    terms: 'https://example.org/agb',
    privacy: 'https://example.org/schutz',
    report: 'mailto:melden@example.org',
  },
  accent: { light: '#0b5d3b' },
  logo: 'images/logo.png',
  language: 'de',
};

describe('the settings of a catalogue', () => {
  let service: LocalService;
  before(async () => {
    service = await startTestService({ [pagePath('7')]: mainPage({ name: 'Seven' }) });
  });

  const write = (settings: object | string): void =>
    writeFiles(service.root, {
      'botshelf.json': typeof settings === 'string' ? settings : JSON.stringify(settings, null, 2),
    });
  const get = async (path: string): Promise<string> => await (await fetch(service.address + path)).text();
  const faults = async (): Promise<string[]> => {
    const { files } = JSON.parse(await get('/readyz')) as {
      files: readonly { path: string; line: number; column: number }[];
    };
    return files.map(({ path, line, column }) => `${path}:${line}:${column}`);
  };

  it('are the defaults without a file', async () => {
    const page = await get('/');
    match(page, /<title>Botshelf<\/title>/);
    match(page, /<html lang="en"/);
    doesNotMatch(page, /\/assets\/own\//);
  });

  it('take effect on every page, feed and file when they are changed by hand', async () => {
    const feed = await fetch(`${service.address}/feeds/new.atom`);
    strictEqual(feed.status, 200);
    writeFiles(service.root, { 'images/logo.png': await sampleImage() });
    write(german);
    await eventually(async () => (await get('/')).includes('Robotek'));
    const page = await get('/');
    match(page, /<title>Robotek<\/title>/);
    match(page, /<html lang="de"/);
    match(
      await get('/add'),
      /<select id="locale"(?:(?!<\/select>)[^])*<option [^>]*value="de"[^>]* selected/,
    );
    match(page, /<h1 lang="de" dir="ltr">Bots für alle<\/h1>/);
    match(page, /<p class="demo" lang="de" dir="ltr">Am Sonntag ziehen wir um\.<\/p>/);
    match(page, /<a href="mailto:hilfe@example\.org">/);
    match(page, /<a href="https:\/\/example\.org\/agb">Nutzungsbedingungen<\/a>/);
    match(page, /<a href="https:\/\/example\.org\/schutz">Datenschutz<\/a>/);
    match(page, /<a href="mailto:melden@example\.org">Problem melden<\/a>/);
    match(await get('/?locale=fr'), /<html lang="fr"/);
    match(await get('/bots/7'), /<title>Seven · Robotek<\/title>/);
    match(await get('/bots/7/badge.svg'), /Robotek/);
    match(await get('/site.webmanifest'), /"name":"Robotek"/);
    await eventually(async () => (await get('/feeds/new.atom')).includes('<name>Robotek</name>'));

    const [, css = ''] = /<link rel="stylesheet" href="(\/assets\/own\/[^"]+)"/.exec(page) ?? [];
    match(await get(css), /\(prefers-color-scheme: light\) \{\n {2}:root \{\n {4}--accent: #0b5d3b;/);
    const [, logo = ''] = /<img src="(\/assets\/own\/[^"]+)"/.exec(page) ?? [];
    const picture = await fetch(service.address + logo);
    strictEqual(picture.headers.get('content-type'), 'image/png');
    deepStrictEqual(Buffer.from(await picture.arrayBuffer()), await sampleImage());
    for (const path of ['/favicon.ico', '/apple-touch-icon.png']) {
      const icon = await fetch(service.address + path);
      strictEqual(icon.headers.get('content-type'), 'image/png');
      deepStrictEqual(Buffer.from(await icon.arrayBuffer()), await sampleImage(), path);
    }
    match(await get('/opensearch.xml'), /<Image [^>]*type="image\/png"/);
  });

  it('name the categories and languages of bots, for files, API, form, search and feeds', async () => {
    const own = {
      ...german,
      categories: { fun: {}, books: { de: 'Bücher' } },
      categoryTexts: { books: { de: 'Lesen mit anderen.' } },
      languages: ['en'],
      inactiveDays: 9,
    };
    writeFiles(service.root, { [pagePath('8')]: mainPage({ name: 'Reader', category: 'books' }) });
    service.expectLog(/category: \\"books\\" is not an allowed value: choose moderation/);
    await eventually(async () => (await faults()).length > 0);
    write(own);
    await eventually(async () => (await get('/api/v2/bots?category=books')).includes('"Reader"'));
    deepStrictEqual(await faults(), []);
    match(
      await get('/categories/books'),
      /<body class="cat cat-books">[^]*<h1>Bots: Bücher<\/h1>[^]*<p class="whole">Lesen mit anderen\.<\/p><\/div><div class="ledge"/,
    );
    const shelf =
      /href="\/categories\/books"><div class="ledge"[^]*?Bücher<\/span><span class="of-many">1<\/span><\/h2>/;
    match(await get('/categories'), new RegExp(`${shelf.source}<p>Lesen mit anderen\\.<\\/p><\\/a>`));
    match(await get('/categories?locale=fr'), new RegExp(`${shelf.source}<\\/a>`));
    match(await get('/add'), /<option value="books">Bücher<\/option>/);
    match(
      await get('/add'),
      /<select id="locale"(?:(?!<\/select>)[^])*<option [^>]*value="en"[^>]* selected/,
    );
    match(await get('/add?locale=fr'), /<option value="books">Bücher<\/option>/);
    match(await get('/feeds/category/books.atom'), /label="Bücher"/);
    match(await get('/?q=B%C3%BCcher'), /Reader/);
    const tile = /<a [^>]*href="\/categories\/books"[^>]*>(?:(?!<\/a>)[^])*Bücher/;
    agePages();
    match(await get('/'), tile);
    const token = await issueTestToken(service.root, '8');
    const post = async (category: string): Promise<Answer> => await service.post('8', token, { category });
    const refused = await post('music');
    strictEqual(refused.status, 422);
    deepStrictEqual(
      refused.json.errors.map(({ detail }: { detail: string }) => detail),
      ['"music" is not an allowed value: choose fun, books or other'],
    );
    strictEqual(await get('/api/v2/bots?active=9d'), '[]');
    match(await get('/sitemap.xml'), /\/categories\/books</);
    const { components } = JSON.parse(await get('/api/openapi.json')) as {
      components: { schemas: { Category?: object; category: { enum: string[] } } };
    };
    deepStrictEqual(components.schemas.category.enum, ['fun', 'books', 'other']);
    match(await get('/api/v2/bots?category=music'), /is not a category: use fun, books, other/);

    service.expectLog(/category: \\"books\\" is not an allowed value: choose fun or other/);
    service.expectLog(/the pages of this catalogue are in en, not in fr/);
    writeFiles(service.root, { [pagePath('7', 'fr')]: translation('Sept', 'Répond.') });
    await eventually(async () => (await faults()).length > 0);
    write({ ...own, categories: { fun: {} } });
    await eventually(async () => (await faults()).length > 1);
    match(await get('/api/v2/bots/8'), /"category":"other"/);
    rmSync(join(service.root, pagePath('8')));
    rmSync(join(service.root, pagePath('7', 'fr')));
    write(german);
    await eventually(async () => (await faults()).length === 0);
  });

  it('name the web pages of the repository, for the links of every page', async () => {
    const home = 'https://code.example.org/bots';
    const repository = {
      home,
      edit: `${home}/edit/{path}`,
      new: `${home}/new?file={path}`,
      history: `${home}/log/{path}`,
    };
    write({ ...german, repository });
    await eventually(async () => (await get('/')).includes(`href="${home}"`));
    match(
      await get('/bots/7/changes'),
      /href="https:\/\/code\.example\.org\/bots\/log\/bots\/007\/7\.en\.md"/,
    );
    const visitor = new Visitor();
    const fields = {
      name: 'Seven',
      description: 'Counts.',
      category: 'fun',
      authors: '190519304972664832',
      invite: 'https://example.org/invite',
    };
    const press = async (path: string, more: Readonly<Record<string, string>>): Promise<string> =>
      (await visitor.press(await visitor.go(service.address + path), path, { ...fields, ...more })).text;
    const edited = await press('/bots/7/edit', {});
    match(edited, /href="https:\/\/code\.example\.org\/bots\/edit\/bots\/007\/7\.en\.md"/);
    const added = await press('/add', { id: '9', locale: 'en' });
    match(added, /href="https:\/\/code\.example\.org\/bots\/new\?file=bots\/009\/9\.en\.md"/);
  });

  it('stay in force while their file has a fault, which is logged once, counted and listed', async () => {
    service.expectLog(/"nmae\\" is not a key: write/);
    write('{\n  "nmae": "Nobody"\n}\n');
    await eventually(async () => (await faults()).length > 0);
    deepStrictEqual(await faults(), ['botshelf.json:2:3']);
    match(await get('/'), /<title>Robotek<\/title>/);
    match(await get('/metrics'), /^botshelf_faulty_files 1$/m);
    strictEqual(service.log().split('is not a key: write').length, 2);
  });

  it('stay in force over a restart with the faulty file, and are the defaults again when it is removed', async () => {
    await service.stop();
    service = await startTestService({}, { root: service.root });
    service.expectLog(/"nmae\\" is not a key: write/);
    match(await get('/'), /<title>Robotek<\/title>/);
    deepStrictEqual(await faults(), ['botshelf.json:2:3']);
    rmSync(join(service.root, 'botshelf.json'));
    await eventually(async () => (await get('/')).includes('<title>Botshelf</title>'));
    deepStrictEqual(await faults(), []);
  });
});

describe('a category that the catalogue does not have', () => {
  it('is served as other with a fault, and the file keeps it when the bot posts, for when the catalogue has it again', async () => {
    const repository = testRepository({ [pagePath('8')]: mainPage({ category: 'books' }) });
    const service = await startTestService({}, { root: repository.folder });
    service.expectLog(/category: \\"books\\" is not an allowed value: choose moderation/);
    const category = async (): Promise<string> => (await service.request('/api/v2/bots/8')).json.category;
    strictEqual(await category(), 'other');
    match((await service.request('/api/v2/bots?category=other')).text, /"id":"8"/);
    deepStrictEqual((await service.request('/readyz')).json.faultyFiles, 1);

    const update = { support: 'https://example.org/help' };
    const token = await issueTestToken(repository.folder, '8');
    strictEqual((await service.post('8', token, update)).status, 200);
    match(repository.git('show', `HEAD:${pagePath('8')}`), /"category": "books"[^]+"support": "https/);
    strictEqual(await category(), 'other');

    repository.commit({ 'botshelf.json': '{"categories": {"books": {"en": "Books"}}}' });
    await eventually(async () => strictEqual(await category(), 'books'));
    strictEqual((await service.request('/readyz')).json.faultyFiles, 0);
  });
});
