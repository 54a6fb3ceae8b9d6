import type { Context, Next } from 'koa';
import { originOf } from '../lib/base-url.ts';
import { ProblemError } from './problem.ts';

/**
 * Refuses a form that a page of another site submits, as the browser would send the visitor's cookies with it. Browsers
 * state the origin in Sec-Fetch-Site, older ones in Origin; a request with neither is refused too.
 * @param baseUrl the public address, without a slash at its end
 * @throws {ProblemError} cross-site
 */
export function refuseCrossSite(baseUrl: string): (ctx: Context, next: Next) => Promise<void> {
  const origin = originOf(baseUrl);
  return async (ctx, next) => {
    const site = ctx.get('Sec-Fetch-Site');
    const own = site === '' ? ctx.get('Origin') === origin : site === 'same-origin';
    if (!own) {
      throw new ProblemError(
        'cross-site',
        `the request does not come from a page of ${baseUrl}: open the page there and press the button again`,
      );
    }
    await next();
  };
}
