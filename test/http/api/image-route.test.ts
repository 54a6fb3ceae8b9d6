import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { hash } from 'node:crypto';
import sharp from 'sharp';
import { eventually } from '../../support/eventually.ts';
import { keepImages } from '../../support/images.ts';
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
  const load = async (path: string): Promise<{ readonly response: Response; readonly bytes: Buffer }> => {
    const response = await fetch(service.address + path);
    return { response, bytes: Buffer.from(await response.arrayBuffer()) };
  };
  before(async () => {
    const root = testRepository(files).folder;
    await keepImages(root, kept, { width: 600, height: 300 });
    service = await startTestService({}, { root, env: { BOTSHELF_IMAGES: 'on' } });
    // After a first start, bots are read again to have their copies named.
    await eventually(async () => {
      const { avatar, cover, preview } = (await service.request('/api/v2/bots/7')).json.cachedImages;
      paths = [avatar, cover, ...preview];
      return paths.length === 3;
    });
  });

  it('are named in the record: null, or left out of preview, where there is none', async () => {
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

  it('responds 304 to a client that has them, and without a body to HEAD', async () => {
    const [path = ''] = paths;
    const { headers } = await fetch(service.address + path, { method: 'HEAD' });
    ok(Number(headers.get('content-length')) > 0);
    const etag = headers.get('etag') ?? '';
    const again = await fetch(service.address + path, { headers: { 'If-None-Match': etag } });
    strictEqual(again.status, 304);
    strictEqual(await again.text(), '');
  });

  it('have smaller copies of 128 and 320 pixels, which are made at the first request @slow', async () => {
    const [path = ''] = paths;
    const { bytes: full } = await load(path);
    for (const width of [128, 320]) {
      const { response, bytes } = await load(path.replace('.webp', `.${width}.webp`));
      strictEqual((await sharp(bytes).metadata()).width, width);
      ok(bytes.length < full.length);
      strictEqual(response.headers.get('cache-control'), 'public, max-age=31536000, immutable');
      const again = await load(path.replace('.webp', `.${width}.webp`));
      deepStrictEqual(again.bytes, bytes);
      strictEqual(again.response.headers.get('etag'), response.headers.get('etag'));
    }
  });

  it('are nothing but copies: any other name is a 404', async () => {
    const none = '0'.repeat(64);
    const digest = paths[0]?.slice('/appdata/'.length, -'.webp'.length);
    const names = [`${digest}.129.webp`, `${digest}.0128.webp`, `${none}.128.webp`, `${none}.webp`];
    for (const name of [...names, 'index', 'index.webp', '..%2Findex', `${none}.png`, 'x.webp', ''])
      strictEqual((await service.request(`/appdata/${name}`)).status, 404, name);
  });

  it('are neither named nor served where the operator has them off @long', async () => {
    const root = testRepository(files).folder;
    await keepImages(root, kept, { width: 60, height: 30 });
    const off = await startTestService({}, { root, env: { BOTSHELF_IMAGES: 'off' } });
    const { json } = await off.request('/api/v2/bots/7');
    deepStrictEqual(json.cachedImages, { avatar: null, cover: null, preview: [] });
    strictEqual((await off.request(paths[0] ?? '')).status, 404);
  });
});
