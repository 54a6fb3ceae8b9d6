import type { Router } from '@koa/router';
import type { ImageCache } from '../../images/cache.ts';
import { ProblemError } from '../problem.ts';
import { isKnown } from '../representation.ts';

/** Serves the cached images. A name has the digest of the full copy, so caches may keep an image for ever. */
export function addImageRoute(router: Router, images: Pick<ImageCache, 'read'>): void {
  router.get('/appdata/:name.webp', async (ctx) => {
    const name = ctx.params['name'] ?? '';
    const bytes = await images.read(name);
    if (bytes === undefined) {
      throw new ProblemError('not-found', 'there is no such image: use a path from cachedImages of a bot');
    }
    ctx.set({
      'Cache-Control': 'public, max-age=31536000, immutable',
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'Access-Control-Allow-Origin': '*',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      ETag: `"${name}"`,
    });
    if (isKnown(ctx)) {
      ctx.status = 304;
      return;
    }
    ctx.type = 'image/webp';
    ctx.body = bytes;
  });
}
