import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { ProblemError } from '../http/problem.ts';

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

/**
 * Handles requests that no route handled: OPTIONS gets the methods of the path, another method 405, an unknown path
 * 404. Scripts of other sites may read, so a preflight allows GET and HEAD only, with any headers: browsers apply the
 * asterisk to all but Authorization.
 * @param advice the addresses that exist, for an unknown path
 * @param basePath the path of the public address, such as `/bots`
 */
export function handleUnrouted(
  routers: readonly Router[],
  advice: string,
  basePath = '',
): (ctx: Context) => void {
  return (ctx) => {
    const layers = routers.flatMap((router) => router.match(ctx.path, ctx.method).path);
    const allowed = new Set(layers.flatMap(({ methods }) => methods));
    if (allowed.size === 0) {
      const path = ctx.path.startsWith(`${basePath}/`) ? ctx.path : basePath + ctx.path;
      throw new ProblemError(
        'not-found',
        `there is nothing at ${JSON.stringify(path.slice(0, 100))}: ${adviseOnGuess(ctx, basePath) ?? advice}`,
      );
    }
    const allow = [...allowed, 'OPTIONS'].toSorted().join(', ');
    if (ctx.method !== 'OPTIONS') {
      const advised = adviseOnGuess(ctx, basePath);
      const detail = `${ctx.method} is not allowed here: use ${allow}${advised ? `; ${advised}` : ''}`;
      throw new ProblemError('method-not-allowed', detail, { headers: { Allow: allow } });
    }
    ctx.status = 204;
    ctx.set({ Allow: allow, 'Access-Control-Max-Age': '86400' });
    if (allowed.has('GET')) {
      ctx.set({
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Allow-Methods': 'GET, HEAD, OPTIONS',
        'Access-Control-Allow-Headers': '*, Authorization',
      });
    }
  };
}

/** Returns the route that a request may be meant for: programs guess the routes that other lists have. */
function adviseOnGuess({ method, path }: Context, basePath: string): string | undefined {
  const [, advice] = guesses.find(([guess]) => guess.test(`${method} ${path}`)) ?? [];
  const id = /\/(\d{1,20})(?:\/|$)/.exec(path)?.[1] ?? 'ID';
  return advice?.replaceAll('~', `${basePath}/api`).replaceAll('ID', id);
}

/** Guesses, by the method and the path, and the routes to use instead: `~` is the address of the API, `ID` the id in the path. */
const guesses: readonly (readonly [guess: RegExp, advice: string])[] = [
  [/^\w+ \/api\/.*\/commands\/?$/, 'put commands to PUT ~/v2/bots/ID/commands, read them there'],
  [/^\w+ \/api\/.*\/pages?(?:\/|$)/, 'put pages to PUT ~/v2/bots/ID/pages/en'],
  [
    /^(?:POST|PUT|PATCH) \/(?:api|bots?)\/|\/(?:stats|guilds|servers)\/?$/,
    'post counts to POST ~/v2/bots/ID/stats, read them there and at ~/v2/bots/ID/counts',
  ],
  [/^GET \/(?:api\/.*)?(?:openapi|swagger)/, 'the OpenAPI document is at ~/openapi.json'],
  [/^GET \/api\/.*search/, 'search with ~/v2/bots?q=WORDS'],
  [
    /^GET \/api\/.*(?:user|author|owner)/,
    'authors are at ~/v2/authors/ID, their bots at ~/v2/bots?author=ID',
  ],
  [/^GET \/api\/.*(?:tag|categor)/, 'categories are at ~/v2/categories, their bots at ~/v2/bots?category=ID'],
  [/^GET \/api\/.*(?:export|dump|\/all\b)/, 'all bots are at ~/v2/export.ndjson'],
  [/^GET \/api\/.*\/\d{1,20}(?:\/|$)/, 'the bot is at ~/v2/bots/ID'],
];
