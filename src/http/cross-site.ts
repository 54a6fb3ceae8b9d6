import type { Context, Next } from 'koa';
import { ProblemError } from './problem.ts';

/**
 * Refuses a request that another site made a browser send: for forms, which are sent with the visitor's cookies.
 * The browser says where it comes from in Sec-Fetch-Site or, an older one, in Origin; one that says neither is
 * refused too.
 * @param baseUrl the public address, without a slash at its end
 * @throws {ProblemError} cross-site
 */
export function refuseCrossSite(baseUrl: string): (ctx: Context, next: Next) => Promise<void> {
  return async (ctx, next) => {
    const site = ctx.get('Sec-Fetch-Site');
    const own = site === '' ? ctx.get('Origin') === baseUrl : site === 'same-origin';
    if (!own) {
      throw new ProblemError(
        'cross-site',
        `this did not come from a page of ${baseUrl}: open the page there and press the button again`,
      );
    }
    await next();
  };
}
