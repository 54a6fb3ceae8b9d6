import type { Context } from 'koa';

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
