import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import type { BotId } from '../../src/bot/id.ts';
import type { FullImages } from '../../src/bot/schema-types.ts';
import { type ImageCache, type ImageCacheOptions, openImageCache } from '../../src/images/cache.ts';
import type { ImageConnector } from '../../src/images/fetch/connector.ts';
import { ImageError } from '../../src/images/fetch/image-error.ts';
import { type Log, silentLog } from '../../src/log.ts';
import { botId } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { samplePicture } from '../support/sample-pictures.ts';
import { bytes, redirect, type Site, startSite, testConnector } from '../support/https-site.ts';

const homer = botId('190519304972663312');
const marge = botId('190519304972663313');

/** Nothing is tried a second time, and nothing is dropped, unless a test says so. */
const never = 86_400_000;

describe('the image cache', () => {
  let site: Site;
  let connector: ImageConnector;
  let folder: string;
  let cache: ImageCache;

  before(async () => {
    connector = await testConnector({ timeLimit: 2_000 });
  });

  beforeEach(async () => {
    site = await startSite({
      '/avatar.png': bytes(await samplePicture({ width: 600, height: 600 })),
      '/cover.jpg': bytes(await samplePicture({ width: 2000, height: 500, format: 'jpeg' }), 'image/jpeg'),
      '/1.webp': bytes(await samplePicture({ seed: 1, format: 'webp' }), 'image/webp'),
      '/2.gif': bytes(await samplePicture({ seed: 200, format: 'gif' }), 'image/gif'),
    });
    folder = join(tempFolder(), 'appdata');
    cache = await open();
  });

  afterEach(async () => {
    await cache.close();
  });

  it('has nothing until a picture was fetched, then a path below /appdata/ for each', async () => {
    const images = all();
    deepEqual(cache.cachedImages(images), { avatar: null, cover: null, preview: [] });
    cache.want(homer, images);
    await cache.idle();
    const { avatar, cover, preview } = cache.cachedImages(images);
    for (const path of [avatar, cover, ...preview]) match(path ?? '', /^\/appdata\/[0-9a-f]{64}\.webp$/);
    equal(preview.length, 2);
    deepEqual(cache.status(), { known: 4, cached: 4, failing: 0, left: 0 });
  });

  const sizeOf = async (path: string | null): Promise<unknown[]> => {
    const { format, width, height } = await sharp(await cache.read(nameOf(path))).metadata();
    return [format, width, height];
  };

  it('serves copies no larger than their place on a page needs', async () => {
    cache.want(homer, all());
    await cache.idle();
    const { avatar, cover } = cache.cachedImages(all());
    deepEqual(await sizeOf(avatar), ['webp', 512, 512]);
    deepEqual(await sizeOf(cover), ['webp', 1280, 320]);
    equal(await cache.read('0'.repeat(64)), undefined);
  });

  it('asks for an address once, however many bots name it, but for an avatar and a cover apart', async () => {
    const url = at('/avatar.png');
    const images: FullImages = { avatar: url, cover: url, preview: [url, url] };
    await cache.setWanted([
      [homer, images],
      [marge, images],
    ]);
    cache.want(homer, images);
    await cache.idle();
    deepEqual(site.asked, ['/avatar.png', '/avatar.png']);
    const { avatar, cover } = cache.cachedImages(images);
    deepEqual(
      [await sizeOf(avatar), await sizeOf(cover)],
      [
        ['webp', 512, 512],
        ['webp', 600, 600],
      ],
    );
  });

  it('takes note of a whole catalogue without holding up the event loop', async () => {
    await reopen({ fetch: async () => await Promise.reject(new ImageError('is not asked for here')) });
    let turns = 0;
    const turn = setInterval(() => (turns += 1), 1);
    const bots = Array.from({ length: 20_000 }, (_, number) => botId(String(number + 1)));
    const named = function* (): Generator<[BotId, FullImages]> {
      for (const bot of bots) yield [bot, { avatar: at(`/${bot}/a`), cover: at(`/${bot}/c`), preview: [] }];
    };
    await cache.setWanted(named());
    clearInterval(turn);
    ok(turns > 1);
    equal(cache.status().known, 40_000);
  });

  it('tells when a copy is there, with every bot that names the picture', async () => {
    const told: unknown[] = [];
    cache.onChange((url, bots) => told.push([url, bots, cache.cachedImages(avatarOnly()).avatar !== null]));
    await cache.setWanted([
      [homer, avatarOnly()],
      [marge, avatarOnly()],
    ]);
    await cache.idle();
    deepEqual(told, [[at('/avatar.png'), [homer, marge], true]]);
  });

  it('knows after a restart what it had, and does not ask again', async () => {
    cache.want(homer, all());
    await cache.idle();
    const before = cache.cachedImages(all());
    await reopen();
    deepEqual(cache.cachedImages(all()), before);
    await cache.setWanted([[homer, all()]]);
    await cache.idle();
    equal(site.asked.length, 4);
    equal(cache.status().cached, 4);
  });

  it('fetches again what somebody has deleted from its folder', async () => {
    cache.want(homer, avatarOnly());
    await cache.idle();
    const before = cache.cachedImages(avatarOnly());
    await cache.close();
    for (const name of readdirSync(folder))
      if (name !== 'index') rmSync(join(folder, name), { recursive: true });
    cache = await open();
    await cache.setWanted([[homer, avatarOnly()]]);
    await cache.idle();
    deepEqual(cache.cachedImages(avatarOnly()), before);
    deepEqual(site.asked, ['/avatar.png', '/avatar.png']);
    ok(await cache.read(nameOf(before.avatar)));
  });

  it('takes the new picture when an old copy is refreshed, and keeps the former file for pages just sent', async () => {
    cache.want(homer, avatarOnly());
    await cache.idle();
    const before = cache.cachedImages(avatarOnly()).avatar;
    site.answers['/avatar.png'] = bytes(await samplePicture({ seed: 77 }));
    await reopen({ refreshDays: 0 });
    const told: string[] = [];
    cache.onChange((url) => told.push(url));
    await cache.setWanted([[homer, avatarOnly()]]);
    equal(cache.cachedImages(avatarOnly()).avatar, before);
    await cache.idle();
    const now = cache.cachedImages(avatarOnly()).avatar;
    ok(now !== before);
    deepEqual(told, [at('/avatar.png')]);
    await cache.cleanUp();
    ok(await cache.read(nameOf(before)));
  });

  it('keeps the last good copy when the address has died', async () => {
    cache.want(homer, avatarOnly());
    await cache.idle();
    const before = cache.cachedImages(avatarOnly());
    delete site.answers['/avatar.png'];
    await reopen({ refreshDays: 0 });
    await cache.setWanted([[homer, avatarOnly()]]);
    await cache.idle();
    deepEqual(cache.cachedImages(avatarOnly()), before);
    equal(cache.status().failing, 1);
    await reopen({ refreshDays: 0 });
    await cache.setWanted([[homer, avatarOnly()]]);
    await cache.idle();
    deepEqual(site.asked, ['/avatar.png', '/avatar.png']);
    deepEqual(cache.cachedImages(avatarOnly()), before);
  });

  it('comes back to a picture that failed, until it is there', async () => {
    await reopen({ intervals: { firstRetry: 1, lastRetry: 5, tick: 1, hostRest: 1 } });
    const picture = bytes(await samplePicture());
    site.answers['/late.png'] = (response, request) => {
      if (site.asked.length > 3) picture(response, request);
      else response.writeHead(503).end();
    };
    const arrived = new Promise((resolve) => {
      cache.onChange(resolve);
    });
    cache.want(homer, { avatar: at('/late.png'), cover: null, preview: [] });
    equal(await arrived, at('/late.png'));
    equal(site.asked.length, 4);
    equal(cache.status().failing, 0);
  });

  it('does not come back before its time', async () => {
    await cache.setWanted([[homer, { avatar: at('/none.png'), cover: null, preview: [] }]]);
    await cache.idle();
    await reopen({ intervals: { tick: 1 } });
    await cache.setWanted([[homer, { avatar: at('/none.png'), cover: null, preview: [] }]]);
    await cache.idle();
    await cache.cleanUp();
    deepEqual(site.asked, ['/none.png']);
  });

  it('drops what nothing names, picture and file, and keeps what is named', async () => {
    await reopen({ intervals: { grace: 0 } });
    await cache.setWanted([
      [homer, avatarOnly()],
      [marge, { avatar: null, cover: at('/cover.jpg'), preview: [] }],
    ]);
    await cache.idle();
    const kept = cache.cachedImages(avatarOnly()).avatar;
    await cache.cleanUp();
    equal(files().length, 2);
    await cache.setWanted([[homer, avatarOnly()]]);
    for (const file of files()) utimesSync(file, new Date(0), new Date(0));
    await cache.cleanUp();
    await cache.cleanUp();
    deepEqual(files().map(nameOf), [nameOf(kept)]);
    deepEqual(cache.cachedImages(all()).cover, null);
    await reopen();
    deepEqual(cache.status(), { known: 1, cached: 1, failing: 0, left: 0 });
  });

  it('serves a picture that is named again within its time of grace at once', async () => {
    cache.want(homer, avatarOnly());
    await cache.idle();
    await cache.setWanted([]);
    await cache.cleanUp();
    delete site.answers['/avatar.png'];
    cache.want(homer, avatarOnly());
    ok(cache.cachedImages(avatarOnly()).avatar);
    equal(site.asked.length, 1);
  });

  it('waits for the disk when it is at fault, not the picture, and says what to do', async () => {
    const said: string[] = [];
    const log: Log = { ...silentLog, error: (_fields, message) => said.push(message) };
    const digits = '0123456789abcdef'.split('');
    mkdirSync(folder, { recursive: true });
    for (const digit of digits) writeFileSync(join(folder, digit), 'a file where a folder should be');
    const serve = bytes(await samplePicture());
    site.answers['/avatar.png'] = (response, request) => {
      if (site.asked.length === 3) for (const digit of digits) rmSync(join(folder, digit));
      serve(response, request);
    };
    await reopen({ log, intervals: { ownRest: 1 } });
    cache.want(homer, avatarOnly());
    await cache.idle();
    ok(cache.cachedImages(avatarOnly()).avatar);
    match(said[0] ?? '', /^could not store an image: .+; check the folder of the image cache, retrying$/);
    equal(cache.status().failing, 0);
  });

  it('says how far it is while there is work, and once more when there is none left', async () => {
    const said: string[] = [];
    let tell: (() => void) | undefined;
    const finished = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const info = (_fields: object, message: string): void => {
      said.push(message);
      if (message.endsWith(' 0 left')) tell?.();
    };
    await reopen({ log: { ...silentLog, info }, intervals: { progress: 5 } });
    cache.want(homer, { ...all(), cover: at('/none.png') });
    await finished;
    equal(said.at(-1), 'image cache: 3 fetched, 1 failed, 0 left');
  });

  it('ends in the middle of its work, and goes on with it another time', async () => {
    let asked: (() => void) | undefined;
    const reached = new Promise<void>((resolve) => {
      asked = resolve;
    });
    site.answers['/slow.png'] = () => asked?.();
    const images: FullImages = { avatar: at('/slow.png'), cover: at('/cover.jpg'), preview: [] };
    cache.want(homer, images);
    await reached;
    await cache.close();
    site.answers['/slow.png'] = bytes(await samplePicture());
    cache = await open();
    await cache.setWanted([[homer, images]]);
    await cache.idle();
    equal(cache.status().cached, 2);
  });

  it('reports no failure for the SVG of a badge in a page, but for one in the place of an avatar', async () => {
    site.answers['/badge'] = bytes(
      '<svg xmlns="http://www.w3.org/2000/svg"/>',
      'image/svg+xml;charset=utf-8',
    );
    const badge: FullImages = { avatar: null, cover: null, preview: [at('/badge'), at('/1.webp')] };
    cache.want(homer, badge);
    await cache.idle();
    deepEqual(cache.status(), { known: 2, cached: 1, failing: 0, left: 0 });
    await reopen();
    await cache.setWanted([[homer, badge]]);
    await cache.idle();
    deepEqual([...cache.failures()], []);
    deepEqual(site.asked.toSorted(), ['/1.webp', '/badge']);
    cache.want(marge, { ...badge, avatar: at('/badge') });
    await cache.idle();
    deepEqual(cache.status(), { known: 3, cached: 1, failing: 1, left: 0 });
    match([...cache.failures()][0]?.message ?? '', /^is an SVG/);
  });

  describe('and hostile pictures', () => {
    it('serves none of them, notes each as failed and goes on with the good ones', async () => {
      const inner = await startSite({ '/': bytes(await samplePicture()) }, '127.0.0.2');
      const script = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
      Object.assign(site.answers, {
        '/svg-with-script': bytes(script),
        '/html-as-png': bytes('<!doctype html><script>alert(1)</script>'),
        '/10-mb': bytes(Buffer.alloc(10_000_000)),
        '/redirect-to-127.0.0.1': redirect(`https://127.0.0.2:${inner.port}/`),
        '/truncated-png': bytes((await samplePicture()).subarray(0, 60)),
      });
      const hostile = ['svg-with-script', 'html-as-png', '10-mb', 'redirect-to-127.0.0.1', 'truncated-png'];
      const images: FullImages = {
        avatar: at('/avatar.png'),
        cover: null,
        preview: [...hostile.map((name) => at(`/${name}`)), at('/1.webp')],
      };
      cache.want(homer, images);
      await cache.idle();
      const { avatar, preview } = cache.cachedImages(images);
      ok(avatar);
      equal(preview.length, 1);
      equal(cache.status().failing, hostile.length);
      equal(files().length, 2);
      equal(inner.connections, 0);
    });
  });

  async function open(more: Partial<ImageCacheOptions> = {}): Promise<ImageCache> {
    return await openImageCache({
      folder,
      fetch: async (url, signal) => await connector.fetch(url, signal),
      log: silentLog,
      ...more,
      intervals: { firstRetry: never, lastRetry: never, hostRest: 1, ...more.intervals },
    });
  }

  async function reopen(more: Partial<ImageCacheOptions> = {}): Promise<void> {
    await cache.close();
    cache = await open(more);
  }

  function at(path: string): string {
    return `https://images.test:${site.port}${path}`;
  }

  function all(): FullImages {
    return { avatar: at('/avatar.png'), cover: at('/cover.jpg'), preview: [at('/1.webp'), at('/2.gif')] };
  }

  function avatarOnly(): FullImages {
    return { avatar: at('/avatar.png'), cover: null, preview: [] };
  }

  function files(): string[] {
    if (!existsSync(folder)) return [];
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.webp'))
      .map((name) => join(folder, name));
  }
});

function nameOf(path: string | null | undefined): string {
  return /([0-9a-f]{64})\.webp$/.exec(path ?? '')?.[1] ?? '';
}
