import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { brotliCompressSync, constants } from 'node:zlib';
import type { Page } from 'playwright-core';
import type { BotListElement } from '../../schemas/types.ts';
import { checkCatalogue, createFolderSource } from '../../src/check/check.ts';
import { parseDay, toDay, toDayPath } from '../../src/counts/state.ts';
import { openBrowserPage } from '../support/browser.ts';
import { cleanUp } from '../support/cleanup.ts';
import { mainFile } from '../support/command-line.ts';
import { type DemoProcess, startDemo } from '../support/demo.ts';
import { eventually } from '../support/eventually.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { checkAtWidths } from '../support/page-checks.ts';
import { openProposals } from '../support/proposals.ts';
import { repositoryIn } from '../support/repository.ts';
import { botId } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { needs } from '../support/tools.ts';
import { Visitor } from '../support/visitor.ts';

/** Run in the page: has it load its lazy pictures as if it were scrolled to its end, and lists the pictures that do not load. */
const brokenPictures = `(async () => {
  const pictures = [...document.images].filter((picture) => picture.checkVisibility());
  for (const picture of pictures) picture.loading = 'eager';
  await Promise.all(pictures.map((picture) => picture.decode().catch(() => {})));
  return pictures.filter(({ naturalWidth }) => naturalWidth === 0).map(({ src }) => src);
})()`;

/** Run in the page before anything else: notes what the largest thing painted is. */
const observer = `
  new PerformanceObserver((list) => {
    globalThis.largest = list.getEntries().at(-1)?.element?.outerHTML;
  }).observe({ type: 'largest-contentful-paint', buffered: true });`;

/** Run in the page of all categories: the wall of each, and the contrasts of words on it and of the initial on a book. */
const categoryColours = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const luminanceOf = (colour) => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data]
      .map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (...colours) => {
    const [dark, light] = colours.map(luminanceOf).sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  return [...document.querySelectorAll('.shelves a')].map((tile) => {
    const colour = getComputedStyle(tile.querySelector('.ledge')).backgroundColor;
    const words = [tile, tile.querySelector('.of-many')].map((node) => getComputedStyle(node).color);
    const avatar = tile.appendChild(document.createElement('span'));
    avatar.className = 'avatar ' + tile.className;
    const book = getComputedStyle(avatar);
    const initial = contrast(book.color, book.getPropertyValue('--paper'));
    avatar.remove();
    return { colour, contrasts: [initial, ...words.map((word) => contrast(word, colour))] };
  });
})()`;

describe('botshelf demo', function () {
  // The demo creates 90 days of a catalogue, which takes long on a busy machine.
  this.timeout(300_000);
  let demo: DemoProcess;
  let bots: readonly BotListElement[];
  before(async () => {
    // The settings of a real catalogue do not reach it.
    demo = await startDemo({ BOTSHELF_CATALOGUE: '/nowhere', BOTSHELF_REMOTE: 'origin' });
    // Bots that were read before the image cache was are built again.
    await eventually(async () => {
      bots = (await json('/api/v2/bots')) as BotListElement[];
      return bots.every(({ images, cachedImages }) => images.avatar === null || cachedImages.avatar !== null);
    });
  });

  const botOf = (name: string): BotListElement | undefined =>
    bots.find(({ contents }) => contents['en']?.name === name);
  const load = async (path: string): Promise<string> => await (await fetch(demo.address + path)).text();
  const json = async (path: string): Promise<unknown> => JSON.parse(await load(path)) as unknown;

  it('serves about 60 bots in at least 16 languages and all categories', () => {
    ok(bots.length >= 55, `${bots.length}`);
    ok(new Set(bots.flatMap(({ contents }) => Object.keys(contents))).size >= 16);
    strictEqual(new Set(bots.map(({ category }) => category)).size, 12);
  });

  it('has bots of every sort: verified, open source, for adults, of the same author, with HTML', async () => {
    ok(bots.some(({ verified }) => verified));
    ok(bots.some(({ codehost }) => codehost.repo !== null));
    strictEqual(bots.filter(({ nsfw }) => nsfw).length, 1);
    const authors = bots.flatMap(({ authors }) => authors);
    ok(authors.length - new Set(authors).size >= 5);
    match(await load(`/bots/${botOf('Showcase')?.id}`), /<div class="table[^]*<table/);
  });

  it('has a copy of every picture, so that it needs no network', async () => {
    for (const { images, cachedImages } of bots) {
      strictEqual(cachedImages.cover === null, images.cover === null);
      strictEqual(cachedImages.preview.length, images.preview.length);
    }
    const drawn = bots.filter(({ images }) => images.avatar !== null);
    strictEqual(bots.length - drawn.length, 2, 'two have no avatar');
    const paths = drawn.slice(0, 8).map(({ cachedImages }) => cachedImages.avatar ?? '');
    for (const path of paths) match(await load(path), /^RIFF/);
    strictEqual(demo.stderr(), '');
  });

  it('has pages of every kind that are at most 8 KB when compressed', async () => {
    const visitor = new Visitor();
    const people = await visitor.go(`${demo.address}/login`);
    const [, account = ''] = /value="(\d+)"[^>]*>Marge/.exec(people.text) ?? [];
    await visitor.go(`${demo.address}/login/callback?account=${account}`);
    const review = await visitor.go(`${demo.address}/review`);
    const [proposal = ''] = /\/review\/\d+\/\d+/.exec(review.text) ?? [];
    // The bot with the longest page.
    const { id = '' } = botOf('Showcase') ?? {};
    const compared = bots.slice(0, 4).map(({ id }) => id);
    const fixed =
      '/ /?sort=popular /?q=music /?q=zzzz /categories /categories/music /collections /collections/first-server /about /docs /feeds /add/collection /add /my-bots /review /review?tab=attention';
    const ofBot = ['', '/edit', '/translate', '/changes', '/report'].map((end) => `/bots/${id}${end}`);
    const paths = [...fixed.split(' '), proposal, ...ofBot, `/compare?bots=${compared.join()}`];
    paths.push(`/watch?ids=${bots.map(({ id }) => id).join()}`);
    for (const path of paths)
      // Russian has the largest pages, because its letters have two bytes.
      for (const locale of ['en', 'ru']) {
        const address = `${demo.address}${path}${path.includes('?') ? '&' : '?'}locale=${locale}`;
        const { status, text } = await visitor.go(address, { headers: { accept: 'text/html' } });
        strictEqual(status, 200, address);
        const { length } = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
        ok(length <= 8 * 1024, `${address}: ${length}`);
      }
  });

  it('is marked as a demo on every page', async () => {
    for (const path of ['/', `/bots/${bots[0]?.id}`, '/add', '/docs', '/categories/music', '/nothing']) {
      const response = await fetch(demo.address + path, { headers: { accept: 'text/html' } });
      match(await response.text(), /This is a demo/, path);
    }
  });

  it('is a Git repository that the checker accepts, with 90 days of counts', async () => {
    const repository = repositoryIn(demo.folder);
    strictEqual(repository.status(), '');
    deepStrictEqual((await checkCatalogue(createFolderSource(demo.folder), 'everything')).findings, []);
    const days = repository.git('ls-tree', '-r', '--name-only', 'refs/botshelf/state', 'days/').split('\n');
    // In the first minutes of a day, the last counts are of a day that is over.
    ok([90, 91].includes(days.length), String(days.length));
  });

  it('has a history: bots were added, changed and removed by people, through the API and by proposals', async () => {
    const { git } = repositoryIn(demo.folder);
    const commits = git('log', '--format=%s', 'main').trim().split('\n');
    strictEqual(commits.length, 1 + bots.length + 6 + 2 * 2);
    for (const [name, change] of [
      ['Showcase', /Administrator/],
      ['Gatehouse', /Time out members/],
      ["Rook's Gambit", /907942384058277230/],
      ['Vartovyi', /Ban members/],
    ] as const)
      await eventually(async () => match(await load(`/bots/${botOf(name)?.id}/changes?locale=en`), change));
    for (const id of ['517204938116472832', '702913385017245696'])
      strictEqual((await fetch(`${demo.address}/bots/${id}`)).status, 410);
    match(git('show', 'main:blocked.json'), /"702913385017245696"/);
  });

  it('has a bot with 14 commands, and a review by Marge of every bot', async () => {
    const commands = (await json(`/api/v2/bots/${botOf('Gatehouse')?.id}/commands`)) as unknown[];
    strictEqual(commands.length, 14);
    const args = ['--grep=^Add .*', '--format=%(trailers:key=Reviewed-by)'];
    const reviews = repositoryIn(demo.folder).git('log', ...args);
    strictEqual(reviews.match(/330178214406193152/g)?.length, bots.length + 2);
    await eventually(async () => match(await load(`/bots/${botOf('Tonarm')?.id}`), /Reviewed by <bdi>Marge/));
  });

  it('has authors with names, and collections in several languages', async () => {
    for (const [folder, files] of Object.entries({ people: 13, collections: 8 }))
      strictEqual(readdirSync(`${demo.folder}/${folder}`).length, files);
    match(await load('/collections?locale=de'), /Dein erster Server[^]*Game night[^]*Musik und Ton/);
  });

  it('has bots that grow, one that falls fast and one that has posted nothing for 70 days', () => {
    const { git } = repositoryIn(demo.folder);
    const text = git('show', `refs/botshelf/state:${toDayPath(toDay(Date.now()) - 30)}`);
    const then = new Map([...parseDay(Buffer.from(text))].flat().map(([id, count]) => [id, count]));
    const counts = git('grep', '-h', 'countedAt', 'refs/botshelf/state');
    const now = [...counts.matchAll(/"(\d+)":\{"count":(\d+),"countedAt":(\d+)/g)].map(
      ([, id = '', count, at]) => ({
        growth: Number(count) / (then.get(botId(id)) ?? Number.NaN),
        days: (Date.now() - Number(at)) / 86_400_000,
      }),
    );
    ok(now.filter(({ growth }) => growth > 1.1).length >= 10);
    strictEqual(now.filter(({ growth }) => growth < 0.95).length, 1);
    deepStrictEqual(
      now.filter(({ days }) => days > 1).map(({ days }) => Math.round(days)),
      [70],
    );
  });

  it('prints a command that posts a count, and as whom to review a proposal', async () => {
    await eventually(() => match(demo.stdout(), /^Review a proposal: log in at http:\S+\/login as Marge, /m));
    const [, url = '', token = '', body = ''] =
      /^curl (\S+) -H 'Authorization: (\S+)' -H 'Content-Type: application\/json' -d '(.+)'$/m.exec(
        demo.stdout(),
      ) ?? [];
    const headers = { authorization: token, 'content-type': 'application/json' };
    const answer = await fetch(url, { method: 'POST', headers, body });
    strictEqual(answer.status, 200, await answer.text());
    match(await (await fetch(`${url}/counts`)).text(), /"count":156\}\]$/);
  });

  it('has a maintainer, an author of two bots, a newcomer and proposals that wait', async () => {
    const proposals = await openProposals(demo.folder);
    const details = await Promise.all(proposals.list.open.map(async (each) => await proposals.read(each)));
    const hours = (time: number): number => Math.round((Date.now() - time) / 3_600_000);
    deepStrictEqual(
      details.map(({ kind, proposal: { proposer, state, sentAt }, conflicts }) =>
        [kind, proposer.name, state, ...conflicts, hours(sentAt)].join(' '),
      ),
      [
        'newBots Tove waiting 31',
        'authors Arvid waiting 20',
        'newBots Ola waiting 5',
        'others Inés waiting 4',
        'others Nilufar waiting 2',
        'others Rui waiting 0',
      ],
    );
    ok(details.every(({ proposal, steps }) => steps[0]?.at === proposal.sentAt));
    ok(details.every(({ proposal }) => proposal.text.length > 80));
    ok(details.every(({ changed }) => changed.size === 1));
    const invite = /(?<=permissions=)\d+/.exec([...(details[1]?.changed.values() ?? [])].join('')) ?? ['0'];
    strictEqual(BigInt(invite[0]) & 8n, 8n, 'it asks for Administrator');
    const own = bots.filter(({ authors }) => authors.includes(details[1]?.proposal.proposer.id ?? ''));
    strictEqual(own.map(({ contents }) => contents['en']?.name).join(' '), 'Turnstile Gatehouse');
  });

  it('lets visitors log in as one of its people, return to the page they were on, and log out', async () => {
    const visitor = new Visitor();
    const path = `/bots/${bots[0]?.id}?locale=de`;
    const headers = { referer: demo.address + path };
    await visitor.go(`${demo.address}/language?locale=de`, { headers });
    const people = await visitor.go(`${demo.address}/login`, { headers });
    match(people.text, /lang="de".*Bei der Demo anmelden/s);
    const names = people.text.match(/(?<=name="account"[^>]+>)[^<]+/g);
    deepStrictEqual(names, ['Marge', 'Arvid', 'Nilufar']);
    const [, account = ''] = /name="account" value="(\d+)"/.exec(people.text) ?? [];
    const page = await visitor.go(`${demo.address}/login/callback?account=${account}`);
    strictEqual(page.url.href, demo.address + path);
    match(page.text, /<bdi>Marge<\/bdi>/);
    const out = await visitor.press(page, '/logout');
    ok(!out.text.includes('/logout'));
  });

  it('logs nobody in whom it does not know, or who has not pressed Log in', async () => {
    for (const [path, account] of [
      ['/login', '1'],
      ['/login', ''],
      ['/', '330178214406193152'],
    ] as const) {
      const visitor = new Visitor();
      await visitor.go(demo.address + path);
      const page = await visitor.go(`${demo.address}/login/callback?account=${account}`);
      ok(page.status >= 400 && !page.text.includes('Marge'), `${path} ${account}`);
    }
  });

  needs('chromium', describe)('in a browser', () => {
    let paths: readonly string[];
    before(() => {
      const withAll = bots.find(
        ({ invite, cachedImages }) => invite.includes('permissions=') && cachedImages.preview.length > 0,
      );
      paths = ['/', '/?sort=popular', `/bots/${withAll?.id}`];
    });

    async function open(path: string): Promise<{ page: Page; bytes: () => Promise<number> }> {
      const page = await openBrowserPage({
        baseURL: demo.address,
        viewport: { width: 390, height: 844 },
        deviceScaleFactor: 3,
      });
      const sizes: Promise<number>[] = [];
      page.on('requestfinished', (request) => {
        sizes.push(request.sizes().then((size) => size.responseBodySize + size.responseHeadersSize));
      });
      await page.goto(path);
      const bytes = async (): Promise<number> =>
        (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
      return { page, bytes };
    }

    it('lets a visitor log in as the maintainer, at both names of this machine, without a script, also on a phone', async () => {
      const scripted = await openBrowserPage();
      await scripted.goto(`${demo.address}/login?locale=ar`);
      await checkAtWidths(scripted, 'the people of the demo', [1280, 320]);
      const page = await openBrowserPage({ javaScriptEnabled: false });
      for (const host of ['127.0.0.1', 'localhost']) {
        const address = demo.address.replace('127.0.0.1', host);
        await page.goto(`${address}/login`);
        await page.getByRole('button', { name: 'Marge' }).click();
        strictEqual(await page.locator('.account bdi').textContent(), 'Marge', host);
        const [cookie] = await page.context().cookies(address);
        deepStrictEqual([cookie?.name, cookie?.secure, cookie?.domain], ['__Host-botshelf', true, host]);
        await page.locator('.account summary').click();
        await page.getByRole('button', { name: 'Log out' }).click();
        strictEqual(await page.getByRole('link', { name: 'Log in' }).count(), 1);
      }
    });

    it('shows a list of 24 cards with their pictures in at most 120 KB on a phone', async () => {
      const { page, bytes } = await open('/?sort=popular');
      ok((await page.locator('.card img[loading=lazy]').count()) >= 12, 'those below the fold are lazy');
      deepStrictEqual(await page.evaluate(brokenPictures), []);
      strictEqual(await page.locator('.card').count(), 24);
      strictEqual(await page.locator('.card .avatar img').count(), 24);
      const total = await bytes();
      ok(total > 20_000 && total <= 120 * 1024, `${total} bytes`);
    });

    it('shows a search, bots, the categories, a chosen bot, collections and shelves on the front page', async () => {
      const { page, bytes } = await open('/');
      const headings = await page.locator('main h2').allTextContents();
      const shelves = ['Growing this month', 'New on the shelf', 'Recently updated'];
      deepStrictEqual(headings, ['Tonarm', 'Put together by people', ...shelves]);
      match((await page.locator('.talker').textContent()) ?? '', /Three permissions.*Chosen by Marge/);
      strictEqual(await page.locator('.labels a').count(), 12);
      strictEqual(await page.locator('.hero .ledge img').count(), 7);
      strictEqual(await page.locator('.shelves .ledge').count(), 3);
      const sizes = await page.evaluate(
        "[...document.querySelectorAll('.cards')].map((list) => list.children.length)",
      );
      deepStrictEqual(sizes, [6, 3, 3]);
      const names = await page.locator('.card h3').allTextContents();
      strictEqual(new Set(names).size, names.length, 'no bot is shown twice');
      strictEqual((await page.getByRole('searchbox').boundingBox())?.height, 56);
      const face = await page.locator('.hero .ledge img').first().boundingBox();
      ok(face && face.y + face.height < 600, 'bots are above the fold');
      deepStrictEqual(await page.evaluate(brokenPictures), []);
      const sent = await bytes();
      ok(sent <= 120 * 1024, `${sent} bytes`);
      await page.getByRole('link', { name: /See all.*New on the shelf/ }).click();
      strictEqual(await page.getByRole('heading', { level: 1 }).textContent(), 'New on the shelf');
    });

    it('has a wall for each category, on which words can be read, and initials on books, in light and in dark', async () => {
      const { page } = await open('/categories');
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        const categories = await page.evaluate<{ colour: string; contrasts: number[] }[]>(categoryColours);
        strictEqual(new Set(categories.map(({ colour }) => colour)).size, 12, colorScheme);
        const least = Math.min(...categories.flatMap(({ contrasts }) => contrasts));
        ok(least >= 4.5, `${colorScheme}: ${least}`);
      }
    });

    it('nothing is drawn by a script or comes from elsewhere, and every picture loads', async () => {
      const page = await openBrowserPage({ baseURL: demo.address });
      const script = await page.addInitScript(observer);
      cleanUp(async () => await script.dispose());
      const without = await openBrowserPage({ baseURL: demo.address, javaScriptEnabled: false });
      const others: string[] = [];
      page.on('request', (request) => {
        if (!request.url().startsWith(`${demo.address}/`)) others.push(request.url());
      });
      for (const path of paths) {
        const response = await page.goto(path, { waitUntil: 'networkidle' });
        const html = (await response?.text()) ?? '';
        await eventually(async () => await page.evaluate<boolean>('globalThis.largest !== undefined'));
        const largest = await page.evaluate<string>('globalThis.largest');
        deepStrictEqual(others, [], path);
        deepStrictEqual(await page.evaluate(brokenPictures), [], path);
        await without.setContent(html);
        ok((await without.content()).includes(largest), `${path}: ${largest}`);
      }
    });

    it('every example on the front page finds bots, in any language', async () => {
      for (const locale of ['en', 'ja', 'ar']) {
        const links = async (): Promise<string[]> => {
          const html = await (await fetch(`${demo.address}/?locale=${locale}`)).text();
          const list = /<ul class="examples">.*?<\/ul>/s.exec(html)?.[0] ?? '';
          return [...list.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'));
        };
        await eventually(async () => (await links()).length >= 3);
        if (locale === 'en') match(await (await fetch(`${demo.address}/?locale=en`)).text(), /<li>Try:</);
        for (const link of await links()) {
          const html = await (await fetch(`${demo.address}${link}`)).text();
          match(html, /class="card /, link);
        }
      }
    });

    it('the permissions are beside a page on a wide screen, however long it is, and before its text on a phone; they are printed', async () => {
      const path = paths[2] ?? '';
      const lengthen = "document.querySelector('.bot-body .prose').style.minHeight = '4000px'";
      const page = await openBrowserPage({ baseURL: demo.address });
      const boxOf = async (selector: string): Promise<{ y: number; height: number }> =>
        (await page.locator(selector).first().boundingBox()) ?? { y: Number.NaN, height: Number.NaN };
      const open = async (width: number, height: number): Promise<void> => {
        await page.setViewportSize({ width, height });
        await page.goto(path);
      };
      await open(1280, 1600);
      const start = (await boxOf('.bot-body')).y;
      const permissions = await boxOf('.ingredients');
      strictEqual(permissions.y, start);
      await page.evaluate(lengthen);
      deepStrictEqual(await boxOf('.ingredients'), permissions);
      const below = permissions.y + permissions.height;
      ok((await boxOf('.side')).y - below <= 40, 'the other panels follow');

      await open(390, 844);
      const order = ['.screenshots', '.ingredients', '.prose', '.side', '.quiet-row'];
      const tops = await Promise.all(order.map(async (selector) => (await boxOf(selector)).y));
      deepStrictEqual(
        tops,
        tops.toSorted((a, b) => a - b),
      );
      await page.emulateMedia({ media: 'print' });
      const isPrinted = async (selector: string): Promise<boolean> =>
        await page.locator(selector).isVisible();
      deepStrictEqual(await Promise.all(order.map(isPrinted)), [false, true, true, true, false]);
    });
  });

  describe('that ends', () => {
    it('removes its folder when it is interrupted', async () => {
      ok(existsSync(demo.folder));
      strictEqual(await demo.end('SIGINT'), 0);
      ok(!existsSync(demo.folder));
      strictEqual(demo.stderr(), '');
    });

    it('leaves no folder behind when its port is taken', async () => {
      const port = String((await listenOnLoopback(createServer())).port);
      const folder = tempFolder();
      // In a process of its own, because the folder is removed when the process ends.
      const { status, stderr } = spawnSync(process.execPath, [mainFile, 'demo'], {
        env: { PATH: process.env['PATH'], PORT: port, TMPDIR: folder },
        encoding: 'utf8',
      });
      strictEqual(status, 2);
      ok(stderr.includes(port), stderr);
      deepStrictEqual(readdirSync(folder), []);
    });
  });
});
