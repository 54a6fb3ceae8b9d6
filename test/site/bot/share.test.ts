import { deepStrictEqual, match, notStrictEqual, strictEqual } from 'node:assert/strict';
import sharp from 'sharp';
import { readCases } from '../../support/fixture-lines.ts';
import { eventually } from '../../support/eventually.ts';
import { keepImages } from '../../support/images.ts';
import { testRepository } from '../../support/repository.ts';
import { mainPage, pagePath, translation } from '../../support/sample.ts';
import { writeFiles } from '../../support/temp-folder.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const avatar = 'https://pictures.example.org/avatar.png';
const files = {
  [pagePath('7')]: mainPage({ name: 'a](b) "<i>', images: { avatar, cover: null, preview: [] } }),
  [pagePath('7', 'ar')]: translation('قيثارة', 'بوت'),
  [pagePath('8')]: mainPage({ nsfw: true }),
  [pagePath('9')]: mainPage(),
  [pagePath('50')]: mainPage({ name: "Rook's Gambit" }),
  [pagePath('53')]: mainPage({ name: '2048' }),
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
  const get = async (path: string): Promise<Response> =>
    await fetch(new URL(path, service.address), { headers: { Accept: 'text/html,*/*' }, redirect: 'manual' });
  const html = async (path: string): Promise<string> => await (await get(path)).text();

  describe('its picture in previews of links', () => {
    const addressIn = (page: string): string =>
      (/property="og:image" content="([^"]*)"/.exec(page)?.[1] ?? '').replaceAll('&amp;', '&');

    it('is named by its page, with a version that a change of the bot ends @slow', async () => {
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
      await eventually(async () => match(await html('/bots/7?locale=ar'), /الموسيقى/));
      const changed = await get(path);
      strictEqual(changed.headers.get('cache-control'), 'no-cache');
      notStrictEqual(changed.headers.get('etag'), response.headers.get('etag'));
      notStrictEqual(addressIn(await html('/bots/7?locale=ar')), address);
    });

    it('is not named for adults, and is not there for an unknown bot @slow', async () => {
      strictEqual(addressIn(await html('/bots/8')), '');
      strictEqual((await get('/bots/8/card.png')).status, 200);
      strictEqual((await get('/bots/404404/card.png')).status, 404);
    });
  });

  it('is led to by an address with its name; that of several leads to a search', async () => {
    const response = await get('/bots/A-b-i?locale=ar');
    strictEqual(response.headers.get('location'), '/bots/7?locale=ar');
    for (const { input, expected } of readCases('bot-names'))
      strictEqual((await get(`/bots/${input}`)).headers.get('location'), expected[0], input);
    for (const path of ['/bots/nobody', '/bots/2048', '/bots/%E2%98%83', `/bots/${'x'.repeat(2000)}`])
      strictEqual((await get(path)).status, 404, path);
  });

  it('is a badge, with code to copy on its page', async () => {
    const page = await html('/bots/7');
    const shown = [...page.matchAll(/<input id="badge-\w+"[^>]* value="([^"]*)"/g)].map(([, code = '']) =>
      code.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&'),
    );
    strictEqual(shown.length, 3);
    match(shown[0] ?? '', /^https:\/\/.*\/bots\/7$/);
    match(shown[1] ?? '', /^\[!\[a\\\]\(b\) "<i>\]\(http.*\/bots\/7\/badge\.svg\)\]\(http.*\/bots\/7\)$/);
    match(
      shown[2] ?? '',
      /^<a href="http.*\/bots\/7"><img src="http.*\/badge\.svg" alt="a\]\(b\) &#34;&#60;i&#62;" height="20"><\/a>$/,
    );
  });
});
