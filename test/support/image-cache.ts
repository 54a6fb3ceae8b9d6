import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FullImages } from '../../schemas/types.ts';
import { type ImageCache, type ImageCacheOptions, openImageCache } from '../../src/images/cache.ts';
import { silentLog } from '../../src/lib/log.ts';
import { bytes, type Site, startSite, testConnector } from './https-site.ts';
import { botId } from './sample.ts';
import { sampleImage } from './sample-images.ts';
import { tempFolder } from './temp-folder.ts';

/** The bot that names the images. */
export const homer = botId('190519304972663312');

/** An image cache, and the site of the images. */
export interface TestImages {
  readonly site: Site;
  readonly folder: string;
  /** The cache that was opened last. */
  readonly cache: ImageCache;
  /** Closes the cache, and opens it again with other options. */
  reopen(more?: Partial<ImageCacheOptions>): Promise<void>;
  /** Has a bot name these images, and waits for them. */
  want(images: FullImages): Promise<void>;
  /** The same for all of the catalogue, as after a start. */
  scan(images: FullImages): Promise<void>;
  /** The path of the copy of the avatar. */
  avatar(): string | null;
  /** The address of a path of the site. */
  at(path: string): string;
  /** Every image of the site. */
  all(): FullImages;
  avatarOnly(): FullImages;
  /** The files of the copies. */
  files(): string[];
}

/** Opens an image cache. Nothing is tried a second time, and nothing is dropped, unless a test says so. */
export async function openTestImages(): Promise<TestImages> {
  const fetcher = await testConnector({ timeLimit: 2_000 });
  const site = await startSite({
    '/avatar.png': bytes(await sampleImage({ width: 600, height: 600 })),
    '/cover.jpg': bytes(await sampleImage({ width: 2000, height: 500, format: 'jpeg' }), 'image/jpeg'),
    '/1.webp': bytes(await sampleImage({ seed: 1, format: 'webp' }), 'image/webp'),
    '/2.gif': bytes(await sampleImage({ seed: 200, format: 'gif' }), 'image/gif'),
  });
  const folder = join(tempFolder(), 'appdata');
  const open = async (more: Partial<ImageCacheOptions> = {}): Promise<ImageCache> =>
    await openImageCache({
      folder,
      fetch: async (url, signal) => await fetcher.fetch(url, signal),
      log: silentLog,
      ...more,
      intervals: {
        firstRetryMs: never,
        lastRetryMs: never,
        formWaitMs: 60_000,
        firstHostPauseMs: 1,
        ...more.intervals,
      },
    });
  const at = (path: string): string => `https://images.test:${site.port}${path}`;
  const avatarOnly = (): FullImages => ({ avatar: at('/avatar.png'), cover: null, preview: [] });
  let cache = await open();
  return {
    site,
    folder,
    get cache() {
      return cache;
    },
    reopen: async (more) => {
      await cache.close();
      cache = await open(more);
    },
    want: async (images) => {
      cache.want(homer, images);
      await cache.idle();
    },
    scan: async (images) => {
      await cache.setWanted([[homer, images]]);
      await cache.idle();
    },
    avatar: () => cache.cachedImages(avatarOnly()).avatar,
    at,
    avatarOnly,
    all: () => ({
      avatar: at('/avatar.png'),
      cover: at('/cover.jpg'),
      preview: [at('/1.webp'), at('/2.gif')],
    }),
    files: () =>
      existsSync(folder)
        ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
            .filter((name) => name.endsWith('.webp'))
            .map((name) => join(folder, name))
        : [],
  };
}

/** Milliseconds; no test takes as long. */
const never = 86_400_000;

/** The name of the copy with this path. */
export function nameOf(path: string | null | undefined): string {
  return /([0-9a-f]{64})\.webp$/.exec(path ?? '')?.[1] ?? '';
}
