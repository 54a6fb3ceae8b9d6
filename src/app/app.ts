import type { IncomingMessage, ServerResponse } from 'node:http';
import { Router } from '@koa/router';
import Koa, { type Context, type Next } from 'koa';
import { readFileText } from '../catalogue/page/page-file.ts';
import { addDeskPages, createViewerReader } from '../desk/desk.tsx';
import type { Clone } from '../git/branch/clone.ts';
import { type Api, type ApiParts, createApi } from '../http/api/api.ts';
import { createReportError, handleErrors, ProblemError } from '../http/problem.ts';
import { normaliseHeaders } from '../http/request.ts';
import type { ResponseCache } from '../http/response-cache.ts';
import { computeMaxConnections, listen, type ListeningServer } from '../http/server.ts';
import type { Closers } from '../lib/closers.ts';
import { basePathOf, formatAddress } from '../lib/network.ts';
import { TimeSlice } from '../lib/time-slice.ts';
import { formPaths } from '../site/page/addresses.ts';
import { createPages, openSite, type Pages } from '../site/site.tsx';
import type { Config, ReadOnly } from './config.ts';
import { createProbeRoutes, type Metrics, type ProxyNotice, type ServiceHealth } from './health.ts';

/** The input of `openApp`: the parts that the API, the pages, the probes and the metrics read. */
export type AppParts = Omit<ApiParts, 'site' | 'countRefusal'> &
  Pick<
    Parameters<typeof addDeskPages>[1],
    'counts' | 'proposals' | 'drafts' | 'reports' | 'notify' | 'login' | 'tokens'
  > &
  Pick<Clone, 'branch' | 'origin'> & {
    readonly config: Config;
    readonly health: ServiceHealth;
    readonly metrics: Metrics;
    /** Null if the public address is set. */
    readonly proxyNotice: ProxyNotice | null;
    /** The cache in front of the application, which fills it. */
    readonly responses: ResponseCache;
  };

/**
 * Creates the API and the pages, and starts to listen for probes, if they have a port of their own.
 * @returns a function that starts to listen for everything else, and returns the address, such as http://127.0.0.1:8080
 * @throws {UserError} when an address cannot be listened on, with the setting to change
 */
export async function openApp(parts: AppParts, closers: Closers): Promise<() => Promise<string>> {
  const { config, catalogue, branch, metrics, responses, log } = parts;
  const shared = openSite(parts, closers);
  const api = createApi({ ...parts, ...shared, countRefusal: (reason) => metrics.tokenRefused(reason) });
  const { store, settings, blocked, collections } = catalogue;
  const deskParts = { ...parts, ...shared, store, settings, blocked, collections };
  const pageParts = {
    ...deskParts,
    viewerOf: createViewerReader(deskParts),
    readFile: (path: string) => readFileText(config.catalogue, path),
  };
  const pages = createPages(pageParts);
  addDeskPages(pages, pageParts);
  const { handle, rewrite } = createApp(parts, api, pages);
  const { host, port, probePort, accessLog } = config;
  const options = { host, maxConnections: computeMaxConnections(), log };
  if (probePort !== null) {
    const own = { ...options, port: probePort, portSetting: 'BOTSHELF_PROBE_PORT' };
    const probes = closers.own(await listen(createProbeApp(parts).callback(), own));
    log.info({}, `probes and metrics at ${formatAddress(host, probes.port)}`);
  }
  let server: ListeningServer | undefined;
  // Together: the server, which keeps no connection alive from now on, waits for the streams that the others end.
  closers.own({
    close: async () => {
      const closed = server?.close();
      pages.endLive?.();
      await Promise.all([closed, branch.close()]);
    },
  });
  return async () => {
    server = await listen(handle, { ...options, port, rewrite, accessLog }, responses);
    return formatAddress(host, server.port);
  };
}

/**
 * Creates the application: the middleware, then the routers, the busiest first.
 * @returns `handle`, which responds to a request, and logs at level `debug` if that fails; and `rewrite`, which removes the
 * path of the public address from that of a request, except for probes; undefined if it has none
 */
function createApp(parts: AppParts, api: Api, site: Pages) {
  const { config, catalogue, state, metrics, proxyNotice, log } = parts;
  const { posts, update, reads, others } = api;
  const { assets, pages } = site;
  const probes = config.probePort === null ? createProbeRoutes(parts.health, parts.metrics) : new Router();
  const basePath = basePathOf(config.baseUrl);
  const report = createReportError(log, basePath);
  const handle = handleErrors(report);
  /** @param route the pattern of a path that no router finds */
  const respond = async (ctx: Context, next: Next, route?: string): Promise<void> => {
    const started = performance.now();
    await handle(ctx, () => {
      proxyNotice?.check(ctx);
      ctx.res.setHeader('X-Content-Type-Options', 'nosniff');
      normaliseHeaders(ctx);
      return next();
    });
    metrics.countRequest(ctx, started, route);
  };
  const admit = (ctx: Context, next: Next): Promise<void> => {
    if (
      !(catalogue.isReady && state.isLoaded) &&
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
  app.use(site.showErrors(report));
  app.use(admit);
  app.use(posts.routes());
  app.use((ctx, next) => parts.responses.fill(ctx, next));
  app.use(reads.routes());
  app.use(probes.routes());
  app.use(assets.routes());
  // One request per round of the event loop: a crowd of requests delays no probe, count or record.
  app.use(async (_ctx, next) => {
    await new TimeSlice().next();
    await next();
  });
  app.use(others.routes());
  app.use(pages.routes());
  const advice = `the lists of bots are at ${basePath}/api/v2/bots and ${basePath}/api/v1/bots`;
  app.use(handleUnrouted([posts, reads, probes, assets, others, pages], advice, basePath));
  app.on('error', (error: unknown) => log.debug({ err: error }, 'a response could not be finished'));
  const compute = app.callback();
  return {
    handle: async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const target = request.method === 'POST' ? update.find(request.url ?? '') : undefined;
      if (target === undefined) return await compute(request, response);
      // Uses Koa's context alone: for a count, its chain of middleware and the router would double the time.
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

/** @throws {ProblemError} read-only, for every form and every post, except the call of the webhook */
function refuseWrites(ctx: Context, { original }: ReadOnly): void {
  const isWrite = ['POST', 'PUT'].includes(ctx.method)
    ? ctx.path !== '/hooks/push'
    : formPaths.test(ctx.path);
  if (!isWrite || ctx.method === 'OPTIONS') return;
  const where =
    original === null
      ? 'the original, whose address its operator has not set (BOTSHELF_CANONICAL_URL)'
      : original + ctx.path;
  throw new ProblemError('read-only', `this is a read-only copy of the list: send it to ${where}`);
}

/** Creates the application for a port that only probes and Prometheus reach. */
function createProbeApp({ health, metrics, log }: AppParts): Koa {
  const probes = createProbeRoutes(health, metrics);
  const app = new Koa();
  app.use(handleErrors(createReportError(log)));
  app.use(probes.routes());
  app.use(handleUnrouted([probes], 'this port has /healthz, /readyz and /metrics'));
  return app;
}

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
function handleUnrouted(routers: readonly Router[], advice: string, basePath = ''): (ctx: Context) => void {
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
