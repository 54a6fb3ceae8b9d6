import type { Router } from '@koa/router';
import { ProblemError } from '../problem.ts';
import { isKnown } from '../representation.ts';

/** Our copies of pictures, by name; see images/. */
export interface ImageFiles {
  /** The bytes of a WebP picture; undefined when there is none of that name. */
  read(name: string): Promise<Buffer | undefined>;
}

/** Serves our copies of pictures. A name is a digest of the bytes, so whoever has one may keep it for ever. */
export function addImageRoute(router: Router, pictures: ImageFiles): void {
  router.get('/appdata/:name.webp', async (ctx) => {
    const name = ctx.params['name'] ?? '';
    const bytes = /^[0-9a-f]{64}$/.test(name) ? await pictures.read(name) : undefined;
    if (bytes === undefined) {
      throw new ProblemError(
        'not-found',
        'there is no such picture: cachedImages of a bot names those there are',
      );
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
