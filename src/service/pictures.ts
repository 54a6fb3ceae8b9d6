import { join } from 'node:path';
import type { BotId } from '../bot/id.ts';
import type { BotListElement, FullImages } from '../bot/schema-types.ts';
import type { IndexedBot } from '../catalogue/index/bot-index.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { BotIndex } from '../catalogue/index/bot-index.ts';
import { type ImageCache, openImageCache } from '../images/cache.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';

/** Opens the image cache in `var/appdata`, which fetches from the public internet. */
export async function openPictures(
  { var: folder, baseUrl }: Config,
  log: Log,
): Promise<{ readonly cache: ImageCache; close(): Promise<void> }> {
  // Loaded where pictures are fetched: its HTTP client takes a sixth of a start.
  const { ImageConnector } = await import('../images/connector.ts');
  const connector = new ImageConnector({ site: baseUrl });
  const cache = await openImageCache({
    folder: join(folder, 'appdata'),
    fetch: async (url, signal) => await connector.fetch(url, signal),
    log,
  });
  return {
    cache,
    close: async () => {
      await cache.close();
      await connector.close();
    },
  };
}

/** What every bot names. */
export function* picturesOf(bots: BotIndex): Generator<readonly [BotId, FullImages]> {
  for (const bot of bots.all()) yield [bot.id, elementOf(bot).images];
}

/**
 * Keeps the image cache and the catalogue in step: pictures that bots name are wanted, and a bot is read anew
 * when a copy of its pictures has come or gone. Call once the catalogue has been loaded.
 * @returns what stops it
 */
export function followPictures(catalogue: Catalogue, cache: ImageCache): () => void {
  cache.onChange((_url, bots) => catalogue.reload(bots));
  catalogue.onChange((id) => {
    const bot = catalogue.bots.get(id);
    if (bot) cache.want(id, elementOf(bot).images);
  });
  const lookAtAll = (): void => void cache.setWanted(wantedBy(catalogue, cache));
  lookAtAll();
  const timer = setInterval(lookAtAll, hour).unref();
  return () => clearInterval(timer);
}

const hour = 3_600_000;

/** What every bot names. A record that says otherwise than the cache, such as one kept from an earlier run, is made anew. */
function* wantedBy(catalogue: Catalogue, cache: ImageCache): Generator<readonly [BotId, FullImages]> {
  for (const bot of catalogue.bots.all()) {
    const { images, cachedImages } = elementOf(bot);
    if (JSON.stringify(cache.cachedImages(images)) !== JSON.stringify(cachedImages))
      catalogue.reload([bot.id]);
    yield [bot.id, images];
  }
}

function elementOf({ element }: IndexedBot): BotListElement {
  return JSON.parse(element.toString()) as BotListElement;
}
