import { deepStrictEqual, doesNotMatch, match, notStrictEqual, strictEqual } from 'node:assert/strict';
import { Router } from '@koa/router';
import Koa from 'koa';
import type { BotRecord } from '../../schemas/types.ts';
import { ChangeIndex } from '../../src/catalogue/changes/change-index.ts';
import { AuthorIndex } from '../../src/catalogue/lists/authors.ts';
import { Lists } from '../../src/catalogue/lists/lists.ts';
import type { Profile } from '../../src/catalogue/page/side-file.ts';
import { BotSearch } from '../../src/catalogue/search/bot-search.ts';
import { type CatalogueSettings, toSettings } from '../../src/catalogue/settings/settings.ts';
import { indexBot } from '../../src/catalogue/store/bot-index.ts';
import { MutableBotIndex } from '../../src/catalogue/store/bot-store.ts';
import { RepositoryOpener } from '../../src/git/repository.ts';
import { type ListeningServer, listen } from '../../src/http/server.ts';
import { silentLog } from '../../src/lib/log.ts';
import { Markdown } from '../../src/site/markdown/markdown.ts';
import type { Site, Viewer } from '../../src/site/page/page-context.tsx';
import { type RepositoryLinks, createRepositoryLinks } from '../../src/site/page/repository-links.ts';
import { addOpenPages } from '../../src/site/site.tsx';
import { agePages } from '../support/age-pages.ts';
import { testSite } from '../support/languages.ts';
import type { ReadonlyCountHistory } from '../../src/counts/count-history.ts';
import type { ReadonlyCounts } from '../../src/bot/counts.ts';
import { CurrentCache } from '../../src/lib/current-cache.ts';
import { noCounts, noCountHistory } from '../support/counts.ts';
import { defaultNeeds } from '../support/needs.ts';
import { sampleBot } from '../support/sample-bot.ts';
import { accountId, botId } from '../support/sample.ts';

const seven = { en: ['Seven', 'Answers.'], fr: ['Sept', 'Répond.'] } as const;

describe('the pages of the site', () => {
  const markdown = new Markdown(new CurrentCache(), () => undefined);
  let server: ListeningServer;
  let bots: MutableBotIndex;
  let settings: CatalogueSettings;
  let countHistory: { -readonly [K in keyof ReadonlyCountHistory]: ReadonlyCountHistory[K] };
  let profiles: Map<string, Profile>;
  let counts: { -readonly [K in keyof ReadonlyCounts]: ReadonlyCounts[K] };
  let options: { viewerOf: () => Promise<Viewer | null> };
  /** How many pages were rendered: the footer of each has this link once. */
  let rendered: number;

  beforeEach(async () => {
    bots = new MutableBotIndex();
    const edited = Date.now();
    bots.set(sampleBot('7', seven, { nsfw: true, category: 'fun', edited }));
    counts = { ...noCounts };
    countHistory = { ...noCountHistory };
    rendered = 0;
    const links = createRepositoryLinks({ remote: 'https://github.com/o/r', branch: 'main', prefix: '' });
    const repository = {
      ...links,
      get home() {
        rendered++;
        return 'https://github.com/o/r';
      },
    } as RepositoryLinks;
    settings = toSettings();
    const site: Site = {
      ...testSite,
      get settings() {
        return settings;
      },
      login: true,
      repository,
    };
    const cache = new CurrentCache();
    const lists = new Lists(bots, new BotSearch(bots, () => {}, defaultNeeds), counts, cache);
    profiles = new Map();
    const all = {
      cache,
      authors: new AuthorIndex(bots, { files: profiles }, cache),
      site,
      viewerOf: async () => null,
      store: { faultsOf: () => [] },
      findImage: () => undefined,
      shareCards: null,
      bots,
      lists,
      changes: new ChangeIndex({ folder: '', repositoryOpener: new RepositoryOpener('') }),
      counts,
      countHistory,
      markdown,
      proposals: null,
      collections: { all: new Map() },
    };
    const router = new Router();
    addOpenPages(router, all);
    options = all;
    const app = new Koa();
    app.silent = true;
    app.use(router.routes());
    server = await listen(app.callback(), {
      host: '127.0.0.1',
      port: 0,
      maxConnections: 100,
      log: silentLog,
    });
  });
  afterEach(async () => await server.close());
  after(async () => await markdown.close());

  const get = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers });
    return await response.text();
  };

  it('are rendered once for each language that their bots are shown in, however browsers ask for it', async () => {
    for (const path of ['/?nsfw=true', '/bots/7']) {
      rendered = 0;
      const title = async (language: string): Promise<string | undefined> =>
        /Seven|Sept/.exec(await get(path, { 'Accept-Language': language }))?.[0];
      const french = ['fr', 'fr-CA', 'xx, fr;q=0.5', 'xx, fr-FR;q=0.9, en;q=0.8', 'fr;q=0.1, *;q=0.01'];
      for (const language of french) strictEqual(await title(language), 'Sept');
      strictEqual(rendered, 1);
      const english = ['en', 'en-US, fr;q=0.5', 'xx', '*', `sv-x-${'a'.repeat(8)}`];
      for (const language of english) strictEqual(await title(language), 'Seven');
      strictEqual(rendered, 2);
      for (const language of ['en-GB', 'en-AU, en;q=0.5', 'en-NZ'])
        strictEqual(await title(language), 'Seven');
      strictEqual(rendered, 3);
    }
  });

  it('are in the reader’s language, and their bots in one that they have', async () => {
    const german = { 'Accept-Language': 'de, fr;q=0.9, en;q=0.8' };
    const page = await get('/bots/7', german);
    match(page, /^<!doctype html>\n<html lang="de" dir="ltr">/);
    match(page, /<h1><span lang="fr" dir="ltr">Sept<\/span>/);
    match(page, /Zum Server hinzufügen/);
    match(
      await get('/bots/7', { 'Accept-Language': 'ar' }),
      /<html lang="ar" dir="rtl">[^]*<h1><span lang="en" dir="ltr">/,
    );
    match(
      await get('/bots/7?locale=fr', { 'Accept-Language': 'en' }),
      /<html lang="fr"[^]*<a href="\/add">[^]*<h1><span lang="fr" dir="ltr">Sept/,
    );
    match(await get('/bots/7'), /<html lang="en"/);
  });

  it('of a bot show similar ones in other languages too, each with its authors', async () => {
    settings = toSettings({ language: 'de' });
    const texts = [
      { ja: ['八', '答えます。'], ru: ['Восемь', 'Да.'] },
      { en: ['Nine', 'Plays.'] },
      { de: ['Zehn', 'Spielt.'] },
      { ru: ['Одиннадцать', 'Играет.'] },
      { fr: ['Douze', 'Joue.'] },
    ] as const;
    for (const [i, names] of texts.entries())
      bots.set(sampleBot(String(8 + i), names, { category: 'music', authors: ['1', '2'] }));
    profiles.set('2.json', { name: 'Ada', website: null, description: {} });
    const [, similar = ''] =
      /<section class="[^"]*similar[^"]*"([^]*?)<\/section>/.exec(await get('/bots/8')) ?? [];
    const cards = [...similar.matchAll(/(Zehn|Nine|Одиннадцать|Douze)<[^]*?<p class="by">(.*?)<\/p>/g)];
    const authors = 'by <bdi>Ada</bdi> · 2 authors';
    deepStrictEqual(
      cards.map(([, ...shown]) => shown),
      ['Одиннадцать', 'Zehn', 'Nine'].map((name) => [name, authors]),
    );
  });

  it('lead to each language of the interface, back where the reader was, and have it from then on', async () => {
    match(
      await get('/docs'),
      /<a href="\/language\?locale=ja" rel="nofollow" lang="ja" dir="ltr" hreflang="ja">日本語<\/a>/,
    );
    const choose = async (locale: string, referer: string): Promise<(string | null)[]> => {
      const { headers } = await fetch(`http://127.0.0.1:${server.port}/language?locale=${locale}`, {
        redirect: 'manual',
        headers: { Referer: referer },
      });
      return [headers.get('location'), headers.get('cache-control'), ...headers.getSetCookie()];
    };
    const [path, caching, chosen = ''] = await choose('ja', 'https://bots.example.org/?q=seven&locale=fr');
    deepStrictEqual([path, caching], ['/?q=seven&locale=ja', 'no-store']);
    match(
      chosen ?? '',
      /^__Host-botshelf-language=ja; Path=\/; Max-Age=31536000; Secure; HttpOnly; SameSite=Lax$/,
    );
    match(
      await get('/', { Cookie: '__Host-botshelf-language=ja', 'Accept-Language': 'de' }),
      /<html lang="ja"/,
    );
    match(await get('/?locale=fr', { Cookie: '__Host-botshelf-language=ja' }), /<html lang="fr"/);
    deepStrictEqual(await choose('xx', 'https://bots.example.org/docs'), ['/docs', 'no-store']);
    deepStrictEqual(await choose('ja', 'https://evil.example/docs'), ['/?locale=ja', 'no-store']);
    // A reader cannot open what only a form is sent to.
    for (const [sent, page] of [
      ['/bots/7/token/revoke', '/bots/7/token'],
      ['/proposals/collection-best/withdraw?locale=fr', '/proposals/collection-best'],
      ['/collections/send', '/collections/send'],
    ] as const)
      deepStrictEqual(await choose('xx', `https://bots.example.org${sent}`), [page, 'no-store']);
  });

  it('say who runs the list, who reviews, and by which rules', async () => {
    bots.set(sampleBot('8', seven));
    match(
      await get('/about'),
      /<h1>About Botshelf<\/h1>.*<p>1 bot in 2 languages\..*Verified: the maintainers/s,
    );
    settings = toSettings({
      about: { text: 'A <list>.', rules: ['Be kind.'], verified: 'We tried it.' },
      maintainers: ['1', '2'],
    });
    profiles.set('1.json', { name: 'Marge' } as Profile);
    const page = await get('/about?locale=de');
    match(page, /<p lang="en" dir="ltr">A &lt;list>\.<\/p>/);
    match(page, /<li><a href="\/authors\/1"><bdi>Marge<\/bdi><\/a><\/li><\/ul>/);
    match(
      page,
      /<ol lang="en" dir="ltr"><li>Be kind\.<\/li><\/ol>.*<p lang="en" dir="ltr">We tried it\.<\/p>/s,
    );
  });

  it('end in a map of the site, without links that lead nowhere', async () => {
    settings = toSettings({
      about: { rules: ['Be kind.'] },
      links: { report: 'https://example.org/report' },
    });
    const [, footer = ''] = (await get('/')).split('<footer');
    const columns = [...footer.matchAll(/<h2>([^<]+)<\/h2><ul>(.*?)<\/ul>/g)].map(([, title, links = '']) => [
      title,
      ...Array.from(links.matchAll(/href="([^"]+)"/g), ([, href]) => href),
    ]);
    deepStrictEqual(columns, [
      ['Catalogue', '/?sort=popular', '/categories', '/collections', '/feeds', '/watch'],
      ['About', '/about', '/about#rules', '/about#verified', 'https://example.org/report'],
      ['Build', '/docs', 'https://github.com/o/r'],
    ]);
  });

  it('have the guides for programs, which lead to each other and to no file @slow', async () => {
    const api = await get('/docs');
    match(
      api,
      /<ol>\s*<li>Keep [^]*?<\/li>\s*<li>Request [^]*?<\/li>\s*<li>After a 410 [^]*?<\/li>\s*<\/ol>/,
    );
    match(api, /<a href="[^"]*\/docs\/consumers"[^>]*>programs that read the data<\/a>/);
    match(api, /<a href="[^"]*\/docs\/bots#page-list-bots"[^>]*>List bots<\/a>/);
    match(api, /<a href="[^"]*\/docs\/lists#page-list-the-authors"[^>]*>List the authors<\/a>/);
    const bots = await get('/docs/bots');
    match(bots, /<a href="[^"]*\/docs#page-errors"[^>]*>Errors<\/a>/);
    match(
      bots,
      /<h2 id="page-list-bots">List bots<\/h2>\s*<p><code>GET \/api\/v2\/bots<\/code>[^]*?<th>Parameter<\/th>/,
    );
    match(
      await get('/docs/javascript'),
      / on a Botshelf list[^]*curl -fLO http\S+\.tgz\s[^]*npm install \.\/botshelf-client-/,
    );
    match(api, /see <code>docs\/production\.md<\/code>/);
    const data = await get('/docs/consumers');
    match(data, /<h1 lang="en" dir="ltr">For people who read the data<\/h1>/);
    match(data, /<a href="[^"]*\/docs#page-poll-politely"[^>]*>The API<\/a>/);
    match(api, /id="page-poll-politely"/);
    const others = await Promise.all(
      ['lists', 'errors', 'javascript', 'python', 'changelog'].map((name) => get(`/docs/${name}`)),
    );
    for (const page of [api, data, ...others]) doesNotMatch(page, /\]\((?!https:)/);
  });

  it('render a guide once, in one thread, for all who open it in a language @slow', async () => {
    let threads = 0;
    const count = (): void => void threads++;
    process.on('worker', count);
    try {
      const languages = ['de', 'fr', 'fr-CA', 'en-AA', 'en-AB', 'en-AC'];
      const pages = await Promise.all(
        languages.map(async (language) => await get(`/docs/errors?locale=${language}`)),
      );
      for (const page of pages)
        match(page, /<h1 lang="en" dir="ltr">Examples of errors<\/h1>[^]*<li><strong>403/);
      strictEqual(threads, 1);
    } finally {
      process.off('worker', count);
    }
  });

  const paths = ['/docs', '/bots/7', '/', '/?nsfw=true', '/authors/1', '/?q=answers&nsfw=true'] as const;
  for (const path of paths)
    it(`are rendered again at once when the settings change: ${path}`, async () => {
      const before = await get(path);
      settings = toSettings({ name: 'Robotek' });
      notStrictEqual(await get(path), before);
    });

  it('are rendered again at once when their bot changes, or is there no more', async () => {
    const before = await get('/bots/7');
    bots.set(sampleBot('7', { en: ['Eight', 'Answers.'] }));
    notStrictEqual(await get('/bots/7'), before);
    bots.delete(botId('7'));
    doesNotMatch(await get('/bots/7'), /Eight/);
  });

  /** The changes of inputs besides the entry of the page. */
  const changes: Readonly<Record<string, () => void>> = {
    'a count': () => {
      counts.count = () => 156;
      counts.reportedAt = () => Date.now() - 20 * 60_000;
    },
    'another bot': () => {
      const keys = { nsfw: true, category: 'fun', authors: ['1'] };
      bots.set(sampleBot('8', seven, keys));
    },
    'what an author is called': () =>
      void profiles.set('1.json', { name: 'Ada', website: null, description: {} }),
  };
  for (const [name, change] of Object.entries(changes))
    for (const path of ['/bots/7', '/?nsfw=true'] as const)
      it(`are the same for some seconds, and then rendered again, when ${name} changes: ${path}`, async () => {
        const before = await get(path);
        change();
        strictEqual(await get(path), before);
        agePages();
        notStrictEqual(await get(path), before);
      });

  const variants: Readonly<Record<string, readonly [path: string, headers?: Record<string, string>]>> = {
    'the language of the browser': ['/bots/7', { 'Accept-Language': 'fr' }],
    'the language of the address': ['/bots/7?locale=fr'],
    'whether its pictures are shown': ['/bots/7?pictures=shown'],
    'who is logged in': ['/bots/7', { Cookie: 'session=1' }],
  };
  for (const [name, [path, headers]] of Object.entries(variants)) {
    it(`differ by ${name}, and stay what they were for others`, async () => {
      const record = JSON.parse(sampleBot('7', seven, { nsfw: true }).record.toString()) as BotRecord;
      const cachedImages = { avatar: '/appdata/a.webp', cover: null, preview: [] };
      bots.set(indexBot(botId('7'), { ...record, cachedImages }, []));
      options.viewerOf = async () => ({ id: accountId('5'), name: 'Marge', authenticatedAt: 0 });
      const before = await get('/bots/7');
      notStrictEqual(await get(path, headers), before);
      strictEqual(await get('/bots/7'), before);
    });
  }
});
