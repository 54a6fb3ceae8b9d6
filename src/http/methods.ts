import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { ProblemError } from './problem.ts';

/**
 * Answers what no route took: OPTIONS with the methods of the path, another method with 405, an unknown
 * path with 404. Other sites may read, so a preflight for reading is granted, and none for anything else.
 */
export function handleUnrouted(routers: readonly Router[]): (ctx: Context) => void {
  return (ctx) => {
    const layers = routers.flatMap((router) => router.match(ctx.path, ctx.method).path);
    const allowed = new Set(layers.flatMap(({ methods }) => methods));
    if (allowed.size === 0) {
      throw new ProblemError(
        'not-found',
        `there is nothing at ${JSON.stringify(ctx.path.slice(0, 100))}: the lists are /api/v1/bots and /api/v2/bots`,
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
