import { deepStrictEqual, match, notStrictEqual, ok, strictEqual } from 'node:assert/strict';
import sharp from 'sharp';
import { eventually } from '../../support/eventually.ts';
import { keepImages } from '../../support/images.ts';
import { testRepository } from '../../support/repository.ts';
import { mainPage, pagePath, translation, writeFiles } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const avatar = 'https://pictures.example.org/avatar.png';
const files = {
  [pagePath('7')]: mainPage({ name: 'a](b) "<i>', images: { avatar, cover: null, preview: [] } }),
  [pagePath('7', 'ar')]: translation('قيثارة', 'بوت'),
  [pagePath('8')]: mainPage({ nsfw: true }),
};

describe('what other sites show of a bot', () => {
  let service: TestService;
  before(async () => {
    const root = testRepository(files).folder;
    await keepImages(root, { avatar, cover: null, preview: [] }, { width: 300, height: 300 });
    service = await startTestService({}, { root, env: { BOTSHELF_IMAGES: 'on' } });
    await eventually(async () => {
      const { json } = await service.request('/api/v2/bots/7');
      return json.cachedImages.avatar !== null;
    });
  });
  const get = async (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    await fetch(new URL(path, service.address), { headers: { Accept: 'text/html,*/*', ...headers } });
  const html = async (path: string): Promise<string> => await (await get(path)).text();

  describe('its card in a frame', () => {
    it('may be in a frame of any site, runs no script, and is the same for everyone', async () => {
      const response = await get('/bots/7/card', { Cookie: 'a=b' });
      strictEqual(response.status, 200);
      strictEqual(
        response.headers.get('content-security-policy'),
        "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *",
      );
      for (const name of ['x-frame-options', 'set-cookie', 'cross-origin-opener-policy'])
        strictEqual(response.headers.get(name), null, name);
      strictEqual(response.headers.get('vary'), 'Accept-Encoding, Accept-Language');
      match(response.headers.get('cache-control') ?? '', /^public, max-age=\d+$/);
      const page = await response.text();
      ok(!page.includes('<script'));
      match(page, /<base target="_blank"\/>/);
      const etag = response.headers.get('etag') ?? '';
      strictEqual((await get('/bots/7/card', { 'If-None-Match': etag })).status, 304);
    });

    it('is in the language of its address, and leads to the page in it', async () => {
      const page = await html('/bots/7/card?locale=ar');
      match(page, /<html lang="ar" dir="rtl">/);
      match(page, /<h1><a href="\/bots\/7\?locale=ar" lang="ar" dir="rtl">قيثارة<\/a>/);
    });

    it('is not there for a bot that is not, and other pages are in no frame', async () => {
      strictEqual((await get('/bots/404404/card')).status, 404);
      match((await get('/bots/7')).headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
    });
  });

  describe('its picture in previews of links', () => {
    const addressIn = (page: string): string =>
      (/property="og:image" content="([^"]*)"/.exec(page)?.[1] ?? '').replaceAll('&amp;', '&');

    it('is named by its page, with a version that a change of the bot ends', async () => {
      const address = addressIn(await html('/bots/7?locale=ar'));
      match(address, /\/bots\/7\/card\.png\?locale=ar&v=[0-9a-f]{32}$/);
      const path = address.slice(address.indexOf('/bots/'));
      const response = await get(path);
      strictEqual(response.headers.get('content-type'), 'image/png');
      strictEqual(response.headers.get('cache-control'), 'public, max-age=31536000, immutable');
      strictEqual(response.headers.get('cross-origin-resource-policy'), 'cross-origin');
      const { width, height } = await sharp(await response.arrayBuffer()).metadata();
      deepStrictEqual([width, height], [1200, 630]);
      writeFiles(service.root, { [pagePath('7', 'ar')]: translation('قيثارة', 'بوت الموسيقى') });
      await eventually(async () => match(await html('/bots/7/card?locale=ar'), /الموسيقى/));
      const changed = await get(path);
      strictEqual(changed.headers.get('cache-control'), 'no-cache');
      notStrictEqual(changed.headers.get('etag'), response.headers.get('etag'));
      notStrictEqual(addressIn(await html('/bots/7?locale=ar')), address);
    });

    it('is not named for adults, and is not there for an unknown bot', async () => {
      strictEqual(addressIn(await html('/bots/8')), '');
      strictEqual((await get('/bots/8/card.png')).status, 200);
      strictEqual((await get('/bots/404404/card.png')).status, 404);
    });
  });

  it('is code to copy on its page, without an image in it where none is made', async () => {
    const codes = (page: string): string[] =>
      [...page.matchAll(/<input id="(?:badge|embed)-\w+"[^>]* value="([^"]*)"/g)].map(([, code = '']) =>
        code.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&'),
      );
    const shown = codes(await html('/bots/7'));
    strictEqual(shown.length, 4);
    match(shown[0] ?? '', /^\[!\[a\\\]\(b\) "<i>\]\(http.*\/bots\/7\/badge\.svg\)\]\(http.*\/bots\/7\)$/);
    match(
      shown[1] ?? '',
      /^<a href="http.*\/bots\/7"><img src="http.*\/badge\.svg" alt="a\]\(b\) &#34;&#60;i&#62;" height="20"><\/a>$/,
    );
    match(shown[2] ?? '', /\/bots\/7\/card\.png\?locale=en\)/);
    match(
      shown[3] ?? '',
      /^<iframe src="http.*\/bots\/7\/card\?locale=en" title="a\]\(b\) &#34;&#60;i&#62;" /,
    );
    const without = await startTestService(files);
    const page = await (await fetch(`${without.address}/bots/7`)).text();
    strictEqual(codes(page).length, 3);
    const { status, json } = await without.request('/bots/7/card.png');
    strictEqual(status, 404);
    match(json.detail, /use \/bots\/7\/badge\.svg/);
  });
});
