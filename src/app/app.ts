import type { IncomingMessage, ServerResponse } from 'node:http';
import { Router } from '@koa/router';
import Koa, { type Context, type Next } from 'koa';
import { basePathOf } from '../lib/network.ts';
import type { BotId } from '../bot/id.ts';
import type { Config } from './config.ts';
import type { ImageCache } from '../images/cache.ts';
import type { Metrics } from './metrics.ts';
import { readFileText } from '../catalogue/page/page-file.ts';
import { findBlocked, nothingBlocked } from '../catalogue/settings/blocked.ts';
import type { CatalogueSettings } from '../catalogue/settings/settings.ts';
import type { BotSearch } from '../catalogue/search/bot-search.ts';
import type { Log } from '../lib/log.ts';
import { addAssetRoutes, addClientRoutes } from '../site/page/assets.ts';
import { showErrorPages } from '../site/page/message-pages.tsx';
import type { Site, Viewer } from '../site/page/layout.tsx';
import type { Attention, ListOwn } from '../site/review/attention.ts';
import type { SiteParts } from '../site/page/site-parts.ts';
import type { LivePreview } from './live-preview.ts';
import type { Markdown } from '../site/markdown/markdown.ts';
import { addDiscoverRoutes } from '../site/discover/discover-routes.ts';
import { refuseRemovedBots } from '../site/bot/removed-bot-page.tsx';
import { addSiteRoutes } from './site.tsx';
import type { Login } from '../login/login.ts';
import { addDemoPeopleRoute, addLoginRoutes, readSession } from '../site/account/login-pages.tsx';
import { addMyBotsRoute } from '../site/account/my-bots-pages.tsx';
import { addProposalRoutes } from '../site/account/proposal-pages.tsx';
import { addReviewRoutes } from '../site/review/review-routes.tsx';
import { addTokenRoutes } from '../site/account/token-pages.tsx';
import { createUpdates } from './updates.ts';
import { SharedTokens } from '../tokens/shared-tokens.ts';
import { readCommittedAuthors } from './committed-facts.ts';
import type { CountHistory } from '../counts/count-history.ts';
import type { ChangeFeed } from '../catalogue/changes/change-feed.ts';
import type { ReadonlyChanges } from '../catalogue/changes/change-index.ts';
import { followRemovedBots } from '../catalogue/changes/changed-bots.ts';
import { AuthorIndex } from '../catalogue/lists/authors.ts';
import { Lists } from '../catalogue/lists/lists.ts';
import { addHealthRoutes, type Health, type Parts } from './health.ts';
import { addHookRoute } from '../http/api/hook-route.ts';
import { addImageRoute, addExportRoute } from '../http/api/file-routes.ts';
import { withoutBasePath, handleUnrouted, refuseWrites } from '../http/middleware.ts';
import type { Drafts } from '../proposals/drafts.ts';
import type { Proposals } from '../proposals/proposals.ts';
import { addOpenApiRoute } from '../http/api/openapi.ts';
import { ProblemError, createReportError, handleErrors } from '../http/problem.ts';
import { RateLimit } from '../http/limits.ts';
import { addChangesRoute, addFeedRoute } from '../http/api/changes-routes.ts';
import { addCountsRoute, addLatestCountsRoute } from '../http/api/counts-routes.ts';
import { addReadRoutes } from '../http/api/read-routes.ts';
import type { ResponseCache } from '../http/response-cache.ts';
import { addUpdateRoute, updatePath, usualUpdatePath } from '../http/api/update-route.ts';

export interface AppOptions extends Parts, Pick<SiteParts, 'cache' | 'reports' | 'notify'> {
  readonly config: Config;
  /** The path of the repository at the Git host; undefined if there is no host. */
  readonly remotePath: string | undefined;
  readonly log: Log;
  readonly search: BotSearch;
  readonly changes: ReadonlyChanges;
  readonly feed: ChangeFeed;
  readonly countHistory: CountHistory;
  /** Null where images are not cached. */
  readonly images: ImageCache | null;
  /** Lists what needs attention, of all bots; `AttentionList` shows it. For maintainers only. */
  readonly attention: () => Promise<Attention>;
  readonly ownAttention: ListOwn;
  /** Null where nobody can log in. */
  readonly login: Login | null;
  /** Null where nobody can log in, or proposals are off. */
  readonly proposals: Proposals | null;
  readonly drafts: Drafts | null;
  readonly health: Health;
  readonly metrics: Metrics;
  /** The cache in front of the application, which fills it. */
  readonly responses: ResponseCache;
  readonly site: Site;
  readonly markdown: Markdown;
  /** Null where open pages do not reload on edits. */
  readonly live: LivePreview | null;
}

export interface Application {
  /** Responds to a request, or logs at level `debug` why it could not. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Removes the path of the public address from that of a request, except for probes; undefined where it has none. */
  readonly rewrite: ((url: string) => string) | undefined;
}

/** Creates the application with all of its routes and middleware. */
export function createApp(options: AppOptions): Application {
  const { cache, catalogue, config, countHistory, images, log, login, metrics, site, state, sync } = options;
  const { bots } = catalogue.store;
  const { baseUrl } = site;
  const settings = (): CatalogueSettings => catalogue.settings.current;
  const counts = {
    get version() {
      return state.version + countHistory.version;
    },
    count: (id: BotId) => state.count(id),
    reportedAt: (id: BotId) => state.reportedAt(id),
    growth: (id: BotId) => countHistory.growth(id),
  };
  const lists = new Lists(bots, options.search, counts, cache);
  const authors = new AuthorIndex(bots, catalogue.profiles, cache);
  const tokens = new SharedTokens(state, sync, log);
  const parts: SiteParts = {
    cache,
    site,
    bots,
    lists,
    authors,
    collections: catalogue.collections,
    counts,
    changes: options.changes,
    countHistory,
    markdown: options.markdown,
    reports: options.reports,
    notify: options.notify,
    proposals: options.proposals,
    pullRequestOf: (proposal) => options.hostReview?.findLink(proposal),
    drafts: options.drafts,
    blocked: () => catalogue.blocked.current,
    viewerOf: async (ctx) => await readViewer(ctx, options),
    faultsOf: (id) => catalogue.store.faultsOf(id),
    readFile: (path) => readFileText(config.catalogue, path),
    copyOf: (url) => images?.copyOf(url),
    shareCards: images?.shareCards ?? null,
  };
  const badTokens = new RateLimit('refused-tokens', config.badTokenLimit);

  // Routers of their own, the busiest first: a router matches a path against all of its routes.
  const posted = new Router();
  const update = addUpdateRoute(posted, {
    bots,
    settings,
    applyUpdate: createUpdates(bots, options.committer, state),
    tokens,
    posts: new RateLimit('posts', config.rateLimit),
    badTokens,
    tokenAdvice: (id) => {
      if (login?.disabledReason === null) return `log in at ${baseUrl}/bots/${id}/token to issue one`;
      const operator = site.contact === null ? 'the operator' : `the operator (${site.contact})`;
      return `${operator} issues one with "botshelf token ${id}", as nobody can log in here`;
    },
    onRefusal: (ctx, bot, reason) => {
      metrics.tokenRefused(reason);
      log.debug({ bot, reason, address: ctx.ip }, `a token was refused for ${bot}: ${reason}`);
    },
    acknowledge: sync && config.remote?.ack === 'remote' ? async () => await sync.waitForPush() : null,
  });
  const programs = new Router();
  addReadRoutes(programs, bots, lists, authors, baseUrl, settings);
  addCountsRoute(programs, bots, countHistory);
  addLatestCountsRoute(programs, bots, state, cache);
  addExportRoute(programs, bots, config.catalogue, options.repositoryOpener, options.feed, cache);
  addChangesRoute(programs, bots, options.changes, baseUrl);
  addFeedRoute(programs, options.feed, baseUrl);
  addOpenApiRoute(programs, baseUrl, settings);
  const probes = config.probePort === null ? createProbeRoutes(options) : new Router();
  const assets = new Router();
  addAssetRoutes(assets, site);
  addClientRoutes(assets);
  const router = new Router();
  if (images) addImageRoute(router, images);
  if (config.demo) addDemoPeopleRoute(router, site, config.demo.people);
  if (login) {
    addLoginRoutes(router, site, login);
    addMyBotsRoute(router, parts, login, tokens, options.ownAttention);
  }
  const { hostReview, proposals } = options;
  if (proposals) {
    addProposalRoutes(router, parts, proposals);
    addReviewRoutes(router, parts, proposals, options.attention, hostReview?.home ?? null);
  }
  const committedAuthors = async (id: BotId): Promise<readonly string[]> =>
    await readCommittedAuthors(options.repositoryOpener, id);
  addTokenRoutes(router, parts, login, tokens, committedAuthors);
  const secret = config.remote?.webhookSecret;
  const pushed = (): void => {
    sync?.requestFetch();
    hostReview?.wake();
  };
  if (sync && secret)
    addHookRoute(router, { secret, repository: options.remotePath, pushed, refused: badTokens });
  options.live?.addRoute(router);
  addDiscoverRoutes(router, { ...parts, ownAttention: options.ownAttention }, config.securityContact);
  addSiteRoutes(router, parts);

  const basePath = basePathOf(baseUrl);
  const report = createReportError(log, basePath);
  const app = new Koa({ proxy: config.trustProxy, maxIpsCount: 1 });
  const { proxyNotice } = options;
  const handle = handleErrors(report);
  const respond = async (ctx: Context, next: Next): Promise<void> => {
    const started = performance.now();
    await handle(ctx, () => {
      proxyNotice?.check(ctx);
      protect(ctx);
      return next();
    });
    metrics.countRequest(ctx, started);
  };
  const admit = (ctx: Context, next: Next): Promise<void> => {
    const isLoaded = catalogue.status.ready && state.isLoaded;
    if (!isLoaded && ![probes, assets].some((each) => each.match(ctx.path, ctx.method).path.length > 0)) {
      throw new ProblemError('starting', 'the catalogue is still being read: try again in a moment', {
        headers: { 'Retry-After': '2' },
      });
    }
    if (config.readOnly) refuseWrites(ctx, config.readOnly);
    return next();
  };
  app.use(respond);
  app.use(showErrorPages(parts, report));
  app.use(admit);
  app.use(posted.routes());
  app.use((ctx, next) => options.responses.fill(ctx, next));
  app.use(programs.routes());
  app.use(probes.routes());
  app.use(assets.routes());
  app.use(refuseRemovedBots(parts, followRemovedBots(catalogue.store, options.changes)));
  app.use(router.routes());
  const advice = `the lists of bots are at ${basePath}/api/v2/bots and ${basePath}/api/v1/bots`;
  app.use(handleUnrouted([posted, programs, probes, assets, router], advice, basePath));
  app.on('error', (error: unknown) => log.debug({ err: error }, 'a response could not be finished'));
  const rewrite = basePath === '' ? undefined : withoutBasePath(basePath, [programs, assets, router]);
  const compute = app.callback();
  return {
    handle: async (request, response) => {
      const id = request.method === 'POST' ? usualUpdatePath.exec(request.url ?? '')?.[1] : undefined;
      if (id === undefined) return await compute(request, response);
      // With Koa's context alone: its chain of middleware and the router take as long as all else in a count.
      const ctx = app.createContext(request, response);
      // The metrics read the route where the router puts it.
      const next = (): Promise<void> => update(Object.assign(ctx, { _matchedRoute: updatePath }), id);
      try {
        await respond(ctx, () => admit(ctx, next));
        response.end(ctx.body);
      } catch (error) {
        ctx.onerror(error as Error);
      }
    },
    rewrite,
  };
}

/** Returns who is logged in, and, if it is a maintainer, the number of proposals and reports that wait. */
async function readViewer(
  ctx: Context,
  { login, proposals, reports, catalogue }: Pick<AppOptions, 'login' | 'proposals' | 'reports' | 'catalogue'>,
): Promise<Viewer | null> {
  const session = await readSession(ctx, login);
  if (session === null) return null;
  const [blocked] = findBlocked(catalogue.blocked.current ?? nothingBlocked, { authors: [session.id] });
  const viewer = { ...session, blocked, createdAt: login?.findCreation(session.id) };
  // Without Git, pages are shown all the same.
  if (proposals === null || !(await proposals.isMaintainer(session.id).catch(() => false))) return viewer;
  const waiting = proposals.open.filter(({ state }) => state === 'waiting');
  return { ...viewer, toReview: waiting.length + reports.list().length };
}

/** Creates the application for a port that only probes and Prometheus reach. */
export function createProbeApp(options: Pick<AppOptions, 'health' | 'metrics' | 'log'>): Koa {
  const probes = createProbeRoutes(options);
  const app = new Koa();
  app.use(handleErrors(createReportError(options.log)));
  app.use(probes.routes());
  app.use(handleUnrouted([probes], 'this port has /healthz, /readyz and /metrics'));
  return app;
}

/** Matches the exact paths only, so that a proxy rule for them covers all: no trailing slash, no capitals. */
function createProbeRoutes({ health, metrics }: Pick<AppOptions, 'health' | 'metrics'>): Router {
  const probes = new Router({ strict: true, sensitive: true });
  addHealthRoutes(probes, health);
  metrics.addRoute(probes);
  return probes;
}

function protect(ctx: Context): void {
  ctx.res.setHeader('X-Content-Type-Options', 'nosniff');
  const { accept = '', 'accept-encoding': encoding = '' } = ctx.headers;
  if (accept.length > maxAcceptLength || encoding.length > maxAcceptLength) {
    const name = accept.length > maxAcceptLength ? 'Accept' : 'Accept-Encoding';
    throw new ProblemError('bad-request', `${name} is longer than ${maxAcceptLength} characters: shorten it`);
  }
}

/** Characters. Parsing these headers takes time that grows with the square of their length. */
const maxAcceptLength = 2000;
