import { deepStrictEqual, match, notStrictEqual, strictEqual } from 'node:assert/strict';
import { join } from 'node:path';
import type { BotRecord } from '../../schemas/types.ts';
import { type ImageCache, openImageCache } from '../../src/images/cache.ts';
import { ImageError } from '../../src/images/decoder.ts';
import { followImages } from '../../src/images/images.ts';
import { silentLog } from '../../src/lib/log.ts';
import { eventually } from '../support/eventually.ts';
import { type LiveCatalogue, openCatalogue } from '../support/live-catalogue.ts';
import { sampleImage } from '../support/sample-images.ts';
import { botId, mainPage, pagePath } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

const a = 'https://images.example.org/a.png';
const b = 'https://images.example.org/b.png';
const page = (avatar: string): string => mainPage({ images: { avatar, cover: null, preview: [] } });

describe('the images of a catalogue', () => {
  let cache: ImageCache;
  let live: LiveCatalogue;
  let asked: string[];
  let stop: () => void;
  const recordOf = (id: string): BotRecord =>
    JSON.parse(live.catalogue.store.bots.get(botId(id))?.record.toString() ?? '') as BotRecord;

  beforeEach(async () => {
    asked = [];
    const root = tempFolder();
    cache = await openImageCache({
      folder: join(root, 'var', 'appdata'),
      fetch: async (url) => {
        asked.push(url);
        if (url !== a && url !== b) throw new ImageError('is not there');
        return await sampleImage({ seed: url === a ? 1 : 2 });
      },
      log: silentLog,
    });
    const files = { [pagePath('7')]: page(a), [pagePath('8')]: page(a), [pagePath('9')]: page(`${a}?lost`) };
    live = await openCatalogue(files, { root, cachedImages: (images) => cache.cachedImages(images) });
    stop = followImages(live.catalogue, cache);
  });
  afterEach(async () => {
    stop();
    await cache.close();
  });

  it('are fetched once each, and named in every record whose bot names them @slow', async () => {
    strictEqual(recordOf('7').cachedImages.avatar, null);
    await eventually(() => notStrictEqual(recordOf('7').cachedImages.avatar, null));
    strictEqual(recordOf('8').cachedImages.avatar, recordOf('7').cachedImages.avatar);
    await cache.idle();
    strictEqual(recordOf('9').cachedImages.avatar, null);
    deepStrictEqual(asked.toSorted(), [a, `${a}?lost`]);
  });

  it('are also the first ten in the pages of a bot, in their own proportions @slow', async () => {
    const urls = Array.from({ length: 12 }, (_, i) => `https://images.example.org/${i}.png`);
    const text = `![a](${a}) <img src="${b}">${urls.map((url) => ` ![](${url})`).join('')}`;
    live.write({ [pagePath('7')]: mainPage({ images: { avatar: a, cover: null, preview: [] } }, text) });
    await eventually(() => strictEqual(asked.length, 2 + 10));
    await cache.idle();
    deepStrictEqual(asked.toSorted(), [a, `${a}?lost`, b, ...urls.slice(0, 9)].toSorted());
    const { path, width, height } = cache.copyOf(b) ?? {};
    match(path ?? '', /^\/appdata\/[0-9a-f]{64}\.webp$/);
    deepStrictEqual([width, height], [40, 30]);
    strictEqual(cache.copyOf(a)?.path, recordOf('7').cachedImages.avatar);
    strictEqual(cache.copyOf(urls[0] ?? ''), undefined);
  });

  it('follow a file that is edited', async () => {
    await eventually(() => notStrictEqual(recordOf('7').cachedImages.avatar, null));
    live.write({ [pagePath('7')]: page(b) });
    await eventually(() => {
      strictEqual(recordOf('7').images.avatar, b);
      notStrictEqual(recordOf('7').cachedImages.avatar, null);
      notStrictEqual(recordOf('7').cachedImages.avatar, recordOf('8').cachedImages.avatar);
    });
  });
});
