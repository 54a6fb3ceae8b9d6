import type { Router } from '@koa/router';
import type { Context, Next } from 'koa';

/** What counts requests and tells how the service does; see metrics.ts. */
export interface RequestMetrics {
  readonly contentType: string;
  request(method: string, route: string, status: number, seconds: number): void;
  text(): Promise<string>;
}

/** Counts every request that the application decides on by the pattern of its path, so that paths are few. */
export function countRequests(metrics: RequestMetrics): (ctx: Context, next: Next) => Promise<void> {
  return async (ctx, next) => {
    const start = performance.now();
    await next();
    // oxlint-disable-next-line no-underscore-dangle -- that is what the router documents
    const route = (ctx as { _matchedRoute?: string | RegExp })._matchedRoute ?? 'none';
    metrics.request(ctx.method, String(route), ctx.status, (performance.now() - start) / 1000);
  };
}

/** `/metrics`, for Prometheus. */
export function addMetricsRoute(router: Router, metrics: RequestMetrics): void {
  router.get('/metrics', async (ctx) => {
    ctx.body = await metrics.text();
    ctx.set({ 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' });
  });
}
