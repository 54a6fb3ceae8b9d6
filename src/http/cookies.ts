import type { Context, Next } from 'koa';
import { originOf } from '../lib/network.ts';
import { ProblemError } from './problem.ts';

/** A cookie of the service: over https only, not readable by scripts, not sent by other sites' forms. */
export interface Cookie {
  readonly name: string;
  readonly path: string;
}

/**
 * Returns the cookie of a name: for this host only or, where the site has a part of the host, for that part.
 * @param basePath the path of the public address; empty if it has none
 */
export function createCookie(
  name: 'botshelf' | 'botshelf-login' | 'botshelf-language',
  basePath: string,
): Cookie {
  // Browsers refuse __Host- with another path than /.
  return basePath === ''
    ? { name: `__Host-${name}`, path: '/' }
    : { name: `__Secure-${name}`, path: basePath };
}

export function readCookie(ctx: Context, { name }: Cookie): string | undefined {
  return ctx.cookies.get(name, { signed: false });
}

/** Sets a cookie; null deletes it. */
export function setCookie(
  ctx: Context,
  { name, path }: Cookie,
  value: { readonly text: string; readonly seconds: number } | null,
): void {
  const { text, seconds } = value ?? { text: '', seconds: 0 };
  ctx.append(
    'Set-Cookie',
    `${name}=${text}; Path=${path}; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Lax`,
  );
}

/**
 * Refuses a form that a page of another site submits, because the browser would send the visitor's cookies with it. Browsers
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
