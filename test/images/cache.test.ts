import { deepEqual, equal, match, ok } from 'node:assert/strict';
import sharp from 'sharp';
import type { FullImages } from '../../schemas/types.ts';
import type { BotId } from '../../src/bot/id.ts';
import { ImageError } from '../../src/images/decoder.ts';
import { bytes } from '../support/https-site.ts';
import { homer, nameOf, openTestImages, type TestImages } from '../support/image-cache.ts';
import { botId } from '../support/sample.ts';

const marge = botId('190519304972663313');

describe('the image cache', () => {
  let test: TestImages;

  beforeEach(async () => void (test = await openTestImages()));
  afterEach(async () => await test.cache.close());

  const sizeOf = async (path: string | null): Promise<unknown[]> => {
    const { format, width, height } = await sharp(await test.cache.read(nameOf(path))).metadata();
    return [format, width, height];
  };

  it('serves copies no larger than their place on a page needs @slow', async () => {
    await test.want(test.all());
    const { avatar, cover } = test.cache.cachedImages(test.all());
    deepEqual(await sizeOf(avatar), ['webp', 512, 512]);
    deepEqual(await sizeOf(cover), ['webp', 1280, 320]);
    equal(await test.cache.read('0'.repeat(64)), undefined);
  });

  it('has copies for a form before a bot names the images, in memory only @slow', async () => {
    const images = [
      { kind: 'avatar', url: test.at('/avatar.png') },
      { kind: 'wide', url: test.at('/lost.png') },
      { kind: 'wide', url: 'https://127.0.0.2/inside.png' },
    ] as const;
    const [path, ...others] = await test.cache.preview(images, '');
    deepEqual([await sizeOf(path ?? null), ...others], [['webp', 512, 512], undefined, undefined]);
    ok((await test.cache.read(`${nameOf(path)}.128`)) !== undefined);
    deepEqual([test.files(), test.cache.status().known], [[], 0]);
    await test.want(test.avatarOnly());
    equal(test.avatar(), path);
    equal((await test.cache.preview(images, ''))[0], path);
    deepEqual(test.site.asked, ['/avatar.png', '/lost.png', '/avatar.png']);
  });

  it('fetches an address once, however many bots name it, but for an avatar and a cover apart @slow', async () => {
    const url = test.at('/avatar.png');
    const images: FullImages = { avatar: url, cover: url, preview: [url, url] };
    await test.cache.setWanted([
      [homer, images],
      [marge, images],
    ]);
    await test.want(images);
    deepEqual(test.site.asked, ['/avatar.png', '/avatar.png']);
    const { avatar, cover } = test.cache.cachedImages(images);
    deepEqual(
      [await sizeOf(avatar), await sizeOf(cover)],
      [
        ['webp', 512, 512],
        ['webp', 600, 600],
      ],
    );
  });

  it('notes the images of a whole catalogue without holding up the event loop @long', async () => {
    await test.reopen({ fetch: async () => await Promise.reject(new ImageError('is not asked for here')) });
    let turns = 0;
    const turn = setInterval(() => (turns += 1), 1);
    const bots = Array.from({ length: 20_000 }, (_, number) => botId(String(number + 1)));
    const named = function* (): Generator<[BotId, FullImages]> {
      for (const bot of bots)
        yield [bot, { avatar: test.at(`/${bot}/a`), cover: test.at(`/${bot}/c`), preview: [] }];
    };
    await test.cache.setWanted(named());
    clearInterval(turn);
    ok(turns > 1);
    equal(test.cache.status().known, 40_000);
  });

  it('reports no failure for the SVG of a badge in a page, but for one in the place of an avatar @slow', async () => {
    test.site.answers['/badge'] = bytes(
      '<svg xmlns="http://www.w3.org/2000/svg"/>',
      'image/svg+xml;charset=utf-8',
    );
    const badge: FullImages = { avatar: null, cover: null, preview: [test.at('/badge'), test.at('/1.webp')] };
    await test.want(badge);
    deepEqual(test.cache.status(), { known: 2, cached: 1, failing: 0, left: 0 });
    await test.reopen();
    await test.scan(badge);
    deepEqual([...test.cache.failures()], []);
    deepEqual(test.site.asked.toSorted(), ['/1.webp', '/badge']);
    test.cache.want(marge, { ...badge, avatar: test.at('/badge') });
    await test.cache.idle();
    deepEqual(test.cache.status(), { known: 3, cached: 1, failing: 1, left: 0 });
    match([...test.cache.failures().values()][0]?.message ?? '', /^is an SVG/);
  });
});
