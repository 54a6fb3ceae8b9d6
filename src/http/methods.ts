import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { ProblemError } from './problem.ts';

/**
 * Handles requests that no route handled: OPTIONS gets the methods of the path, another method 405, an unknown path 404.
 * Scripts of other sites may read, so a preflight allows GET and HEAD only.
 * @param advice what there is, for a path where there is nothing
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
        `there is nothing at ${JSON.stringify(path.slice(0, 100))}: ${advice}`,
      );
    }
    const allow = [...allowed, 'OPTIONS'].toSorted().join(', ');
    if (ctx.method !== 'OPTIONS') {
      throw new ProblemError('method-not-allowed', `${ctx.method} is not allowed here: use ${allow}`, {
        headers: { Allow: allow },
      });
    }
    ctx.status = 204;
    ctx.set({ Allow: allow, 'Access-Control-Max-Age': '86400' });
    if (allowed.has('GET')) {
      ctx.set({
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Allow-Methods': 'GET, HEAD, OPTIONS',
        'Access-Control-Allow-Headers': 'If-None-Match',
      });
    }
  };
}
