import type { Router } from '@koa/router';
import type { Context, Next } from 'koa';
import type { Metrics } from './metrics.ts';

/** Counts every request that the application decides on by the pattern of its path, so that paths are few. */
export function countRequests(metrics: Metrics): (ctx: Context, next: Next) => Promise<void> {
  return async (ctx, next) => {
    const start = performance.now();
    await next();
    // oxlint-disable-next-line no-underscore-dangle -- that is what the router documents
    const route = (ctx as { _matchedRoute?: string | RegExp })._matchedRoute ?? 'none';
    metrics.request(ctx.method, String(route), ctx.status, (performance.now() - start) / 1000);
  };
}

/** `/metrics`, for Prometheus. */
export function addMetricsRoute(router: Router, metrics: Metrics): void {
  router.get('/metrics', async (ctx) => {
    ctx.body = await metrics.text();
    ctx.set({ 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' });
  });
}
