import { join } from 'node:path';
import type { FullImages } from '../../schemas/types.ts';
import { msPerHour } from '../bot/clock.ts';
import type { BotId } from '../bot/id.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import {
  type IndexedBot,
  listPaths,
  parseListElement,
  listPageImages,
} from '../catalogue/store/bot-index.ts';
import type { Log } from '../lib/log.ts';
import { basePathOf } from '../lib/network.ts';
import { type ImageCache, openImageCache } from './cache.ts';

/** The image copies of a service. */
export interface OpenImages {
  readonly cache: ImageCache;
  /** Keeps the copies and the catalogue in sync. */
  follow(catalogue: Catalogue): void;
  close(): Promise<void>;
}

/** Opens the image cache in `var/appdata`, with a connector to the public internet. */
export async function openImages(
  { var: folder, baseUrl }: { readonly var: string; readonly baseUrl: string },
  log: Log,
): Promise<OpenImages> {
  // Imported here, because its HTTP client takes a sixth of the start-up time.
  const { ImageConnector } = await import('./connector.ts');
  const connector = new ImageConnector({ site: baseUrl });
  const cache = await openImageCache({
    folder: join(folder, 'appdata'),
    fetch: async (url, signal) => await connector.fetch(url, signal),
    basePath: basePathOf(baseUrl),
    log,
  });
  let endFollowing: (() => void) | undefined;
  return {
    cache,
    follow: (catalogue) => void (endFollowing = followImages(catalogue, cache)),
    close: async () => {
      endFollowing?.();
      await cache.close();
      await connector.close();
    },
  };
}

/**
 * Keeps the image cache and the catalogue in sync: fetches the images that bots name, and reloads a bot when a copy of
 * its images appears or disappears. Starts once every bot of the catalogue is unpacked.
 * @returns a function that stops it
 */
export function followImages(catalogue: Catalogue, cache: ImageCache): () => void {
  const { store } = catalogue;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  const start = (isOpen: boolean): void => {
    if (!isOpen || isStopped) return;
    cache.onChange((bots) => {
      for (const bot of [...bots].flatMap((id) => store.bots.get(id) ?? [])) catalogue.look(listPaths(bot));
    });
    store.on('change', (id) => {
      const bot = store.bots.get(id);
      if (bot) cache.want(id, listImages(bot));
    });
    const wantAll = (): void => void cache.setWanted(listNamedImages(catalogue, cache));
    wantAll();
    timer = setInterval(wantAll, msPerHour).unref();
  };
  void catalogue.bots.unpacked().then(start);
  return () => {
    isStopped = true;
    clearInterval(timer);
  };
}

/**
 * Yields each bot with the images that it names and those in its pages. Reloads bots whose record differs from the
 * cache, such as records of an earlier run.
 */
export function* listNamedImages(
  catalogue: Pick<Catalogue, 'store' | 'look'>,
  cache: ImageCache,
): Generator<readonly [BotId, FullImages]> {
  for (const bot of catalogue.store.bots.all()) {
    const { images, cachedImages } = parseListElement(bot);
    const isCurrent = JSON.stringify(cache.cachedImages(images)) === JSON.stringify(cachedImages);
    if (!isCurrent) catalogue.look(listPaths(bot));
    yield [bot.id, listImages(bot, images)];
  }
}

/** Returns a bot's images, with the first images in its pages added to the previews. */
function listImages(bot: IndexedBot, { avatar, cover, preview } = parseListElement(bot).images): FullImages {
  const inPages = listPageImages(bot).filter((url) => url !== avatar);
  return { avatar, cover, preview: [...preview, ...inPages.slice(0, maxPageImages)] };
}

const maxPageImages = 10;
