import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { hash } from 'node:crypto';
import { keepPictures } from '../../support/pictures.ts';
import { testRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const kept = {
  avatar: 'https://pictures.example.org/avatar.png',
  cover: 'https://pictures.example.org/cover.png',
  preview: ['https://pictures.example.org/1.png'],
};
/** Nothing can be fetched from there. */
const lost = 'https://127.0.0.1/lost.png';
const files = {
  [pagePath('7')]: mainPage({ images: { ...kept, preview: [lost, ...kept.preview] } }),
  [pagePath('8')]: mainPage({ images: { avatar: lost, cover: null, preview: [lost] } }),
};

describe('our copies of pictures', () => {
  let service: TestService;
  let paths: string[];
  before(async () => {
    const root = testRepository(files).folder;
    await keepPictures(root, kept, { width: 600, height: 300 });
    service = await startTestService({}, { root, env: { BOTSHELF_IMAGES: 'on' } });
    const { avatar, cover, preview } = (await service.request('/api/v2/bots/7')).json.cachedImages;
    paths = [avatar, cover, ...preview];
  });

  it('are named in the record: null, or left out of preview, where there is none', async () => {
    strictEqual(paths.length, 3);
    const { json } = await service.request('/api/v2/bots/8');
    deepStrictEqual(json.cachedImages, { avatar: null, cover: null, preview: [] });
  });

  it('are WebP, may be kept for ever by anybody, and run nothing', async () => {
    for (const path of paths) {
      const response = await fetch(service.address + path);
      strictEqual(response.status, 200);
      const bytes = Buffer.from(await response.arrayBuffer());
      strictEqual(path, `/appdata/${hash('sha256', bytes)}.webp`);
      strictEqual(bytes.toString('latin1', 8, 12), 'WEBP');
      const { headers } = response;
      strictEqual(headers.get('content-type'), 'image/webp');
      strictEqual(headers.get('cache-control'), 'public, max-age=31536000, immutable');
      strictEqual(headers.get('x-content-type-options'), 'nosniff');
      strictEqual(headers.get('content-security-policy'), "default-src 'none'; sandbox");
      strictEqual(headers.get('access-control-allow-origin'), '*');
      strictEqual(headers.get('content-length'), String(bytes.length));
    }
  });

  it('are not sent again to who has them, and have no body for HEAD', async () => {
    const [path = ''] = paths;
    const { headers } = await fetch(service.address + path, { method: 'HEAD' });
    ok(Number(headers.get('content-length')) > 0);
    const etag = headers.get('etag') ?? '';
    const again = await fetch(service.address + path, { headers: { 'If-None-Match': etag } });
    strictEqual(again.status, 304);
    strictEqual(await again.text(), '');
  });

  it('are nothing but copies: any other name is a 404', async () => {
    const none = '0'.repeat(64);
    for (const name of [`${none}.webp`, 'index', 'index.webp', '..%2Findex', `${none}.png`, 'x.webp', ''])
      strictEqual((await service.request(`/appdata/${name}`)).status, 404, name);
  });

  it('are neither named nor served where the operator has them off', async () => {
    const root = testRepository(files).folder;
    await keepPictures(root, kept, { width: 60, height: 30 });
    const off = await startTestService({}, { root, env: { BOTSHELF_IMAGES: 'off' } });
    const { json } = await off.request('/api/v2/bots/7');
    deepStrictEqual(json.cachedImages, { avatar: null, cover: null, preview: [] });
    strictEqual((await off.request(paths[0] ?? '')).status, 404);
  });
});
