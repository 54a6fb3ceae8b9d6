import { join } from 'node:path';
import type { FullImages } from '../../schemas/types.ts';
import { openImageCache } from '../../src/images/cache.ts';
import { silentLog } from '../../src/lib/log.ts';
import { sampleImage } from './sample-images.ts';
import { botId } from './sample.ts';

/**
 * Fills the image cache of a service that has not started yet, as an earlier run would have left it: a copy of each
 * of these images, every one of them of `width` × `height` pixels and another colour.
 */
export async function keepImages(
  root: string,
  images: FullImages,
  { width, height }: { readonly width: number; readonly height: number },
): Promise<void> {
  let seed = 0;
  const cache = await openImageCache({
    folder: join(root, 'var', 'appdata'),
    fetch: async () => await sampleImage({ width, height, seed: (seed += 1) }),
    log: silentLog,
  });
  cache.want(botId('1'), images);
  await cache.idle();
  await cache.close();
}
