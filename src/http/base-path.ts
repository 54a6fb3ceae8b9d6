import type { Router } from '@koa/router';

/**
 * Returns a function that removes the path of the public address from the address of a request. Some proxies remove it
 * and some do not; it is removed here only where the rest begins with a name that this site has at its top, so that below
 * `/bots` both `/bots/bots/7` and `/bots/7` are the bot.
 * @param basePath such as `/bots`; not empty
 * @param routers the routes that are below the public address
 */
export function withoutBasePath(basePath: string, routers: readonly Router[]): (url: string) => string {
  const names = new Set(routers.flatMap(({ stack }) => stack.map(({ path }) => readFirstName(String(path)))));
  const isOwnName = names.has(readFirstName(basePath));
  return (url) => {
    if (!url.startsWith(basePath)) return url;
    const rest = url.slice(basePath.length);
    if (rest.startsWith('/')) return names.has(readFirstName(rest)) ? rest : url;
    return !isOwnName && /^(?:\?|$)/.test(rest) ? `/${rest}` : url;
  };
}

/** Returns the first name in a path; empty for that of the front page. */
function readFirstName(path: string): string {
  return /^\/([^/?]*)/.exec(path)?.[1] ?? '';
}
