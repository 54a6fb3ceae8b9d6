import type { IncomingMessage, ServerResponse } from 'node:http';
import { Router } from '@koa/router';
import Koa, { type Context, type Next } from 'koa';
import type { Api } from '../http/api/api.ts';
import {
  handleUnrouted,
  type ProxyNotice,
  type ReadOnly,
  refuseBadHeaders,
  refuseWrites,
  withoutBasePath,
} from '../http/middleware.ts';
import { createReportError, handleErrors, ProblemError } from '../http/problem.ts';
import type { ResponseCache } from '../http/response-cache.ts';
import { computeMaxConnections, listen, type ListeningServer } from '../http/server.ts';
import type { Closers } from '../lib/closers.ts';
import type { Log } from '../lib/log.ts';
import { basePathOf, formatAddress } from '../lib/network.ts';
import type { Pages } from '../site/site.tsx';
import { addHealthRoutes, type Health } from './health.ts';
import type { Metrics } from './metrics.ts';
import { toAddressError } from './start-messages.ts';

export interface AppParts extends Omit<Pages, 'live'>, Api {
  readonly config: {
    readonly host: string;
    readonly port: number;
    readonly accessLog: boolean;
    readonly baseUrl: string;
    readonly trustProxy: boolean;
    /** The port for probes and metrics only; null if they are served here. */
    readonly probePort: number | null;
    readonly readOnly: ReadOnly | null;
  };
  /** Whether everything has been read that responses are made from. */
  readonly isLoaded: () => boolean;
  readonly health: Health;
  readonly metrics: Metrics;
  /** Null if the public address is set. */
  readonly proxyNotice: ProxyNotice | null;
  /** The cache in front of the application, which fills it. */
  readonly responses: ResponseCache;
  readonly log: Log;
}

/**
 * Starts to listen: for probes first, where they have a port of their own, then for everything else.
 * @param closers gets what closes the probes
 * @returns the address of the application, such as http://127.0.0.1:8080, and its server, which the caller closes
 * @throws {UserError} when an address cannot be listened on, with the setting to change
 */
export async function openServers(
  parts: AppParts,
  closers: Closers,
): Promise<{ address: string; server: ListeningServer }> {
  const { config, responses, log } = parts;
  const { handle, rewrite } = createApp(parts);
  const { host, port, probePort, accessLog } = config;
  const options = { host, maxConnections: computeMaxConnections(), log };
  if (probePort !== null) {
    const probes = await listen(createProbeApp(parts).callback(), { ...options, port: probePort }).catch(
      (error: unknown) => {
        throw toAddressError(error, host, probePort, 'BOTSHELF_PROBE_PORT');
      },
    );
    closers.own(probes);
    log.info({}, `probes and metrics at ${formatAddress(host, probes.port)}`);
  }
  const server = await listen(handle, { ...options, port, rewrite, accessLog }, responses).catch(
    (error: unknown) => {
      throw toAddressError(error, host, port, 'PORT');
    },
  );
  return { address: formatAddress(host, server.port), server };
}

interface Application {
  /** Responds to a request, or logs at level `debug` why it could not. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Removes the path of the public address from that of a request, except for probes; undefined if it has none. */
  readonly rewrite: ((url: string) => string) | undefined;
}

/** Creates the application: the middleware, then the routers, the busiest first. */
function createApp(parts: AppParts): Application {
  const { config, posts, update, reads, others, assets, pages, metrics, proxyNotice, log } = parts;
  const probes = config.probePort === null ? createProbeRoutes(parts) : new Router();
  const basePath = basePathOf(config.baseUrl);
  const report = createReportError(log, basePath);
  const handle = handleErrors(report);
  /** @param route the pattern of the path, where no router finds it */
  const respond = async (ctx: Context, next: Next, route?: string): Promise<void> => {
    const started = performance.now();
    await handle(ctx, () => {
      proxyNotice?.check(ctx);
      ctx.res.setHeader('X-Content-Type-Options', 'nosniff');
      refuseBadHeaders(ctx);
      return next();
    });
    metrics.countRequest(ctx, started, route);
  };
  const admit = (ctx: Context, next: Next): Promise<void> => {
    if (
      !parts.isLoaded() &&
      ![probes, assets].some((each) => each.match(ctx.path, ctx.method).path.length > 0)
    ) {
      throw new ProblemError('starting', 'the catalogue is still being read: try again in a moment', {
        headers: { 'Retry-After': '2' },
      });
    }
    if (config.readOnly) refuseWrites(ctx, config.readOnly);
    return next();
  };
  const app = new Koa({ proxy: config.trustProxy, maxIpsCount: 1 });
  app.use((ctx, next) => respond(ctx, next));
  app.use(parts.showErrors(report));
  app.use(admit);
  app.use(posts.routes());
  app.use((ctx, next) => parts.responses.fill(ctx, next));
  app.use(reads.routes());
  app.use(probes.routes());
  app.use(assets.routes());
  app.use(parts.refuseRemoved);
  app.use(others.routes());
  app.use(pages.routes());
  const advice = `the lists of bots are at ${basePath}/api/v2/bots and ${basePath}/api/v1/bots`;
  app.use(handleUnrouted([posts, reads, probes, assets, others, pages], advice, basePath));
  app.on('error', (error: unknown) => log.debug({ err: error }, 'a response could not be finished'));
  const compute = app.callback();
  return {
    handle: async (request, response) => {
      const target = request.method === 'POST' ? update.find(request.url ?? '') : undefined;
      if (target === undefined) return await compute(request, response);
      // With Koa's context alone: its chain of middleware and the router take as long as all else in a count.
      const ctx = app.createContext(request, response);
      try {
        await respond(ctx, () => admit(ctx, () => update.respond(ctx, target)), target.path);
        response.end(ctx.body);
      } catch (error) {
        ctx.onerror(error as Error);
      }
    },
    rewrite: basePath === '' ? undefined : withoutBasePath(basePath, [reads, assets, others, pages]),
  };
}

/** Creates the application for a port that only probes and Prometheus reach. */
function createProbeApp(parts: Pick<AppParts, 'health' | 'metrics' | 'log'>): Koa {
  const probes = createProbeRoutes(parts);
  const app = new Koa();
  app.use(handleErrors(createReportError(parts.log)));
  app.use(probes.routes());
  app.use(handleUnrouted([probes], 'this port has /healthz, /readyz and /metrics'));
  return app;
}

/** Matches the exact paths only, so that a proxy rule for them covers all: no trailing slash, no capitals. */
function createProbeRoutes({ health, metrics }: Pick<AppParts, 'health' | 'metrics'>): Router {
  const probes = new Router({ strict: true, sensitive: true });
  addHealthRoutes(probes, health);
  metrics.addRoute(probes);
  return probes;
}
