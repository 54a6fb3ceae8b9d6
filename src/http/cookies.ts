import type { Context } from 'koa';

/** The cookies of the service: for this host only, over https, not readable by scripts, not sent by other sites' forms. */
export type CookieName = '__Host-botshelf' | '__Host-botshelf-login';

export function readCookie(ctx: Context, name: CookieName): string | undefined {
  return ctx.cookies.get(name, { signed: false });
}

/** Sets a cookie; null deletes it. */
export function setCookie(
  ctx: Context,
  name: CookieName,
  cookie: { readonly text: string; readonly seconds: number } | null,
): void {
  const { text, seconds } = cookie ?? { text: '', seconds: 0 };
  ctx.append('Set-Cookie', `${name}=${text}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Lax`);
}
